"""Erasure of a user on request.

**Erasure keeps an empty row.** Other services refer to the id in financial records, so it stays without personal
data; a constraint keeps the row empty. A keyed hash of the mailbox stays, so a new account with the address earns no
second reward. create-user for the id returns its first response. The password is required (except for federated
users) and counts like a login.
"""
