"""Reads of the projections of users, vendors and orders."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.json_records import Json
from notifications.deliveries.domain.channels import Preferences
from notifications.deliveries.domain.deliveries import Contact
from notifications.deliveries.domain.errors import ContactUnknown, OrderUnknown, VendorUnknown
from notifications.deliveries.domain.shop_notices import MemberRole
from notifications.deliveries.queries.preferences import preferences_of

_CONTACT: Final = "SELECT user_id, email, phone, full_name, phone_confirmed FROM contacts WHERE user_id = $1"
# One round trip for all messages of a transaction: a user, or the owner of a vendor and then the members of its shop,
# whose number identity bounds.
_RECIPIENTS: Final = """
SELECT r.number, person.role, v.vendor_id, v.business_name, c.user_id, c.email, c.phone, c.full_name,
    c.phone_confirmed, p.channels, p.quiet_from, p.quiet_to, p.timezone, p.locale, p.revision, p.optional_mail, ARRAY(
        SELECT d.id::text FROM user_devices d WHERE d.user_id = c.user_id AND d.kind = ANY ($3)
        ORDER BY d.created_at, d.id
    ) AS device_ids, EXISTS (SELECT FROM feeds f WHERE f.user_id = c.user_id AND f.streamed_until > $4) AS is_streamed
