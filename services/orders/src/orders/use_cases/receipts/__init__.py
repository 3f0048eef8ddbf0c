"""Receipts of paid orders.

**A receipt is numbered with the payment**, in the transaction in which orders records the held escrow, from a counter
of the vendor that is locked last. Its names, lines and sums are stored then: a later rename changes no receipt. An
order that was paid before receipts existed gets its number when it is first read.
"""
