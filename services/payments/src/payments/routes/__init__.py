"""The HTTP doors of the service, one module for each noun."""

from payments.routes import dead_letters, escrow, ledger, payments, webhooks

ROUTERS = [payments.router, escrow.router, ledger.router, dead_letters.router, webhooks.router]
