"""What several handlers need to tell somebody something."""

from typing import TYPE_CHECKING, Any
from uuid import UUID

from common.database import UnitOfWork
from notifications import queries
from notifications.domain.deliveries import notification_id_of
from notifications.domain.errors import OrderUnknown, VendorUnknown
from notifications.use_cases.tell_person import tell_person

if TYPE_CHECKING:
    from notifications.app import Dependencies


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


async def tell(
    uow: UnitOfWork,
    dependencies: "Dependencies",
    user_id: UUID,
    template: str,
    parameters: dict[str, Any],
    *about: object,
) -> None:
    """Tells a person by the channels of the message, once for what it is about."""
    await tell_person(uow, dependencies.desk(), user_id, template, parameters, notification_id_of(template, *about))


async def tell_vendor(
    uow: UnitOfWork,
    dependencies: "Dependencies",
    vendor_id: UUID,
    template: str,
    parameters: dict[str, Any],
    *about: object,
) -> None:
    """Tells the owner of a vendor."""
    vendor = await vendor_of(uow, vendor_id)
    named = {**parameters, "businessName": vendor["business_name"]}
    await tell(uow, dependencies, vendor["owner_user_id"], template, named, *about)