FROM unnest($1::uuid[], $2::uuid[], $5::boolean[]) WITH ORDINALITY AS r (user_id, vendor_id, with_members, number)
LEFT JOIN vendors v ON v.vendor_id = r.vendor_id
CROSS JOIN LATERAL (
    SELECT coalesce(r.user_id, v.owner_user_id) AS user_id, NULL AS role
    UNION ALL
    SELECT m.user_id, m.role FROM shop_members m
    WHERE r.with_members AND m.vendor_id = r.vendor_id AND m.role IS NOT NULL
) AS person
LEFT JOIN contacts c ON c.user_id = person.user_id
LEFT JOIN notification_preferences p ON p.user_id = c.user_id
ORDER BY r.number, person.role NULLS FIRST, person.user_id
"""
_STAFF_ROLES: Final = "SELECT staff_roles FROM contacts WHERE user_id = $1"
_STAFF: Final = """
SELECT user_id FROM contacts WHERE staff_roles <> '{}' AND staff_roles && $1::text[] ORDER BY user_id
"""
_AGENTS_OF_HUB: Final = """
SELECT user_id FROM contacts WHERE hub_id = $1 AND 'hub_agent' = ANY (staff_roles) ORDER BY user_id
"""
_USER_OF_NUMBER: Final = (
    "SELECT user_id FROM contacts WHERE phone = $1 AND phone_confirmed ORDER BY sequence DESC LIMIT 1"
)
_CONTACTS: Final = "SELECT user_id, email, phone, full_name FROM contacts WHERE user_id = ANY ($1)"
_IS_PARTY: Final = """
SELECT EXISTS (
    SELECT FROM order_summaries o LEFT JOIN vendors v ON v.vendor_id = o.vendor_id
    WHERE o.order_id = $1 AND (o.buyer_id = $2 OR v.owner_user_id = $2)
)
"""
_ORDER: Final = "SELECT total_minor, delivery_fee_minor, items FROM order_summaries WHERE order_id = $1"
_ORDER_NUMBER: Final = "SELECT number FROM order_summaries WHERE order_id = $1"
_UNDER_REVIEW: Final = "SELECT payment_under_review FROM order_summaries WHERE order_id = $1"


class Recipient(NamedTuple):
    """A user with what decides how messages reach them, and the name of the vendor that the message is about.

    `role`: that of a member of the vendor's shop. `is_streamed`: a process streams the user's feed, or did within the
    last minute.
    """

    contact: Contact
    preferences: Preferences
    device_ids: Sequence[str]
    business_name: str | None
    is_streamed: bool
    role: MemberRole | None

    def addresses_on(self, channel: str) -> Sequence[str]:
        """Return the recipients on a channel: the devices of a push, else the address of the user."""
        if channel == "push":
            return self.device_ids
        address = self.contact.address_on(channel)
        return [address] if address else []


class Requested(NamedTuple):
    """A user, or the owner of a vendor; with the members of its shop where a template is for them."""

    user_id: UUID | None
    vendor_id: UUID | None
    with_members: bool


class OrderSummary(NamedTuple):
    """The amounts, in kobo, and lines of an order confirmation."""

    total_minor: int
    delivery_fee_minor: int
    items: list[Json]


async def payment_is_under_review(uow: UnitOfWork, order_id: UUID) -> bool:
    """Return whether a payment for the order is in quarantine."""
    return bool(await uow.fetch_value(_UNDER_REVIEW, order_id))


async def find_contact(uow: UnitOfWork, user_id: UUID) -> Contact | None:
    """Return the user's contact; None before identity's event."""
    row = await uow.fetch_row(_CONTACT, user_id)
    return None if row is None else Contact(*row)


async def find_contacts(uow: UnitOfWork, user_ids: Iterable[UUID | None]) -> dict[UUID, Contact]:
    """Return the contacts of the users that are known, by their ids."""
    known_ids = sorted({user_id for user_id in user_ids if user_id is not None})
    return {row[0]: Contact(*row) for row in await uow.fetch(_CONTACTS, known_ids)}


async def find_user_of_number(uow: UnitOfWork, phone: str) -> UUID | None:
    """Return the user who has proven the number (contract section 10.1)."""
    user_id: UUID | None = await uow.fetch_value(_USER_OF_NUMBER, phone)
    return user_id


async def is_party_of_order(uow: UnitOfWork, order_id: UUID, user_id: UUID) -> bool:
    """Return whether the user bought the order or sells it."""
    return bool(await uow.fetch_value(_IS_PARTY, order_id, user_id))


async def get_recipients(
    uow: UnitOfWork,
    requested: Sequence[Requested],
    device_kinds: Collection[str],
    now: datetime,
) -> list[list[Recipient]]:
    """Return the recipients of each of one or more requests, members last, with preferences and devices of these kinds.

    Raises ContactUnknown and VendorUnknown before identity's events.
    """
    users, vendors, with_members = zip(*requested, strict=True)
    rows = await uow.fetch(_RECIPIENTS, users, vendors, list(device_kinds), now, with_members)
    recipients: list[list[Recipient]] = [[] for _ in requested]
    for row in rows:
        place = row["number"] - 1
        vendor_id = requested[place].vendor_id
        if vendor_id is not None and row["vendor_id"] is None:
            raise VendorUnknown(vendor_id)
        if row["user_id"] is None:
            raise ContactUnknown
        recipients[place].append(
            Recipient(
                Contact(row["user_id"], row["email"], row["phone"], row["full_name"], row["phone_confirmed"]),
                Preferences() if row["revision"] is None else preferences_of(row),
                row["device_ids"],
                row["business_name"],
                row["is_streamed"],
                row["role"],
            )
        )
    return recipients


async def find_staff_roles(uow: UnitOfWork, user_id: UUID) -> list[str] | None:
    """Return the user's staff roles; None when identity has not published any."""
    roles: list[str] | None = await uow.fetch_value(_STAFF_ROLES, user_id)
    return roles


async def list_staff(uow: UnitOfWork, roles: Collection[str]) -> list[UUID]:
    """Return the users who hold any of the staff roles."""
    return [user_id for (user_id,) in await uow.fetch(_STAFF, sorted(roles))]


async def list_agents_of_hub(uow: UnitOfWork, hub_id: UUID) -> list[UUID]:
    """Return the agents of the hub."""
    return [user_id for (user_id,) in await uow.fetch(_AGENTS_OF_HUB, hub_id)]


async def find_order_number(uow: UnitOfWork, order_id: UUID) -> str | None:
    """Return the order's number for people; None before its placement arrives, and for one of an earlier version."""
    number: str | None = await uow.fetch_value(_ORDER_NUMBER, order_id)
    return number


async def get_order_summary(uow: UnitOfWork, order_id: UUID) -> OrderSummary:
    """Return the order's summary. Raises OrderUnknown before its placement arrives."""
    row = await uow.fetch_row(_ORDER, order_id)
    if row is None:
        raise OrderUnknown(order_id)
    return OrderSummary(*row)
