"""Values and policies without a framework: time, ids, money, cursors, retries, problems, encryption."""

__all__ = [
    "circuit_breaker",
    "clock",
    "cursors",
    "decisions",
    "encryption",
    "ids",
    "limits",
    "money",
    "problems",
    "retry",
    "revisions",
    "signatures",
    "tls",
]
