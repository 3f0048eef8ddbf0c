"""The tables of the database, one module for each area. `migrations/sql` has their functions, policies and grants."""

from payments.tables import (
    alerts,
    audits,
    balances,
    chargebacks,
    charges,
    intents,
    ledger,
    reconciliation,
    refunds,
    webhooks,
    withdrawals,
)
from payments.tables.metadata import metadata

__all__ = [
    "alerts",
    "audits",
    "balances",
    "chargebacks",
    "charges",
    "intents",
    "ledger",
    "metadata",
    "reconciliation",
    "refunds",
    "webhooks",
    "withdrawals",
]
