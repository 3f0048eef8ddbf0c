"""SQL for writes to disputed charges and their holds. The wallet must be locked. No decision is made here."""

from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from payouts.domain.chargebacks import ChargebackUpdate, KnownChargeback, OpenChargeback

_SAVE: Final = """
INSERT INTO chargebacks AS c (id, order_id, vendor_id, status, vendor_minor, sequence) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (id) DO UPDATE SET status = excluded.status, sequence = excluded.sequence, held_minor = 0
WHERE c.sequence < excluded.sequence
"""
_FIND: Final = "SELECT status, held_minor FROM chargebacks WHERE id = $1"
_LIST_OPEN: Final = """
SELECT id, vendor_minor, held_minor FROM chargebacks WHERE order_id = $1 AND status = 'opened' ORDER BY id
"""
_HOLD: Final = "UPDATE chargebacks SET held_minor = held_minor + $2 WHERE id = $1"
_REMAINING: Final = "SELECT remaining_vendor_minor FROM order_shares WHERE order_id = $1"

_CREDITED: Final = """
SELECT coalesce(sum(net_minor), 0)::bigint FROM wallet_lines
WHERE vendor_id = $1 AND order_id = $2 AND kind IN ('release', 'refund', 'chargeback', 'chargeback_won')
"""


async def find_chargeback(uow: UnitOfWork, chargeback_id: UUID) -> KnownChargeback | None:
    """Returns the chargeback's newest state; None for an unknown one."""
    row = await uow.fetch_row(_FIND, chargeback_id)
    return None if row is None else KnownChargeback(*row)


async def save_chargeback(uow: UnitOfWork, update: ChargebackUpdate, sequence: int) -> bool:
    """Saves the event; False when this one or a later one was received before. A decided chargeback holds nothing."""
    return (
        await uow.execute(
            _SAVE, update.id, update.order_id, update.vendor_id, update.status, update.vendor_minor, sequence
        )
        == 1
    )


async def list_open_chargebacks(uow: UnitOfWork, order_id: UUID) -> list[OpenChargeback]:
    return [OpenChargeback(*row) for row in await uow.fetch(_LIST_OPEN, order_id)]


async def add_hold(uow: UnitOfWork, chargeback_id: UUID, amount_minor: int) -> None:
    await uow.execute(_HOLD, chargeback_id, amount_minor)


async def find_remaining_share(uow: UnitOfWork, order_id: UUID) -> int:
    """Returns the vendor's share of the order's escrow, in kobo."""
    return await uow.fetch_value(_REMAINING, order_id) or 0


async def sum_credited(uow: UnitOfWork, vendor_id: UUID, order_id: UUID) -> int:
    """Returns what the wallet received for the order, less what its refunds and chargebacks debited, in kobo."""
    return int(await uow.fetch_value(_CREDITED, vendor_id, order_id))
