"""Changing and resetting passwords.

**Passwords**: argon2id (3 passes, 19 MiB, 1 lane, about 30 ms), NFKC before hashing, in one thread per processor.
Beyond a queue of a hundred, logins get 503. Outdated hashes are renewed at login. No transaction is open during
hashing.
"""
