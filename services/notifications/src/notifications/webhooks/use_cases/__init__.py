"""Outgoing webhooks (Standard Webhooks)."""
