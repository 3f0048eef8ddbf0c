"""`make races`: two or three actions on one order or payout, interleaved at every effect (docs/reliability.md)."""
