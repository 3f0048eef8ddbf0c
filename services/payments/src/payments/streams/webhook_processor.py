"""Process a new webhook in the process that filed it, without a message to the worker (decision 59)."""

import asyncio
from typing import Final

from opentelemetry.trace import SpanKind

from common.auth.caller import THE_SERVICE
from common.database.outbox import OutboxRow
from common.database.unit_of_work import Database
from common.observability import telemetry
from common.observability.logging import get_logger
from common.primitives.clock import Clock
from payments.clients.gateway import Gateways
from payments.domain.charges import SurchargeBound
from payments.domain.gateways import GatewayName
from payments.metrics import WEBHOOKS_PROCESSED
from payments.use_cases.webhooks.process_webhook import WebhookAttempt, process_webhook

log: Final = get_logger(__name__)

# More would compete with requests for connections and CPU; the worker processes the rest of a burst.
CONCURRENT_MAX: Final = 2
# Webhooks under way have this long at the end of the process; the lease of their work items ends later.
DRAIN_SECONDS: Final = 5.0


class WebhookProcessor:
    """Processes filed webhooks after their response.

    The work item of a webhook is a leased row of the outbox. The transaction that processes the webhook marks it as
    published. Of one that fails, or is one too many, the relay publishes it, and the worker retries. After the death of
    this process, another relay does so when the lease ends.
    """

    def __init__(self, database: Database, gateways: Gateways, surcharge_bound: SurchargeBound, clock: Clock) -> None:
        self._database, self._gateways = database, gateways
        self._surcharge_bound, self._clock = surcharge_bound, clock
        self._under_way: set[asyncio.Task[None]] = set()

    def enqueue(self, gateway: GatewayName, work: OutboxRow) -> None:
        """Process the webhook of a committed work item soon: here, or in the worker."""
        # Without a lease, another relay publishes the work item at once. A gateway to query first is the worker's.
        is_leased = self._database.handover.lease_seconds > 0
        if not is_leased or len(self._under_way) >= CONCURRENT_MAX or self._gateways.of(gateway).confirms_webhooks:
            self._database.handover.add([work])
            return
        task = asyncio.create_task(self._process(work))
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)

    async def drain(self) -> None:
        """Wait for the webhooks under way."""
        if self._under_way:
            await asyncio.wait(self._under_way, timeout=DRAIN_SECONDS)

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
            self._database.handover.add([work])
            return
        if result.outcome is None:
            self._database.handover.add([work])
        else:
            WEBHOOKS_PROCESSED.labels(*result.metric_labels).inc()
