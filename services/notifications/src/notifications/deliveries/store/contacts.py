"""Writes of the projections of users, vendors and orders."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple
from uuid import UUID

from common.database.outbox import Writes
from common.database.unit_of_work import UnitOfWork
from notifications.deliveries.domain.deliveries import Contact
from notifications.deliveries.store.devices import delete_devices
from notifications.deliveries.store.preferences import delete_preferences

_SAVE_CONTACT: Final = """
INSERT INTO contacts AS c (user_id, email, phone, full_name, sequence, phone_confirmed, staff_roles, hub_id)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (user_id) DO UPDATE
SET email = excluded.email, phone = excluded.phone, full_name = excluded.full_name, sequence = excluded.sequence,
    phone_confirmed = excluded.phone_confirmed, staff_roles = coalesce(excluded.staff_roles, c.staff_roles),
    hub_id = CASE WHEN excluded.staff_roles IS NULL THEN c.hub_id ELSE excluded.hub_id END
WHERE c.sequence < excluded.sequence
"""
# Queued messages are no longer sent. The recipient stays unique for its notification and channel.
_ERASE_RECIPIENTS: Final = """
WITH locked AS MATERIALIZED (
    SELECT d.id FROM notification_deliveries d JOIN notifications n ON n.id = d.notification_id
    WHERE n.user_id = $1 OR n.id = ANY ($2) ORDER BY d.id FOR UPDATE OF d
)
UPDATE notification_deliveries d
SET recipient = 'erased:' || d.id, payload = '{}', sealed = '{}', claim_id = NULL, claimed_at = NULL,
    due_at = NULL, status = CASE d.status WHEN 'queued' THEN 'failed' ELSE d.status END
FROM locked WHERE d.id = locked.id
"""
# Feed positions and the counts of attempts by channel and outcome stay.
_ERASE_FEED: Final = """
WITH locked AS MATERIALIZED (
    SELECT id FROM notifications WHERE user_id = $1 AND title IS NOT NULL ORDER BY id FOR NO KEY UPDATE
)
UPDATE notifications SET title = '', body = '' FROM locked WHERE notifications.id = locked.id
"""
_ERASE_LOGS: Final = "UPDATE notification_delivery_logs SET recipient = 'erased', error = NULL WHERE user_id = $1"
_SAVE_VENDOR: Final = """
INSERT INTO vendors AS v (vendor_id, owner_user_id, business_name, sequence) VALUES ($1, $2, $3, $4)
ON CONFLICT (vendor_id) DO UPDATE
SET owner_user_id = excluded.owner_user_id, business_name = excluded.business_name, sequence = excluded.sequence
WHERE v.sequence < excluded.sequence
"""
_SAVE_ORDER: Final = Writes(
    """
saved_order AS (
    INSERT INTO order_summaries (order_id, vendor_id, total_minor, delivery_fee_minor, items, buyer_id, number)
    VALUES ($1, $2, $3, $4, $5, $6, $7)
    ON CONFLICT (order_id) DO NOTHING RETURNING 1
)
""",
    "EXISTS (SELECT FROM saved_order) AS is_new_order",
    final="true",
)
_SAVE_UNDER_REVIEW: Final = "UPDATE order_summaries SET payment_under_review = true WHERE order_id = $1"


async def save_payment_under_review(uow: UnitOfWork, order_id: UUID) -> bool:
    """Mark the order's payment as quarantined; return whether the order is known."""
    return bool(await uow.execute(_SAVE_UNDER_REVIEW, order_id))


async def save_contact(
    uow: UnitOfWork,
    contact: Contact,
    sequence: int,
    *,
    phone_confirmed: bool = False,
    staff_roles: Sequence[str] | None = None,
    hub_id: UUID | None = None,
) -> bool:
    """Store a newer contact; return whether it was newer. Without `staff_roles` the stored roles and hub stay."""
    values = (contact.user_id, contact.email, contact.phone, contact.full_name, sequence, phone_confirmed)
    return bool(await uow.execute(_SAVE_CONTACT, *values, staff_roles, hub_id))


async def erase_contact(uow: UnitOfWork, user_id: UUID, sequence: int) -> bool:
    """Empty the contact; return whether the event was newer. It stays, so that older events cannot restore it."""
    return await save_contact(uow, Contact(user_id, "", None, None), sequence, staff_roles=())


async def erase_messages(uow: UnitOfWork, user_id: UUID | None, notification_ids: Sequence[UUID]) -> None:
    """Erase the recipients of these notifications, also those without a user, and of all notifications of the user,
    with their texts, devices and preferences.
    """
    await uow.execute(_ERASE_RECIPIENTS, user_id, list(notification_ids))
    if user_id is not None:
        await delete_devices(uow, user_id)
        for statement in (_ERASE_FEED, _ERASE_LOGS):
            await uow.execute(statement, user_id)
        await delete_preferences(uow, user_id)


async def save_vendor(uow: UnitOfWork, vendor_id: UUID, owner_user_id: UUID, business_name: str, sequence: int) -> bool:
    """Store a newer vendor; return whether it was newer."""
    return bool(await uow.execute(_SAVE_VENDOR, vendor_id, owner_user_id, business_name, sequence))


class PlacedOrder(NamedTuple):
    """The parties, the number, the amounts, in kobo, and the lines of an order. They never change after checkout."""

    id: UUID
    vendor_id: UUID
    total_minor: int
    delivery_fee_minor: int
    items: Sequence[Mapping[str, object]]
    buyer_id: UUID
    number: str | None


async def save_order_summary(uow: UnitOfWork, order: PlacedOrder) -> None:
    """Store the summary: with the last writes of its transaction, unless other messages of it may read it."""
    if uow.is_shared:
        await uow.write(_SAVE_ORDER, *order)
    else:
        uow.attach(_SAVE_ORDER, *order, then=lambda row: None)
