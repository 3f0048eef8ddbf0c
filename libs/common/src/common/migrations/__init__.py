"""Schema changes: the runner of `migrate`, and versioned SQL functions that migrations call."""

__all__ = [
    "alembic_environment",
    "functions",
    "monthly_partitions",
    "runner",
]
