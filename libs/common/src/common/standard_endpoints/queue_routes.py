"""The queues and the outbox of a service for staff on call: `/api/queues/<service>` (contract section 13.7)."""

from typing import Annotated, Final, cast

from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from common.auth.caller import THE_SERVICE
from common.auth.guards import permission
from common.database.unit_of_work import Database
from common.messaging.bus import BrokerUnavailable, Bus
from common.standard_endpoints.dead_letter_trail import ServiceName
from common.web.endpoints import Endpoints
from common.web.http import ok
from common.web.response_models import ResponseModel, Timestamp

COUNT_MAX: Final = 10_000
"""So many rows of the outbox are counted: the age says more than a larger number."""
_OUTBOX: Final = f"""
SELECT count(*) AS waiting, min(created_at) AS oldest_at
FROM (SELECT created_at FROM outbox WHERE published_at IS NULL ORDER BY position LIMIT {COUNT_MAX}) AS head
"""


class QueueLength(ResponseModel):
    name: str
    waiting: Annotated[int, Meta(description="Messages that no consumer has received yet, as the broker counts them.")]
    consumers: Annotated[int, Meta(description="Consumers of the queue; 0 means that no worker receives from it.")]


class Outbox(ResponseModel):
    waiting: Annotated[int, Meta(ge=0, le=COUNT_MAX, description=f"{COUNT_MAX} means: so many or more.")]
    oldest_at: Annotated[Timestamp | None, Meta(description="When the oldest unpublished message was committed.")]


class ServiceQueues(ResponseModel):
    service: ServiceName
    outbox: Annotated[Outbox, Meta(description="Messages that are committed and not yet published.")]
    queues: Annotated[list[QueueLength] | None, Meta(description="Null while the broker is unreachable.")]


def queue_endpoints(service: str, database: Database, bus: Bus) -> Endpoints:
    """Return the endpoint of this service's queues. The broker's own counters are read over the service's
    connection.
    """
    endpoint = Endpoints("operations")

    @endpoint(
        "GET",
        f"/api/queues/{service}",
        id=f"queues.get{service.capitalize()}",
        returns=ServiceQueues,
        allow=permission("alerts:read"),
    )
    async def get_queues(request: Request) -> Response:
        """Return the messages that wait in the queues of this service, and the age of its outbox."""
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            [outbox] = await uow.fetch(_OUTBOX)
        names = sorted(name for name in bus.topology.bindings if name.startswith(f"{service}."))
        try:
            lengths = [
                QueueLength.from_record(length, name=name) for name, length in (await bus.measure_queues(names)).items()
            ]
        except BrokerUnavailable:
            lengths = None
        return ok(
            request, ServiceQueues(service=cast("ServiceName", service), outbox=Outbox.from_row(outbox), queues=lengths)
        )

    return endpoint
