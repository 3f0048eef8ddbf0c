"""Notify the owner of a vendor."""

from collections.abc import Mapping
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.json_records import Json
from notifications.deliveries.use_cases.deliveries.notify_user import notify_user
from notifications.deliveries.use_cases.deliveries.record_deliveries import DeliveryContext


def notify_vendor(
    uow: UnitOfWork,
    delivery_context: DeliveryContext,
    vendor_id: UUID,
    template: str,
    parameters: Mapping[str, Json],
    *about: object,
    subject_id: UUID | None = None,
) -> None:
    """Notify the owner of a vendor and add `businessName` to the parameters, as `notify_user` does for a user."""
    notify_user(uow, delivery_context, None, template, parameters, *about, vendor_id=vendor_id, subject_id=subject_id)
