"""Steps of goodwill refunds that several operations share."""

from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from payments.domain.goodwill import BuyerErased, Goodwill, GoodwillDisputed, OwnGoodwill, check_goodwill
from payments.store import chargebacks
from payments.store.escrow import HeldOrder, lock_escrow
from payments.store.goodwill import GOODWILL, is_erased, sum_given


async def lock_order(uow: UnitOfWork, order_id: UUID, by: Caller) -> HeldOrder:
    """Lock the escrow of a paid order. Raises NotFound, and OwnGoodwill (403) for its buyer and its vendor."""
    held = await lock_escrow(uow, order_id)
    if held is None:
        raise NotFound
    if by.id == held.buyer_id or by.vendor_id == held.vendor_id:
        raise OwnGoodwill
    return held


async def lock_order_of_goodwill(uow: UnitOfWork, goodwill_id: UUID, by: Caller) -> HeldOrder:
    """Lock the escrow of the goodwill's order. Raises NotFound and OwnGoodwill (403)."""
    found = await GOODWILL.find(uow, goodwill_id)
    if found is None:
        raise NotFound
    return await lock_order(uow, found[1].order_id, by)


async def check_possible(uow: UnitOfWork, held: HeldOrder, goodwill: Goodwill, order_max_minor: int) -> None:
    """Raise GoodwillDisputed, BuyerErased and GoodwillTooLarge (409)."""
    if await chargebacks.chargeback_is_open(uow, held.order_id):
        raise GoodwillDisputed
    if await is_erased(uow, held.buyer_id):
        raise BuyerErased
    check_goodwill(
        goodwill.amount_minor,
        held_minor=held.held_minor,
        returned_minor=held.returned_minor,
        given_minor=await sum_given(uow, held.order_id, goodwill.id),
        order_max_minor=order_max_minor,
    )
