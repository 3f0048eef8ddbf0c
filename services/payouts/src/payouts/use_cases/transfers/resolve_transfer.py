"""Query the gateway about a transfer."""

from uuid import UUID

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from common.primitives.clock import Clock
from payouts.clients.gateway import Gateways
from payouts.domain.attempts import should_resubmit, update_after_query
from payouts.domain.gateway_results import Absent, VerifyResult
from payouts.domain.quarantines import has_failed
from payouts.domain.transitions import is_allowed
from payouts.store import returns, transfers
from payouts.use_cases.exceptions.steps import open_exception
from payouts.use_cases.payouts.steps import restitute_after_settlement
from payouts.use_cases.transfers.steps import locking_transfer, record_update
from payouts.use_cases.transfers.submit_transfer import submit_transfer


async def resolve_transfer(database: Database, gateways: Gateways, clock: Clock, transfer_id: UUID) -> None:
    """Query by reference and records the result. A transfer that the gateway never accepted is sent again under its
    reference.
    """
    found = await transfers.find_transfer(database.reads_for(THE_SERVICE), transfer_id)
    if found is None:
        raise AssertionError("a transfer is never removed")
    if not is_allowed(found.status, "queried"):
        return
    result = await gateways.of(found.gateway).verify(found.reference)
    if should_resubmit(found.status, result):
        await submit_transfer(database, gateways, clock, transfer_id, was="unknown")
        return
    await _record(database, clock, transfer_id, result)


async def _record(database: Database, clock: Clock, transfer_id: UUID, result: VerifyResult) -> None:
    now = clock.now()
    async with locking_transfer(database, transfer_id) as (uow, transfer):
        if isinstance(result, Absent) and has_failed(transfer) and not await returns.was_accepted(uow, transfer_id):
            # Our records and the gateway agree that it was never paid.
            await restitute_after_settlement(uow, transfer, None, now)
            await transfers.schedule_poll(uow, transfer_id, None, polled=True)
            return
        after = update_after_query(transfer, result, now)
        if after.update is not None:
            poll = transfers.Poll(after.poll_at, polled=True)
            await record_update(uow, transfer, after.update, now, poll=poll)
        else:
            await transfers.schedule_poll(uow, transfer_id, after.poll_at, polled=True)
        if after.opens is not None:
            await open_exception(uow, transfer, after.opens, after.reason, now)
