"""Audits of all services: their results."""

__all__ = ["record_audit"]
