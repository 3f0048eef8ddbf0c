"""What is known of people, vendors and orders."""

from typing import Any, Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from notifications.domain.deliveries import Contact

_CONTACT: Final = "SELECT user_id, email, phone, full_name FROM contacts WHERE user_id = $1"
_STAFF_ROLES: Final = "SELECT staff_roles FROM contacts WHERE user_id = $1"
_VENDOR: Final = "SELECT vendor_id, owner_user_id, business_name FROM vendors WHERE vendor_id = $1"
_ORDER: Final = """
SELECT order_id, vendor_id, total_minor, delivery_fee_minor, items FROM order_summaries WHERE order_id = $1
"""

_UNDER_REVIEW: Final = "SELECT payment_under_review FROM order_summaries WHERE order_id = $1"


async def payment_is_under_review(uow: UnitOfWork, order_id: UUID) -> bool:
    """Whether a payment for the order reached us and does not pay it as it stands."""
    return bool(await uow.fetch_value(_UNDER_REVIEW, order_id))


async def find_contact(uow: UnitOfWork, user_id: UUID) -> Contact | None:
    """How a user is reached; None when identity has not told yet."""
    row = await uow.fetch_row(_CONTACT, user_id)
    return None if row is None else Contact(**row)


async def find_staff_roles(uow: UnitOfWork, user_id: UUID) -> list[str] | None:
    """Their roles of staff; None when identity has not spoken of them."""
    roles: list[str] | None = await uow.fetch_value(_STAFF_ROLES, user_id)
    return roles


async def find_vendor(uow: UnitOfWork, vendor_id: UUID) -> Any:
    """The vendor's name and owner; None when identity has not told yet."""
    return await uow.fetch_row(_VENDOR, vendor_id)


async def find_order_summary(uow: UnitOfWork, order_id: UUID) -> Any:
    """What a confirmation tells of an order; None when orders has not told yet."""
    return await uow.fetch_row(_ORDER, order_id)
