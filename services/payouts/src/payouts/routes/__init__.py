"""The HTTP endpoints of the service, one module for each noun."""

from payouts.routes import (
    bank_detail_releases,
    bank_details,
    banks,
    documents,
    exceptions,
    payouts,
    reconciliations,
    schedules,
    statements,
    wallets,
)

ENDPOINTS = (
    wallets.endpoint,
    statements.endpoint,
    schedules.endpoint,
    bank_details.endpoint,
    bank_detail_releases.endpoint,
    banks.endpoint,
    payouts.endpoint,
    documents.endpoint,
    exceptions.endpoint,
    reconciliations.endpoint,
)
