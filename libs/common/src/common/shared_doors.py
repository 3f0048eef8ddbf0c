"""The doors that every service has beside its own: health, its dead letters, and what it keeps of the caller."""

from typing import TYPE_CHECKING

from fastapi import APIRouter

from common.caller import THE_SERVICE
from common.cursors import CursorSigner
from common.dead_letter_routes import dead_letter_router
from common.health import health_router
from common.personal_records import personal_record_router
from common.settings import ServiceSettings

if TYPE_CHECKING:
    from common.process import Runtime, Service


def health_doors(runtime: "Runtime", *, needs_broker: bool) -> APIRouter:
    """Ready is whoever reaches the database, and with `needs_broker` the broker too."""

    async def database_answers() -> bool:
        async with runtime.database.unit_of_work(acting_as=THE_SERVICE) as uow:
            return bool(await uow.fetch_value("SELECT true"))

    async def broker_answers() -> bool:
        return runtime.bus.is_connected

    # What answers requests serves on without the broker: what it says waits in the outbox, and what it hears comes late.
    checks = {"database": database_answers, **({"broker": broker_answers} if needs_broker else {})}
    return health_router(lambda _: checks)


def shared_doors(service: "Service", settings: ServiceSettings, runtime: "Runtime") -> list[APIRouter]:
    """Those that the gateway routes."""
    cursors = CursorSigner(settings.cursor_key)
    return [
        dead_letter_router(service.name, runtime.database, runtime.bus),
        personal_record_router(service.name, service.personal_records, runtime.database, cursors),
    ]
