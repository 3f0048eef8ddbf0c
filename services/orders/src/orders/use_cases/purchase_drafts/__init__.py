"""Purchase drafts from carts of the messaging app (contract section 6.7).

Notifications publishes the cart of a user who has proven the number. The draft has the id that the link names. Only
its buyer checks it out, once, at the current prices.
"""
