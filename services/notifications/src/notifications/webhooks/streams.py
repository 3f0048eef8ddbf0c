"""The sender of webhooks in a worker: claims due deliveries, and sends the batches of different endpoints side by
side.
"""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from typing import Final
from uuid import UUID

from common.database.unit_of_work import Database
from common.observability.logging import get_logger
from common.primitives.clock import Clock
from common.primitives.encryption import Encryptor
from notifications.webhooks.clients import WebhookClient
from notifications.webhooks.domain.webhooks import ClaimedWebhook
from notifications.webhooks.use_cases.claim_webhooks import PER_ENDPOINT_MAX, claim_webhooks
from notifications.webhooks.use_cases.send_webhook import send_webhook

log: Final = get_logger(__name__)

# Finds retries, events that other workers recorded, and deliveries of dead workers.
POLL_SECONDS: Final = 4.0
# Calls of this process at once; each has its own connection.
CALLS_MAX: Final = 100
# Calls under way have this long at the end of the process; their leases end in another worker.
DRAIN_SECONDS: Final = 5.0


class WebhookSender:
    """Sends due webhooks. An endpoint has one batch under way in a process, so a hanging one delays only itself."""

    def __init__(self, database: Database, clock: Clock, client: WebhookClient, encryptor: Encryptor) -> None:
        self._database, self._clock, self._client, self._encryptor = database, clock, client, encryptor
        self._wakeup = asyncio.Event()
        self._calls = 0
        self._busy: dict[UUID, asyncio.Task[None]] = {}

    def wake(self) -> None:
        """Claim due deliveries at once."""
        self._wakeup.set()

    async def run(self) -> None:
        """Send until cancelled; then wait for the calls under way."""
        try:
            while True:
                self._wakeup.clear()
                for endpoint_id, batch in (await self._claim()).items():
                    self._busy[endpoint_id] = asyncio.create_task(self._send_batch(endpoint_id, batch))
                with suppress(TimeoutError):
                    async with asyncio.timeout(POLL_SECONDS):
                        await self._wakeup.wait()
        finally:
            await self._drain()

    async def run_once(self) -> int:
        """Claim, send and record one batch of each endpoint; return the number of deliveries."""
        batches = await self._claim()
        await asyncio.gather(*(self._send_batch(endpoint_id, batch) for endpoint_id, batch in batches.items()))
        return sum(map(len, batches.values()))

    async def _claim(self) -> dict[UUID, list[ClaimedWebhook]]:
        batches: dict[UUID, list[ClaimedWebhook]] = defaultdict(list)
        if self._calls < CALLS_MAX:
            free = CALLS_MAX - self._calls
            for claimed in await claim_webhooks(self._database, self._clock, list(self._busy), free):
                batches[claimed.endpoint_id].append(claimed)
                self._calls += 1
        return batches

    async def _send_batch(self, endpoint_id: UUID, batch: Sequence[ClaimedWebhook]) -> None:
        try:
            await asyncio.gather(*(self._send(claimed) for claimed in batch))
        finally:
            self._busy.pop(endpoint_id, None)
            if len(batch) == PER_ENDPOINT_MAX:
                self.wake()

    async def _send(self, claimed: ClaimedWebhook) -> None:
        try:
            await send_webhook(claimed, self._database, self._clock, self._client, self._encryptor)
        except Exception as error:
            # The end of the lease repeats the attempt.
            log.error("webhook without a recorded result", delivery_id=str(claimed.delivery_id), exc_info=error)
        finally:
            self._calls -= 1

    async def _drain(self) -> None:
        tasks = list(self._busy.values())
        if tasks:
            _, pending = await asyncio.wait(tasks, timeout=DRAIN_SECONDS)
            for task in pending:
                task.cancel()
