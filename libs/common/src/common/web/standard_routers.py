"""The endpoints that every service has: health, dead letters, queues, the caller's work, actions and personal records."""

from fastapi import APIRouter

from common.auth.caller import THE_SERVICE
from common.primitives.cursors import CursorSigner
from common.process.runtime import Runtime, Service
from common.process.settings import ServiceSettings
from common.web.dead_letter_routes import dead_letter_router, dead_letter_work
from common.web.health import health_router
from common.web.own_actions import own_action_router
from common.web.pending_work import pending_work_router
from common.web.personal_records import personal_record_router
from common.web.queue_routes import queue_router


def health_routes(runtime: Runtime, *, needs_broker: bool) -> APIRouter:
    """A process is ready when it reaches the database, and with `needs_broker` the broker too."""

    async def is_database_reachable() -> bool:
        async with runtime.database.unit_of_work(acting_as=THE_SERVICE) as uow:
            return bool(await uow.fetch_value("SELECT true"))

    async def is_broker_reachable() -> bool:
        return runtime.bus.is_connected

    # An API process serves requests without the broker: its events wait in the outbox, and received events are delayed.
    checks = {"database": is_database_reachable, **({"broker": is_broker_reachable} if needs_broker else {})}
    return health_router(lambda _: checks)


def standard_routes(service: Service, settings: ServiceSettings, runtime: Runtime) -> list[APIRouter]:
    """The standard endpoints that the edge routes."""
    cursors = CursorSigner(settings.cursor_key)
    return [
        dead_letter_router(service.name, runtime.database, runtime.bus),
        queue_router(service.name, runtime.database, runtime.bus),
        personal_record_router(service.name, service.personal_records, runtime.database, cursors),
        own_action_router(service.name, service.own_actions, runtime.database),
        pending_work_router([*service.pending_work, dead_letter_work(service.name)], runtime.database, runtime.clock),
    ]
