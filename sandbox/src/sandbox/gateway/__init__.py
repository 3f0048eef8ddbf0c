"""The payment gateway: its protocol, its ledger, its webhooks."""
