"""Count a lost chargeback as part of a refund that is decided after it."""

from dataclasses import replace
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from payments.domain.chargebacks import UnsentRefund
from payments.store import chargebacks
from payments.store.escrow import HeldOrder


async def count_charged_back(uow: UnitOfWork, held: HeldOrder, refund_id: UUID, amount_minor: int) -> int:
    """Return the part of `amount_minor` (kobo) that the bank has returned to the buyer. No money moves, so nothing is
    posted.

    The refund's row must exist.
    """
    rest = amount_minor
    for lost in await chargebacks.lock_lost_chargebacks(uow, held.charge_id):
        allocation = lost.allocation
        counted = min(rest, allocation.from_order_minor)
        if not counted:
            continue
        from_locked = allocation.from_locked.share(min(counted, allocation.from_locked.total_minor))
        from_released = allocation.from_released.share(counted - from_locked.total_minor)
        remaining = replace(
            allocation,
            from_locked=allocation.from_locked.minus(from_locked),
            from_released=allocation.from_released.minus(from_released),
        )
        await chargebacks.save_allocation(uow, lost.id, remaining, UnsentRefund(refund_id, counted))
        rest -= counted
    return amount_minor - rest
