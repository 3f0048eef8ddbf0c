"""Count what banks took of an order as a part of a refund that is decided afterwards."""

from dataclasses import replace
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from payments.domain.chargebacks import UnsentRefund
from payments.store import HeldOrder, chargebacks


async def count_charged_back(uow: UnitOfWork, held: HeldOrder, refund_id: UUID, amount_minor: int) -> int:
    """How much of `amount_minor` (kobo) the buyer has back already. The refund's row must stand; nothing is posted: nothing moves."""
    rest = amount_minor
    for lost in await chargebacks.lock_lost_chargebacks(uow, held.charge_id):
        counted = min(rest, lost.take.from_order_minor)
        if not counted:
            continue
        from_locked = lost.take.from_locked.share(min(counted, lost.take.from_locked.total_minor))
        from_released = lost.take.from_released.share(counted - from_locked.total_minor)
        left = replace(
            lost.take,
            from_locked=lost.take.from_locked.minus(from_locked),
            from_released=lost.take.from_released.minus(from_released),
        )
        await chargebacks.save_allocation(uow, lost.id, left, UnsentRefund(refund_id, counted))
        rest -= counted
    return amount_minor - rest
