"""Writes of purchase drafts, under the buyer's row policy."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from orders.domain.purchase_drafts import DraftLine
from orders.store.erasure import refuse_during_erasure

# A user who is erased, or is about to be, gets no draft.
_SAVE: Final = """
INSERT INTO purchase_drafts (id, buyer_id, lines, created_at)
SELECT $1, $2, $3, $4 WHERE NOT EXISTS (SELECT FROM leaving_people WHERE user_id = $2 AND standing <> 'stays')
ON CONFLICT (id) DO NOTHING
"""
_LOCK: Final = "SELECT lines, purchase_id, created_at FROM purchase_drafts WHERE id = $1 FOR UPDATE"
_SAVE_PURCHASE: Final = "UPDATE purchase_drafts SET purchase_id = $2 WHERE id = $1 AND purchase_id IS NULL"


class LockedDraft(NamedTuple):
    lines: list[DraftLine]
    purchase_id: UUID | None
    created_at: datetime


async def save_draft_if_new(
    uow: UnitOfWork, draft_id: UUID, buyer_id: UUID, lines: Sequence[DraftLine], now: datetime
) -> bool:
    """Insert the draft; return False for a repetition, and for a user who is erased."""
    rows = [{"retailerId": line.retailer_id, "quantity": line.quantity} for line in lines]
    with refuse_during_erasure():
        return bool(await uow.execute(_SAVE, draft_id, buyer_id, rows, now))


async def lock_draft(uow: UnitOfWork, draft_id: UUID) -> LockedDraft | None:
    """Return the caller's draft, locked until the transaction ends; None when it is absent or invisible."""
    row = await uow.fetch_row(_LOCK, draft_id)
    return None if row is None else LockedDraft(lines_of(row["lines"]), row["purchase_id"], row["created_at"])


async def save_draft_purchase(uow: UnitOfWork, draft_id: UUID, purchase_id: UUID) -> None:
    await uow.execute(_SAVE_PURCHASE, draft_id, purchase_id)


def lines_of(stored: Sequence[dict[str, object]]) -> list[DraftLine]:
    """Return the lines of a row."""
    return [DraftLine(str(line["retailerId"]), int(str(line["quantity"]))) for line in stored]
