"""The second payment gateway: Flutterwave's API (v3) over the same transactions, refunds, transfers and disputes."""
