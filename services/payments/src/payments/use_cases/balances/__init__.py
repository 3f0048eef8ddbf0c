"""Holds of a buyer's balance for payments (decision 144).

A payment holds its part of the balance in the transaction that records its intent. The part is spent in the transaction
that holds the escrow. A payment that is closed, fails or is quarantined returns it. A late charge of such a payment
holds it again where the balance still has it, and is quarantined as underpaid where it has not. Each change is a
posting, a change of the row and a line of the statement. The order's lock is taken before that of the balance.
A message that changes a balance shares its transaction with no other: the next one's order would be locked after it.
"""
