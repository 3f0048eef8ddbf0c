"""The tables of the database, one module for each area. `migrations/sql` has their functions, policies and grants."""

from payouts.tables import bank_details, banks, comparisons, exceptions, payouts, release_statements, wallets
from payouts.tables.metadata import metadata

__all__ = ["bank_details", "banks", "comparisons", "exceptions", "metadata", "payouts", "release_statements", "wallets"]
