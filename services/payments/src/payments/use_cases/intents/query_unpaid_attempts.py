"""Query the gateway about payments that were opened and whose outcome has not arrived (contract section 7.1)."""

import asyncio
from typing import Final

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from common.observability.logging import get_logger
from common.primitives.clock import Clock
from payments import store
from payments.clients.gateway import GatewayRefused, GatewayUnavailable, PaymentGateway
from payments.domain.failures import next_query_at
from payments.domain.revisions import event_of_answer
from payments.use_cases.webhooks.process_gateway_answer import process_gateway_answer

log = get_logger(__name__)

# Several answers are waited for at once; more would take connections from people who pay.
QUERIES_AT_ONCE: Final = 10


async def query_unpaid_attempts(database: Database, gateway: PaymentGateway, clock: Clock) -> int:
    """How many new answers were recorded. The next query of each attempt is written before the call: a gateway that does not
    answer is queried seldomer too, and of several workers one queries."""
    now = clock.now()
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        due = await store.claim_unpaid_attempts(uow, now)
        for attempt in due:
            due_at = next_query_at(now, attempt["queries"] + 1, attempt["expires_at"])
            await store.save_attempt_query(uow, attempt["id"], due_at)
    at_once = asyncio.Semaphore(QUERIES_AT_ONCE)

    async def query(reference: str) -> int:
        async with at_once:
            try:
                answer = await gateway.find_transaction(reference)
            except (GatewayUnavailable, GatewayRefused) as error:
                log.warning("payment not answered by the gateway", reference=reference, error=str(error))
                return 0
        event_type = None if answer is None else event_of_answer("charge", answer)
        if answer is None or event_type is None:
            return 0
        return await process_gateway_answer(database, event_type, answer)

    return sum(await asyncio.gather(*(query(attempt["reference"]) for attempt in due)))
