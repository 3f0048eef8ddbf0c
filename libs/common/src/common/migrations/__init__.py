"""Schemas: their creation and changes, the runner of `migrate`, and the rights of the audit."""

__all__ = [
    "alembic_environment",
    "audit_grants",
    "runner",
    "schema",
]
