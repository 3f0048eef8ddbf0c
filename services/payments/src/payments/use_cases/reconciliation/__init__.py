"""Comparison with the gateway's records.

The reconciliation compares the gateway's lists of transactions and refunds, the ledger, and the projected orders of
the last seven days, both ways: `python -m payments reconcile [--from <instant>] [--to <instant>]` (status 1 while a
case is open). Each difference is one open case of its subject: `charge_not_in_book`, `charge_not_at_gateway`,
`charge_differs`, `charge_without_escrow`, `refund_not_in_book`, `refund_not_at_gateway`, `refund_differs`,
`order_held_without_charge`, `fee_differs`, `settlement_not_in_book`, `settlement_not_at_gateway`,
`settlement_differs`, `unreadable_at_gateway` (a malformed row or a rejected query, which ends no run and which staff
close). A missing webhook is replaced by the gateway's state, filed under its own key. It settles as usual, and the
webhook changes nothing when it arrives later. A case is `open`, `explained` (a later check found no difference), or
`closed` with evidence; the same difference opens no second case after that. A dispute that the gateway lists and that
is not recorded, open or decided, is processed as its missing webhook.

The gateway lists payments by the day of their opening. A payment that is paid more than seven days later is compared
when `--from` reaches back to it.
"""
