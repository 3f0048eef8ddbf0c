"""`make races`: two actions on one order or payout, interleaved at every effect (docs/reliability.md)."""
