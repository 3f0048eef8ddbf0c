"""The tables of the database. `migrations/sql` has their functions, policies, grants and triggers.

**Orders and items carry buyer, vendor and campus**, so the policy of an item needs no join. A list reads one index
for each role of the caller and merges the results.
"""

from orders.tables import catalog, conversations, disputes, orders, projections, purchase_drafts, saved_items
from orders.tables.metadata import metadata

__all__ = [
    "catalog",
    "conversations",
    "disputes",
    "metadata",
    "orders",
    "projections",
    "purchase_drafts",
    "saved_items",
]
