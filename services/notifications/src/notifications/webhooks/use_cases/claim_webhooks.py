"""Claim due deliveries of webhooks."""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from common.primitives.clock import Clock
from notifications.webhooks import store
from notifications.webhooks.domain.webhooks import LEASE, ClaimedWebhook

# Calls of one endpoint at once: enough for a quick receiver, harmless to a small one.
PER_ENDPOINT_MAX: Final = 10


async def claim_webhooks(
    database: Database, clock: Clock, except_endpoints: Sequence[UUID], claimed_max: int
) -> list[ClaimedWebhook]:
    """Claim and commit before any call, so that two workers never send the same attempt.

    After a worker's crash the delivery waits for the end of its lease; it is then sent again with the same webhook id.
    """
    now = clock.now()
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        return await store.claim_webhooks(
            uow,
            now=now,
            leased_until=now + LEASE,
            except_endpoints=except_endpoints,
            per_endpoint_max=PER_ENDPOINT_MAX,
            claimed_max=claimed_max,
        )
