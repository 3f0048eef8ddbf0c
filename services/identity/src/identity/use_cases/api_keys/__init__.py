"""API keys for machines of vendors and of the platform (decision 201).

**A key never has more than its creator has now.** Each exchange reads the creator's present roles, the vendor's state
and the key's row; the gateway repeats it every 10 s. A revocation reaches every process at once, as that of a session.

**A key is stored as a keyed hash** and shown once. Unknown, expired, revoked and misplaced keys are one and the same
401.
"""
