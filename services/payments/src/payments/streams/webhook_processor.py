"""Process a new webhook in the process that filed it, without a message to the worker (decisions 59 and 224)."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Final

from opentelemetry.trace import SpanKind

from common.auth.caller import THE_SERVICE
from common.database.outbox import OutboxRow
from common.database.single_statements import confirm_earlier
from common.database.unit_of_work import Database
from common.observability import telemetry
from common.observability.logging import get_logger
from common.primitives.clock import Clock
from payments.clients.gateway import Gateways
from payments.domain.charges import SurchargeBound
from payments.metrics import WEBHOOKS_PROCESSED
from payments.use_cases.webhooks.process_webhook import WebhookAttempt, process_webhook
from providers.gateways import GatewayName

log: Final = get_logger(__name__)

# More would compete with requests for connections and CPU; the worker processes the rest of a burst.
CONCURRENT_MAX: Final = 2
# The response waits so long for the commit of the effect, which also makes the filed webhook durable. A fifth of the
# 500 ms in which a gateway expects it (contract section 9).
RESPONSE_WAIT_SECONDS: Final = 0.1
# Webhooks under way have this long at the end of the process; the lease of their work items ends later.
DRAIN_SECONDS: Final = 5.0


class WebhookProcessor:
    """Processes new webhooks beside their requests.

    The work item of a webhook is a leased row of the outbox. The transaction that processes the webhook marks it as
    published. Of one that fails, or finds no place, the relay publishes it, and the worker retries. After the death of
    this process, another relay does so when the lease ends.
    """

    def __init__(self, database: Database, gateways: Gateways, surcharge_bound: SurchargeBound, clock: Clock) -> None:
        self._database, self._gateways = database, gateways
        self._surcharge_bound, self._clock = surcharge_bound, clock
        # Of each place that is taken; None while its webhook is not filed.
        self._places: dict[object, asyncio.Task[None] | None] = {}

    @contextmanager
    def place_for(self, gateway: GatewayName) -> Iterator[Callable[[OutboxRow], Awaitable[None]] | None]:
        """Yield what processes the webhook of a request that is about to be filed; None where the worker does."""
        # Without a lease, another relay publishes the work item at once. A gateway to query first is the worker's.
        is_leased = self._database.handover.lease_seconds > 0
        if not is_leased or len(self._places) >= CONCURRENT_MAX or self._gateways.of(gateway).confirms_webhooks:
            yield None
            return
        place = object()
        self._places[place] = None
        try:
            yield partial(self._process_filed, place)
        finally:
            if self._places.get(place) is None:
                self._places.pop(place, None)

    async def drain(self) -> None:
        """Wait for the webhooks under way."""
        if under_way := [task for task in self._places.values() if task is not None]:
            await asyncio.wait(under_way, timeout=DRAIN_SECONDS)

    async def _process_filed(self, place: object, work: OutboxRow) -> None:
        """Process the webhook of a work item whose commit may not be on the disk; return when it is.

        Raises DatabaseUnavailable when it may be lost.
        """
        task = self._places[place] = asyncio.create_task(self._process(work))
        task.add_done_callback(lambda _: self._places.pop(place))
        await asyncio.wait({task}, timeout=RESPONSE_WAIT_SECONDS)
        if task.done():
            task.result()
        else:
            await confirm_earlier(self._database)

    async def _process(self, work: OutboxRow) -> None:
        attempt = WebhookAttempt(work.subject, is_last=False, work_item_id=work.id)
        try:
            with telemetry.span(work.type, SpanKind.INTERNAL, work.trace):
                async with self._database.unit_of_work(acting_as=THE_SERVICE) as uow:
                    result = await process_webhook(
                        uow, self._gateways, self._surcharge_bound, attempt, self._clock.now()
                    )
        except Exception as error:
            # The worker decides about retries and dead letters.
            log.info("webhook left to the worker", webhook_id=work.subject, error=repr(error))
            await self._enqueue(work)
            return
        if result.outcome is None:
            await self._enqueue(work)
        else:
            WEBHOOKS_PROCESSED.labels(*result.metric_labels).inc()

    async def _enqueue(self, work: OutboxRow) -> None:
        """Hand the work item to the relay, once it is on the disk."""
        await confirm_earlier(self._database)
        self._database.handover.add([work])
