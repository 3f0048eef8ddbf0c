"""Reviews of vendors and products.

**No user buys from or reviews their own vendor** (403): the vendor in the token, and the vendor whose owner the
events of identity name, because a token may be older than the vendor. Row policies on `orders` and `reviews` hold the
same rule. A vendor from before this version gets its owner with its next event.

**Reviews need a confirmed mail address** (claim `email_verified`, or identity's user lookup for other issuers), else
403 with `confirmationRequired`. A trigger maintains sum and number of ratings on the product's or vendor's row; a row
policy checks that the buyer may review.

**The reviewed vendor replies once**, in public. A row policy admits no second reply.
"""
