"""Remittances of payouts and commission invoices of months.

**A remittance is numbered with the payout's success**, in the same transaction, from a counter of the vendor that is
locked last. A payout that was processed before remittances existed gets its number when it is first read. **An
invoice** is numbered when it, or a later one, is first read after the end of its month: the lines of a month never
change then.
"""
