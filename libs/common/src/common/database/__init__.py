"""PostgreSQL: the unit of work with its two roles, shared tables, retention."""

__all__ = [
    "commits",
    "connecting",
    "connection_pool",
    "decisions",
    "errors",
    "hash_keys",
    "idempotent_commands",
    "late_transactions",
    "outbox",
    "parameters",
    "reencryption",
    "retention",
    "single_statements",
    "state_changes",
    "tables",
    "trail",
    "unit_of_work",
]
