"""Record a purchase draft."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from orders.domain.purchase_drafts import DraftLine, merge_lines
from orders.store import purchase_drafts


async def record_purchase_draft(
    uow: UnitOfWork, draft_id: UUID, buyer_id: UUID, lines: Sequence[DraftLine], now: datetime
) -> bool:
    """Save the cart as a draft, with the quantities of repeated ids added up; False for a repetition."""
    return await purchase_drafts.save_draft_if_new(uow, draft_id, buyer_id, merge_lines(lines), now)
