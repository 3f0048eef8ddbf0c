"""Ask the gateway what became of every transfer of a payout, before anybody decides about its money."""

import asyncio
from uuid import UUID

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from common.primitives.clock import Clock
from payouts import store
from payouts.clients.gateway import Gateway
from payouts.domain.attempts import next_poll_at
from payouts.domain.errors import GatewayUnavailable, TransferContradicted, TransferMissingAtGateway
from payouts.domain.gateway_results import Reported, Unclear, VerifyResult
from payouts.domain.transitions import UNDER_WAY
from payouts.store import returns
from payouts.use_cases.transfers.record_update import record_update


async def query_attempts(database: Database, gateway: Gateway, clock: Clock, payout_id: UUID) -> None:
    """Asks by reference, outside any transaction, and records each answer with all that follows from it.

    A transfer that the gateway never accepted stays as the books have it. What was recorded stands even when the caller's act is then
    refused. Raises GatewayAway (503), GatewayContradictsItself and GatewayForgot (409).
    """
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        sent = await returns.list_sent_attempts(uow, payout_id)
    results = await asyncio.gather(*(gateway.verify(reference) for _, reference, _ in sent))
    if any(isinstance(result, Unclear) for result in results):
        raise GatewayUnavailable
    for (transfer_id, _, last_position), result in zip(sent, results, strict=True):
        await _record(database, clock, transfer_id, last_position, result)


async def _record(
    database: Database, clock: Clock, transfer_id: UUID, last_position: int, result: VerifyResult
) -> None:
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        transfer = await store.lock_transfer(uow, transfer_id=transfer_id)
        if transfer is None:
            raise AssertionError("a transfer is never removed")
        if await returns.was_contradicted_since(uow, transfer_id, last_position):
            # The answer may be older than what contradicts it, and must not be taken for a reply to it.
            raise TransferContradicted
        if isinstance(result, Reported):
            await record_update(uow, transfer, result.update, clock.now())
            if result.update.status not in UNDER_WAY:
                poll_at = next_poll_at(transfer, result.update, clock.now())
                await store.schedule_poll(uow, transfer_id, poll_at, polled=True)
        elif await returns.was_accepted(uow, transfer_id):
            raise TransferMissingAtGateway
