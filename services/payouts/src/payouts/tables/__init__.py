"""The tables of the payouts database, as the migrations create them; one module per area."""

from payouts.tables import bank_details, banks, comparisons, exceptions, payouts, release_statements, wallets
from payouts.tables.metadata import metadata

__all__ = ["bank_details", "banks", "comparisons", "exceptions", "metadata", "payouts", "release_statements", "wallets"]
