"""The standard endpoints of a running service, and the health of its processes."""

from typing import Final

from common.auth.caller import THE_SERVICE
from common.messaging.relay import outbox_age_seconds
from common.process.runtime import Runtime, Service
from common.process.settings import ServiceSettings
from common.standard_endpoints.dead_letter_routes import dead_letter_endpoints, dead_letter_work
from common.standard_endpoints.own_actions import own_action_endpoints
from common.standard_endpoints.pending_work import pending_work_endpoints
from common.standard_endpoints.personal_records import personal_record_endpoints
from common.standard_endpoints.queue_routes import queue_endpoints
from common.standard_endpoints.settings_routes import settings_endpoints
from common.standard_endpoints.stop_routes import stop_endpoints
from common.web.endpoints import Endpoints
from common.web.health import Check, health_endpoints

# Contract section 13.
OUTBOX_AGE_SECONDS_MAX: Final = 60.0


def process_health_endpoints(runtime: Runtime, *, is_worker: bool) -> Endpoints:
    """Return the health of a process.

    An API process serves requests without the broker: its events wait in the outbox, and received events are delayed.
    So only its readiness names an old outbox, and the gateway and the cluster's probes ask whether it serves.
    """

    async def is_database_reachable() -> bool:
        return bool(await runtime.database.fetch_for(THE_SERVICE, "SELECT true"))

    async def do_loops_run() -> bool:
        return not runtime.ended_loops

    async def is_broker_reachable() -> bool:
        return runtime.bus.is_connected

    async def do_consumers_run() -> bool:
        return runtime.bus.is_consuming

    async def is_outbox_young() -> bool:
        return await outbox_age_seconds(runtime.database) < OUTBOX_AGE_SECONDS_MAX

    consuming = {"broker": is_broker_reachable, "consumers": do_consumers_run} if is_worker else {}
    serving: dict[str, Check] = {"database": is_database_reachable, "loops": do_loops_run, **consuming}
    return health_endpoints(serving, {"outbox": is_outbox_young})


def standard_endpoints(service: Service, settings: ServiceSettings, runtime: Runtime) -> list[Endpoints]:
    """Return the standard endpoints that the edge routes."""
    stops = [] if service.stoppable is None else [stop_endpoints(service.stoppable, runtime.database, runtime.clock)]
    return [
        *stops,
        dead_letter_endpoints(service.name, runtime.database, runtime.bus),
        queue_endpoints(service.name, runtime.database, runtime.bus),
        personal_record_endpoints(service.name, service.personal_records, runtime.database),
        own_action_endpoints(service.name, service.own_actions, runtime.database),
        settings_endpoints(service.name, settings),
        pending_work_endpoints(
            [*service.pending_work, dead_letter_work(service.name)], runtime.database, runtime.clock
        ),
    ]
