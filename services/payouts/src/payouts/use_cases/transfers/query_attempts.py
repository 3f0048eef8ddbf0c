"""Query the gateway about every transfer of a payout, before staff decide about its money."""

import asyncio
from collections.abc import Sequence
from uuid import UUID

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from common.primitives.clock import Clock
from payouts import store
from payouts.clients.gateway import Gateways
from payouts.domain.attempts import next_poll_at
from payouts.domain.errors import GatewayUnavailable, TransferContradicted, TransferMissingAtGateway
from payouts.domain.gateway_results import Reported, Unclear, VerifyResult
from payouts.domain.transitions import UNDER_WAY
from payouts.store import returns
from payouts.use_cases.transfers.record_update import record_update


async def query_attempts(
    database: Database, gateways: Gateways, clock: Clock, payout_id: UUID
) -> Sequence[VerifyResult]:
    """Query by reference, outside any transaction, records each result with its consequences, and returns them.

    A transfer that the gateway never accepted keeps its status. The records stay even when the caller's action is then
    refused. Raises GatewayUnavailable (503), TransferContradicted and TransferMissingAtGateway (409).
    """
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        sent = await returns.list_sent_attempts(uow, payout_id)
    results = await asyncio.gather(*(gateways.of(attempt.gateway).verify(attempt.reference) for attempt in sent))
    if any(isinstance(result, Unclear) for result in results):
        raise GatewayUnavailable
    for attempt, result in zip(sent, results, strict=True):
        await _record(database, clock, attempt, result)
    return results


async def _record(database: Database, clock: Clock, attempt: returns.SentAttempt, result: VerifyResult) -> None:
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        transfer = await store.lock_transfer(uow, transfer_id=attempt.id)
        if transfer is None:
            raise AssertionError("a transfer is never removed")
        if await returns.was_contradicted_since(uow, attempt.id, attempt.last_position):
            # The result may be older than the contradiction, and is no response to it.
            raise TransferContradicted
        if isinstance(result, Reported):
            await record_update(uow, transfer, result.update, clock.now())
            if result.update.status not in UNDER_WAY:
                poll_at = next_poll_at(transfer, result.update, clock.now())
                await store.schedule_poll(uow, attempt.id, poll_at, polled=True)
        elif await returns.was_accepted(uow, attempt.id):
            raise TransferMissingAtGateway
