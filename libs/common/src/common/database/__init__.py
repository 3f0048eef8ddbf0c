"""PostgreSQL: the unit of work with its two roles, shared tables, retention."""

__all__ = [
    "connection_pool",
    "hash_keys",
    "reencryption",
    "retention",
    "row_settings",
    "tables",
    "unit_of_work",
]
