"""Notify a user on every channel of a template."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from notifications import queries
from notifications.domain.channels import CHANNELS_BY_TEMPLATE
from notifications.domain.deliveries import NotificationRequest, notification_id_of
from notifications.domain.errors import ContactUnknown
from notifications.domain.templates import check_complete, template_of
from notifications.use_cases.deliveries.queue_deliveries import DeliveryContext, queue_deliveries


async def notify_user(
    uow: UnitOfWork,
    delivery_context: DeliveryContext,
    user_id: UUID,
    template: str,
    parameters: Mapping[str, Any],
    *about: object,
    notification_id: UUID | None = None,
    subject_id: UUID | None = None,
) -> None:
    """Record the message for each channel of `CHANNELS_BY_TEMPLATE` that is configured and reaches the user.

    `about` identifies the fact, unless `notification_id` is given: a repetition creates nothing. `subject_id` is the id of
    the subject where no parameter names it. Opt-outs apply except to
    mandatory messages. Without any channel the feed shows it. An erased user receives nothing. Raises ContactUnknown.
    """
    recipient = await queries.find_recipient(uow, user_id, delivery_context.device_kinds)
    if recipient is None:
        raise ContactUnknown
    if recipient.contact.is_erased:
        return
    preferences, channels = recipient.preferences, CHANNELS_BY_TEMPLATE[template]
    addresses = [
        (channel, address)
        for channel in channels
        if channel in delivery_context.channels and preferences.permits(template, channel)
        for address in recipient.addresses_on(channel)
    ]
    notification_id = notification_id or notification_id_of(template, *about)
    request = NotificationRequest(
        notification_id, channels[0], template, parameters, user_id=user_id, subject_id=subject_id
    )
    check_complete(template_of(template, request.channel), parameters)
    await queue_deliveries(
        uow, request, addresses, delivery_context, contact=recipient.contact, preferences=preferences
    )
