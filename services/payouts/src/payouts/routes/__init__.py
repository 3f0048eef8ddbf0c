"""The HTTP doors of the service."""

from fastapi import APIRouter

from payouts.routes import bank_details, exceptions, payouts, wallets

ROUTERS: tuple[APIRouter, ...] = (wallets.router, bank_details.router, payouts.router, exceptions.router)
