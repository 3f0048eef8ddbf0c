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

ROUTERS = [
    payments.router,
    escrow.router,
    ledger.router,
    quarantine.router,
    refunds.router,
    chargebacks.router,
    reconciliation.router,
    dead_letters.router,
    audits.router,
    webhooks.router,
]
