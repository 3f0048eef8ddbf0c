"""Paystack's API: one module for each area of operations, `events` for webhooks, `checking` for the checks."""
