"""Members of a shop in addition to its owner (decision 206).

**The owner is the account of the vendor**, always one, and no member. Only the owner invites, changes roles and
removes. An account works for one shop, or owns one.

**An invitation is bound to a mail address.** Only an account that has confirmed the address sees and accepts it; the
response to the owner is the same whether such an account exists.

**Locks.** The shop's row comes first, then the member's profile: the second of two concurrent acts sees the first.
A change of a role and a removal end the member's sessions, so that the next token has the present rights.
"""
