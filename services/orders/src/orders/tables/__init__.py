"""The tables of the database. `migrations/sql` has their functions, policies, grants and triggers."""

from orders.tables import catalog, disputes, orders, projections
from orders.tables.metadata import metadata

__all__ = ["catalog", "disputes", "metadata", "orders", "projections"]
