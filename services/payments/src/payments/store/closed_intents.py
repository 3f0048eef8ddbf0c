"""SQL that closes a live intent before another one replaces it, and locks the orders to pay."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from common.database.state_changes import states_before
from common.database.unit_of_work import UnitOfWork
from payments.domain.bank_transfers import BANK_TRANSFER
from payments.domain.transitions import PAYMENT


class ClosedIntent(NamedTuple):
    """An intent that was closed; its part of the balance, in kobo, is to be returned."""

    id: UUID
    balance_minor: int


# An order that was closed or paid while its intent was recorded has left that intent open, over another amount.
_CLOSE_OUTDATED: Final = f"""
UPDATE payment_intents SET status = 'closed', opening_until = NULL
WHERE purchase_id = $1 AND buyer_id = $2 AND amount_minor <> $3 AND status IN {states_before(PAYMENT, "order_closed")}
RETURNING id, balance_minor
"""
# A payment that takes another part from the balance replaces the live one.
_CLOSE_OTHER_BALANCE: Final = _CLOSE_OUTDATED.replace("purchase_id = $1", "order_id = $1").replace(
    "amount_minor <>", "balance_minor <>"
)
# In the order of `lock_by` (decision 102). A lock that waited reads the present status.
_LOCK_UNPAID: Final = """
SELECT id FROM payable_orders WHERE id = ANY ($1::uuid[]) AND status = 'Processing' ORDER BY vendor_id, id FOR UPDATE
"""
# An intent whose account has ended, or that was opened for another channel.
_CLOSE_REPLACED: Final = f"""
UPDATE payment_intents SET status = 'closed', opening_until = NULL
WHERE order_id = $1 AND buyer_id = $2 AND (opening_until IS NULL OR opening_until <= $3)
  AND (transfer_expires_at <= $3 OR channel IS DISTINCT FROM '{BANK_TRANSFER}')
  AND status IN {states_before(PAYMENT, "order_closed")}
RETURNING id, balance_minor
"""


async def close_outdated_intents(
    uow: UnitOfWork, purchase_id: UUID, buyer_id: UUID, amount_minor: int
) -> list[ClosedIntent]:
    """Close and return the purchase's live intents of another amount than that of its unpaid orders, in kobo.

    The unit of work ends then: settling locks the order before its intents, and a new intent locks the order.
    """
    return [ClosedIntent(*row) for row in await uow.fetch(_CLOSE_OUTDATED, purchase_id, buyer_id, amount_minor)]


async def close_replaced_intents(uow: UnitOfWork, order_id: UUID, buyer_id: UUID, now: datetime) -> list[ClosedIntent]:
    """Close and return a live intent of the order that has no account to transfer to: it ended, or another channel was
    requested.

    The unit of work ends then, as of `close_outdated_intents`.
    """
    return [ClosedIntent(*row) for row in await uow.fetch(_CLOSE_REPLACED, order_id, buyer_id, now)]


async def close_intents_of_other_balance(
    uow: UnitOfWork, order_id: UUID, buyer_id: UUID, balance_minor: int
) -> list[ClosedIntent]:
    """Close and return the live intent of the first order when it takes another part from the balance."""
    rows = await uow.fetch(_CLOSE_OTHER_BALANCE, order_id, buyer_id, balance_minor)
    return [ClosedIntent(*row) for row in rows]


async def lock_unpaid_orders(uow: UnitOfWork, order_ids: Sequence[UUID]) -> int:
    """Return the number of the orders that are still to be paid."""
    return len(await uow.fetch(_LOCK_UNPAID, order_ids))
