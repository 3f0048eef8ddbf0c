"""The tables of the database. `migrations/sql` has their functions, policies and grants."""

from identity.tables import campuses, credentials, staff, users, vendors
from identity.tables.metadata import metadata

__all__ = ["campuses", "credentials", "metadata", "staff", "users", "vendors"]
