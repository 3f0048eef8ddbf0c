"""Query the gateway about opened payments whose outcome has not arrived (contract section 7.1)."""

import asyncio
from typing import Final

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from common.observability.logging import get_logger
from common.primitives.clock import Clock
from payments.clients.gateway import GatewayRejected, Gateways, GatewayUnavailable
from payments.domain.failures import next_query_at
from payments.domain.revisions import GatewaySubject
from payments.store import intents
from payments.store.intents import UnpaidAttempt
from payments.use_cases.webhooks.steps import file_gateway_response

log = get_logger(__name__)

# More concurrent queries would compete with paying buyers for connections.
QUERY_CONCURRENCY_MAX: Final = 10


async def query_unpaid_attempts(database: Database, gateways: Gateways, clock: Clock) -> int:
    """Return the number of newly filed responses.

    Each attempt's next query is recorded before the call. So the delays grow also while the gateway is unavailable, and
    of several workers one queries.
    """
    now = clock.now()
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        due = await intents.claim_unpaid_attempts(uow, now)
        for attempt in due:
            query_at = next_query_at(now, attempt.queries + 1, attempt.expires_at)
            await intents.save_attempt_query(uow, attempt.id, query_at)
    limiter = asyncio.Semaphore(QUERY_CONCURRENCY_MAX)

    async def query(attempt: UnpaidAttempt, reference: str) -> int:
        async with limiter:
            try:
                event = await gateways.of(attempt.gateway).find_event(GatewaySubject("charge", reference))
            except (GatewayUnavailable, GatewayRejected) as error:
                log.warning("payment query failed, retrying later", reference=reference, error=str(error))
                return 0
        return 0 if event is None else await file_gateway_response(database, attempt.gateway, event)

    queries = (query(attempt, reference) for attempt in due for reference in attempt.references)
    return sum(await asyncio.gather(*queries))
