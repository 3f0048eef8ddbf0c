"""Values and policies without a framework: time, ids, money, cursors, retries, problems, encryption."""

__all__ = [
    "cells",
    "changing",
    "circuit_breaker",
    "clock",
    "cursors",
    "decisions",
    "encryption",
    "idempotency",
    "ids",
    "limits",
    "money",
    "names",
    "problems",
    "public_numbers",
    "retry",
    "revisions",
    "shared_addresses",
    "signatures",
    "tls",
    "waiting",
]
