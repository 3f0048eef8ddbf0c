"""Receipts, remittances and invoices: their numbers and contents, and how they are rendered (decision 154)."""
