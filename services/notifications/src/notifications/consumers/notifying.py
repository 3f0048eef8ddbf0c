"""What several handlers need to tell somebody something."""

from typing import Any
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from notifications import queries
from notifications.dependencies import Dependencies
from notifications.domain.deliveries import notification_id_of
from notifications.domain.errors import OrderUnknown, VendorUnknown
from notifications.use_cases.deliveries.notify_user import notify_user


async def order_of(uow: UnitOfWork, order_id: UUID) -> Any:
    order = await queries.find_order_summary(uow, order_id)
    if order is None:
        raise OrderUnknown(order_id)
    return order


async def vendor_of(uow: UnitOfWork, vendor_id: UUID) -> Any:
    vendor = await queries.find_vendor(uow, vendor_id)
    if vendor is None:
        raise VendorUnknown(vendor_id)
    return vendor


async def notify(
    uow: UnitOfWork,
    dependencies: Dependencies,
    user_id: UUID,
    template: str,
    parameters: dict[str, Any],
    *about: object,
) -> None:
    """Tells a person by the channels of the message, once for what it is about."""
    await notify_user(
        uow, dependencies.delivery_context(), user_id, template, parameters, notification_id_of(template, *about)
    )


async def notify_vendor(
    uow: UnitOfWork,
    dependencies: Dependencies,
    vendor_id: UUID,
    template: str,
    parameters: dict[str, Any],
    *about: object,
) -> None:
    """Tells the owner of a vendor."""
    vendor = await vendor_of(uow, vendor_id)
    named = {**parameters, "businessName": vendor["business_name"]}
    await notify(uow, dependencies, vendor["owner_user_id"], template, named, *about)
