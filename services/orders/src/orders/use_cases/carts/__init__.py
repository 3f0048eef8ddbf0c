"""Carts and their checkout.

**A user has one cart, whose id derives from the user's id.** Checkout removes the vendor's lines in the transaction
of the order, so one of two concurrent checkouts finds none. The Idempotency-Key is bound to cart and vendor, not to
the lines, which are deleted on a repetition.
"""
