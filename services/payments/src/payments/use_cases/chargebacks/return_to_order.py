"""Return money to the escrow and the receivers of an order that a reversed loss had taken it from."""

from dataclasses import replace

from common.database.unit_of_work import UnitOfWork
from payments.domain.chargebacks import ChargebackAllocation
from payments.domain.escrow import Escrow
from payments.store.escrow import HeldOrder, save_charged_back


async def return_to_order(uow: UnitOfWork, held: HeldOrder, allocation: ChargebackAllocation) -> Escrow:
    """Return the escrow after it. Its posting belongs to the same unit of work."""
    after = replace(
        held.escrow,
        locked=held.escrow.locked.plus(allocation.from_locked),
        released=held.escrow.released.plus(allocation.from_released),
    )
    await save_charged_back(uow, held.order_id, after, -allocation.from_order_minor)
    return after
