"""Notify a user on every channel of a template."""

from collections.abc import Mapping
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.json_records import Json
from notifications.deliveries.domain.deliveries import notification_id_of
from notifications.deliveries.use_cases.deliveries.record_deliveries import DeliveryContext
from notifications.deliveries.use_cases.deliveries.record_together import UserNotification, record_together


def notify_user(
    uow: UnitOfWork,
    delivery_context: DeliveryContext,
    user_id: UUID | None,
    template: str,
    parameters: Mapping[str, Json],
    *about: object,
    vendor_id: UUID | None = None,
    subject_id: UUID | None = None,
) -> None:
    """Record the message for each channel of `CHANNELS_BY_TEMPLATE` that is configured and reaches the user.

    `about` identifies the fact: a repetition creates nothing. `subject_id` is the id of the subject where no parameter
    names it. Opt-outs apply except to mandatory messages. Without any channel the feed shows it. An erased user
    receives nothing.

    All messages of a transaction are recorded together before its commit, which raises ContactUnknown and
    VendorUnknown.
    """
    notification_id = notification_id_of(template, *about)
    message = UserNotification(
        delivery_context, user_id, template, parameters, notification_id, about, vendor_id, subject_id
    )
    uow.defer(record_together, message)
