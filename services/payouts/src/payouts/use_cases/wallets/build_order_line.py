"""Build the statement line of an order's refund or chargeback."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from payouts import store
from payouts.domain.wallet import NO_MOVEMENT, LineKind, Movement, WalletLine, line_of_movement


async def build_order_line(
    uow: UnitOfWork, kind: LineKind, vendor_id: UUID, order_id: UUID, movement: Movement
) -> WalletLine:
    """Return the line with gross, commission and delivery fee of what had reached the wallet (contract section 8.1)."""
    is_stated = movement.commission_minor is not None
    released = NO_MOVEMENT if is_stated else await store.sum_released(uow, vendor_id, order_id)
    return line_of_movement(kind, order_id, movement, released)
