"""The HTTP endpoints of the service, one module for each noun."""

from payments.routes import (
    audits,
    balances,
    chargebacks,
    dead_letters,
    escrow,
    goodwill,
    ledger,
    payments,
    quarantine,
    reconciliation,
    refunds,
    webhooks,
    withdrawals,
)

ENDPOINTS = (
    payments.endpoint,
    balances.endpoint,
    withdrawals.endpoint,
    escrow.endpoint,
    ledger.endpoint,
    quarantine.endpoint,
    refunds.endpoint,
    goodwill.endpoint,
    chargebacks.endpoint,
    reconciliation.endpoint,
    dead_letters.endpoint,
    audits.endpoint,
    webhooks.endpoint,
)
