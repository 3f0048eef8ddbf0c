"""Notify the people of a shop."""

from collections.abc import Mapping
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.json_records import Json
from notifications.deliveries.domain.deliveries import notification_id_of
from notifications.deliveries.domain.shop_notices import SHOP_NOTICES
from notifications.deliveries.use_cases.deliveries.record_deliveries import DeliveryContext
from notifications.deliveries.use_cases.deliveries.record_together import UserNotification, record_together


def notify_shop(
    uow: UnitOfWork,
    delivery_context: DeliveryContext,
    vendor_id: UUID,
    template: str,
    parameters: Mapping[str, Json],
    *about: object,
    subject_id: UUID | None = None,
) -> None:
    """Notify the owner of a vendor, and the members of its shop by `SHOP_NOTICES`, as `notify_user` does for a user.

    `businessName` is added to the parameters. A member's message has only the parameters of its own template.
    """
    notification_id, by_role = notification_id_of(template, *about), SHOP_NOTICES[template]
    message = UserNotification(
        delivery_context, None, template, parameters, notification_id, about, vendor_id, subject_id, by_role
    )
    uow.defer(record_together, message)
