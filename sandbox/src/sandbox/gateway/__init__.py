"""The payment gateway: its protocol, its book, its webhooks."""
