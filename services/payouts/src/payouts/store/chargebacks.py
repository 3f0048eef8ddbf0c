"""SQL for writes to disputed charges and their holds. The wallet must be locked. No decision is made here."""

from typing import Final
from uuid import UUID

from common.database.state_changes import change_state
from common.database.unit_of_work import UnitOfWork
from payouts.domain.chargebacks import ChargebackUpdate, HoldChange, KnownChargeback, OpenChargeback

_SAVE: Final = """
INSERT INTO chargebacks AS c (id, order_id, vendor_id, status, vendor_minor, sequence) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (id) DO UPDATE SET status = excluded.status, sequence = excluded.sequence, held_minor = 0,
    uncovered_minor = 0
WHERE c.status = $7
"""
_FIND: Final = "SELECT status, held_minor, sequence FROM chargebacks WHERE id = $1"
_LIST_OPEN: Final = """
SELECT c.id, c.order_id, c.vendor_minor, c.held_minor, c.uncovered_minor,
       coalesce((SELECT remaining_vendor_minor FROM order_shares WHERE order_id = c.order_id), 0),
       (SELECT coalesce(sum(net_minor), 0)::bigint FROM wallet_lines
        WHERE vendor_id = c.vendor_id AND order_id = c.order_id
            AND kind IN ('release', 'refund', 'chargeback', 'chargeback_won'))
FROM chargebacks AS c WHERE c.vendor_id = $1 AND c.status = 'opened' ORDER BY c.order_id, c.id
"""
_CHANGE_HOLD: Final = """
UPDATE chargebacks SET held_minor = held_minor + $2, uncovered_minor = $3 WHERE id = $1 AND status = 'opened'
"""


async def find_chargeback(uow: UnitOfWork, chargeback_id: UUID) -> KnownChargeback | None:
    """Return the chargeback's newest state; None for an unknown one."""
    row = await uow.fetch_row(_FIND, chargeback_id)
    return None if row is None else KnownChargeback(*row)


async def save_chargeback(
    uow: UnitOfWork, known: KnownChargeback | None, update: ChargebackUpdate, sequence: int
) -> None:
    """Save the newest event over the known state. A decided chargeback holds nothing."""
    values = (update.id, update.order_id, update.vendor_id, update.status, update.vendor_minor, sequence)
    await change_state(uow, _SAVE, *values, None if known is None else known.status)


async def list_open_chargebacks(uow: UnitOfWork, vendor_id: UUID) -> list[OpenChargeback]:
    """Return the vendor's undecided chargebacks, those of one order together."""
    return [OpenChargeback(*row) for row in await uow.fetch(_LIST_OPEN, vendor_id)]


async def change_hold(uow: UnitOfWork, change: HoldChange) -> None:
    """Save what an undecided chargeback holds. The posting belongs to the same unit of work."""
    await uow.execute(_CHANGE_HOLD, change.chargeback_id, change.added_minor, change.uncovered_minor)
