"""Members of shops, and the messages to them that are not sent yet."""

from collections.abc import Collection
from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from notifications.deliveries.domain.shop_notices import MemberRole

_SAVE: Final = """
INSERT INTO shop_members AS m (user_id, vendor_id, role, sequence) VALUES ($1, $2, $3, $4)
ON CONFLICT (user_id) DO UPDATE
SET vendor_id = excluded.vendor_id, role = excluded.role, sequence = excluded.sequence
WHERE m.sequence < excluded.sequence
"""
_ERASE: Final = "UPDATE shop_members SET role = NULL, sequence = $2 WHERE user_id = $1 AND sequence < $2"
# A message about an order of another shop is one to its buyer.
_CANCEL_QUEUED: Final = """
WITH locked AS MATERIALIZED (
    SELECT d.id FROM notification_deliveries d JOIN notifications n ON n.id = d.notification_id
    WHERE n.user_id = $1 AND n.template = ANY ($2) AND d.status = 'queued'
      AND (
          n.subject ->> 'orderId' IS NULL
          OR EXISTS (
              SELECT FROM order_summaries o WHERE o.order_id = (n.subject ->> 'orderId')::uuid AND o.vendor_id = $3
          )
      )
    ORDER BY d.id FOR UPDATE OF d
)
UPDATE notification_deliveries d
SET status = CASE d.status WHEN 'queued' THEN 'failed' ELSE d.status END, claim_id = NULL, claimed_at = NULL,
    due_at = NULL
FROM locked WHERE d.id = locked.id
"""


async def save_member(uow: UnitOfWork, user_id: UUID, vendor_id: UUID, role: MemberRole | None, sequence: int) -> bool:
    """Store a newer membership, or its end; return whether it was newer."""
    return bool(await uow.execute(_SAVE, user_id, vendor_id, role, sequence))


async def erase_member(uow: UnitOfWork, user_id: UUID, sequence: int) -> None:
    """End the membership of an erased user. The row stays, so that older events cannot restore it."""
    await uow.execute(_ERASE, user_id, sequence)


async def cancel_queued_notices(uow: UnitOfWork, user_id: UUID, vendor_id: UUID, templates: Collection[str]) -> int:
    """Fail the unsent messages of these templates to a member of the shop; return their number."""
    return await uow.execute(_CANCEL_QUEUED, user_id, sorted(templates), vendor_id)
