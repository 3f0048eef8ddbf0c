"""The doors that every service has beside its own: health, its dead letters, and what it keeps of the caller."""

from typing import TYPE_CHECKING

from fastapi import APIRouter

from common.auth.caller import THE_SERVICE
from common.primitives.cursors import CursorSigner
from common.process.settings import ServiceSettings
from common.web.dead_letter_routes import dead_letter_router
from common.web.health import health_router
from common.web.personal_records import personal_record_router

if TYPE_CHECKING:
    from common.process.service import Runtime, Service


def health_routes(runtime: "Runtime", *, needs_broker: bool) -> APIRouter:
    """Ready is whoever reaches the database, and with `needs_broker` the broker too."""

    async def database_answers() -> bool:
        async with runtime.database.unit_of_work(acting_as=THE_SERVICE) as uow:
            return bool(await uow.fetch_value("SELECT true"))

    async def broker_answers() -> bool:
        return runtime.bus.is_connected

    # What answers requests serves on without the broker: what it says waits in the outbox, and what it hears comes late.
    checks = {"database": database_answers, **({"broker": broker_answers} if needs_broker else {})}
    return health_router(lambda _: checks)


def standard_routes(service: "Service", settings: ServiceSettings, runtime: "Runtime") -> list[APIRouter]:
    """Those that the gateway routes."""
    cursors = CursorSigner(settings.cursor_key)
    return [
        dead_letter_router(service.name, runtime.database, runtime.bus),
        personal_record_router(service.name, service.personal_records, runtime.database, cursors),
    ]
