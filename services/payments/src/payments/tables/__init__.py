"""The tables of the payments database, equal to those of the migrations; one module for each area."""

from payments.tables import alerts, audits, chargebacks, charges, intents, ledger, reconciliation, refunds, webhooks
from payments.tables.metadata import metadata

__all__ = [
    "alerts",
    "audits",
    "chargebacks",
    "charges",
    "intents",
    "ledger",
    "metadata",
    "reconciliation",
    "refunds",
    "webhooks",
]
