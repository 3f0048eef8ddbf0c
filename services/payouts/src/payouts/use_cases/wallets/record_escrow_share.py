"""Record the vendor's share of an order's escrow."""

from common.database.unit_of_work import UnitOfWork
from payouts.store import projections
from payouts.store.projections import OrderShare


async def record_escrow_share(uow: UnitOfWork, share: OrderShare) -> bool:
    """Lock the wallet, and save the share; False when that of a later event is saved."""
    return await projections.save_order_share(uow, share)
