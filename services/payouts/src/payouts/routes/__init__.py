"""The HTTP endpoints of the service, one module for each noun."""

from fastapi import APIRouter

from payouts.routes import (
    bank_detail_releases,
    bank_details,
    exceptions,
    payouts,
    reconciliations,
    schedules,
    statements,
    wallets,
)

ROUTERS: tuple[APIRouter, ...] = (
    wallets.router,
    statements.router,
    schedules.router,
    bank_details.router,
    bank_detail_releases.router,
    payouts.router,
    exceptions.router,
    reconciliations.router,
)
