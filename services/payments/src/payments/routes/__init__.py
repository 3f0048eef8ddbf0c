"""The HTTP endpoints of the service, one module for each noun."""

from payments.routes import (
    audits,
    chargebacks,
    dead_letters,
    escrow,
    ledger,
    payments,
    quarantine,
    reconciliation,
    refunds,
    webhooks,
)

ENDPOINTS = (
    payments.endpoint,
    escrow.endpoint,
    ledger.endpoint,
    quarantine.endpoint,
    refunds.endpoint,
    chargebacks.endpoint,
    reconciliation.endpoint,
    dead_letters.endpoint,
    audits.endpoint,
    webhooks.endpoint,
)
