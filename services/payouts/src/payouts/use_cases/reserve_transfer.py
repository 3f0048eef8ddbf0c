"""Write an attempt down before anybody outside hears of it."""

from uuid import UUID

from common.caller import THE_SERVICE
from common.clock import Clock
from common.database import Database
from common.ids import new_id
from payouts import store
from payouts.domain.dispatch import reason_to_skip


async def reserve_transfer(database: Database, clock: Clock, batch_id: UUID, payout_id: UUID) -> UUID | None:
    """The attempt that is this batch's to send, with its reference committed; None when the payout is skipped.

    Under the payout's lock: of two dispatchers at once, the second finds the first one's attempt.
    """
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        payout = await store.lock_payout(uow, payout_id)
        [candidate] = await store.list_candidates(uow, [payout_id], 1)
        reason = reason_to_skip(candidate)
        if reason is not None:
            await store.settle_line(uow, batch_id, payout_id, "skipped", reason)
            return None
        transfer_id = new_id()
        await store.save_transfer(uow, transfer_id, payout_id, payout, batch_id, f"po-{new_id().hex}", clock.now())
        await store.settle_line(uow, batch_id, payout_id, "reserved", None)
        return transfer_id
