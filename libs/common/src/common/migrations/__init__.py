"""Schema changes: the runner of `migrate`, and versioned SQL functions that migrations call."""

__all__ = [
    "alembic_environment",
    "audit_grants",
    "functions",
    "monthly_partitions",
    "runner",
]
