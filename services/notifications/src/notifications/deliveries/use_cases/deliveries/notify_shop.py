"""Notify the people of a shop."""

from collections.abc import Mapping
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.json_records import Json
from notifications.deliveries.domain.shop_notices import SHOP_NOTICES
from notifications.deliveries.use_cases.deliveries.notify_user import notify_user
from notifications.deliveries.use_cases.deliveries.record_deliveries import DeliveryContext


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
    by_role = SHOP_NOTICES[template]
    notify_user(
        uow,
        delivery_context,
        None,
        template,
        parameters,
        *about,
        vendor_id=vendor_id,
        subject_id=subject_id,
        by_role=by_role,
    )
