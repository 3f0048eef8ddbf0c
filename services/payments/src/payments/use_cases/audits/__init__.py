"""Audits of all services: their results."""
