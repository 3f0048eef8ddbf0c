"""Return requests.

**Returned items are refunded at their line totals**, after a split dispute in proportion to what the buyer still
pays. The refund names their commission at the order's rate, so that payments takes back no delivery fee. The delivery
fee is refunded only when everything is returned: the order is then `refunded` at the approval, and `refundedMinor`
grows with the ledger posting. A request within the window may be decided later. Returned and disputed units do not
return to the stock: the vendor decides that.

A quantity beyond that of other requests, and a return after the window, are 409. A quantity above the order's, and
an item of another order, are 422.
"""
