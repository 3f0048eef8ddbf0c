"""SQLAlchemy tables for `alembic check`. The migrations define their meaning and their row policies."""

from orders.tables import catalog, disputes, orders, projections
from orders.tables.metadata import metadata

__all__ = ["catalog", "disputes", "metadata", "orders", "projections"]
