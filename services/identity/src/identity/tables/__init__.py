"""The tables of the service for `alembic check`; the migrations define policies, grants and checks."""

from identity.tables import campuses, credentials, staff, users, vendors
from identity.tables.metadata import metadata

__all__ = ["campuses", "credentials", "metadata", "staff", "users", "vendors"]
