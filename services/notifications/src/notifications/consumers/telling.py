"""What several handlers need to tell somebody something."""

from typing import TYPE_CHECKING, Any
from uuid import UUID

from common.database import UnitOfWork
from notifications import queries
from notifications.domain.deliveries import Wanted, notification_id_of
from notifications.domain.errors import OrderUnknown, VendorUnknown
from notifications.use_cases.deliver_notification import deliver_notification

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


async def mail(
    uow: UnitOfWork,
    dependencies: "Dependencies",
    user_id: UUID,
    template: str,
    parameters: dict[str, Any],
    about: UUID,
) -> None:
    contact = await queries.find_contact(uow, user_id)
    if contact is not None and contact.is_erased:
        return
    wanted = Wanted(
        notification_id=notification_id_of(template, about),
        user_id=user_id,
        channel="email",
        template=template,
        parameters=parameters,
    )
    await deliver_notification(uow, wanted, dependencies.desk())


async def mail_vendor(
    uow: UnitOfWork,
    dependencies: "Dependencies",
    vendor_id: UUID,
    template: str,
    parameters: dict[str, Any],
    about: UUID,
) -> None:
    vendor = await vendor_of(uow, vendor_id)
    named = {**parameters, "businessName": vendor["business_name"]}
    await mail(uow, dependencies, vendor["owner_user_id"], template, named, about)
