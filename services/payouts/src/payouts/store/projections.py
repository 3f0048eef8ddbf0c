"""SQL for projections of other services' events. No decision is made here."""

from functools import cache
from typing import Final, NamedTuple
from uuid import UUID

from common.database.outbox import Writes
from common.database.parameters import with_places_after
from common.database.unit_of_work import UnitOfWork
from common.ledger.posting import Effect
from payouts.store.wallets import LOCK_WALLET

_SAVE_VENDOR: Final = """
INSERT INTO vendors AS v (id, owner_user_id, legal_name, sequence) VALUES ($1, $2, $3, $4)
ON CONFLICT (id) DO UPDATE SET owner_user_id = excluded.owner_user_id, legal_name = excluded.legal_name,
    sequence = excluded.sequence
WHERE v.sequence < excluded.sequence
"""
_SAVE_VENDOR_STATUS: Final = """
UPDATE vendors SET suspended = $2, standing_sequence = $3 WHERE id = $1 AND standing_sequence < $3
"""
_VALUES_OF_SHARE: Final = 4
# The count ends the locking of the wallet before the share is locked: a batch that holds the wallet from an earlier
# order would wait for this one's share.
_SAVE_ORDER_SHARE: Final = Writes(
    f"""
wallet AS ({LOCK_WALLET} RETURNING vendor_id),
saved AS (
INSERT INTO order_shares AS s (order_id, vendor_id, remaining_vendor_minor, sequence)
SELECT $2, $1, $3, $4 FROM (SELECT count(*) AS locked FROM wallet) AS wallets WHERE wallets.locked >= 0
ON CONFLICT (order_id) DO UPDATE SET remaining_vendor_minor = excluded.remaining_vendor_minor,
    sequence = excluded.sequence
WHERE s.sequence < excluded.sequence RETURNING s.order_id
)
""",
    "EXISTS (SELECT FROM saved) AS is_newest",
    final="true",
)


async def save_vendor(uow: UnitOfWork, vendor_id: UUID, owner_user_id: UUID, legal_name: str, sequence: int) -> bool:
    """Save the vendor; False when a later event was received before."""
    return await uow.execute(_SAVE_VENDOR, vendor_id, owner_user_id, legal_name, sequence) == 1


async def save_vendor_status(uow: UnitOfWork, vendor_id: UUID, suspended: bool, sequence: int) -> bool:
    """Save the vendor's status; False when a later event was received before."""
    return await uow.execute(_SAVE_VENDOR_STATUS, vendor_id, suspended, sequence) == 1


class OrderShare(NamedTuple):
    """The vendor's share of an order's escrow after the event with this `sequence`, in kobo."""

    vendor_id: UUID
    order_id: UUID
    remaining_vendor_minor: int
    sequence: int


async def save_order_share(uow: UnitOfWork, share: OrderShare, effect: Effect | None = None) -> bool:
    """Lock the vendor's wallet, then save the share, and the effect in the same round trip; False when a later event of
    the order was received before.
    """
    if effect is None:
        row = await uow.write(_SAVE_ORDER_SHARE, *share)
    else:
        row = await uow.write(_with_effect(effect.statement), *share, *effect.values)
    return bool(row["is_newest"])


@cache
def _with_effect(statement: str) -> Writes:
    effect = with_places_after(_VALUES_OF_SHARE, statement)
    return Writes(f"{_SAVE_ORDER_SHARE.tables}, effect AS ({effect})", _SAVE_ORDER_SHARE.result)
