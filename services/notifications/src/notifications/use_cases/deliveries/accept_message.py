"""Take a message from outside, with its secrets in the clear for this moment only."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.encryption import Encryptor
from notifications import queries, store
from notifications.domain.channels import goes_always
from notifications.domain.deliveries import EncryptedValue, NotificationRequest
from notifications.domain.errors import ChannelNotConfigured
from notifications.domain.templates import names_to_encrypt, read_parameters, template_of
from notifications.use_cases.deliveries.deliver_notification import DeliveryContext, deliver_notification


async def accept_message(
    uow: UnitOfWork,
    delivery_context: DeliveryContext,
    sealer: Encryptor,
    *,
    notification_id: UUID,
    user_id: UUID,
    channel: str,
    template: str,
    values: Mapping[str, Any],
    sensitive: bool,
) -> dict[str, Any]:
    """Seals what is secret before anything is written, then delivers as the consumers do (contract section 12).

    `values` are as free as the contract's `data`: see `take_parameters`. A PIN that nobody says has arrived goes on by the next
    channel. What the person switched off is written down as failed and not sent. Raises what `deliver_notification` raises.
    """
    if channel not in delivery_context.channels:
        raise ChannelNotConfigured(channel, delivery_context.channels)
    form = template_of(template, channel)
    taken = read_parameters(form, values)
    to_seal = names_to_encrypt(form, sensitive=sensitive)
    context = str(notification_id)
    wanted = NotificationRequest(
        notification_id=notification_id,
        user_id=user_id,
        channel=channel,
        template=template,
        parameters={name: value for name, value in taken.items() if name not in to_seal},
        sealed={
            name: EncryptedValue(sealer.encrypt(str(value), context), context)
            for name, value in taken.items()
            if name in to_seal
        },
    )
    if template == "delivery_pin":
        await store.start_watch(
            uow, notification_id, None, 0, channel, delivery_context.now + delivery_context.pin_receipt
        )
    preferences = await queries.find_preferences(uow, user_id)
    recipients = await deliver_notification(
        uow,
        wanted,
        delivery_context,
        in_feed=form.sensitive or not sensitive,
        complete=False,
        preferences=preferences,
        is_refused=preferences.refuses(channel) and not goes_always(template, channel),
    )
    return await queries.find_delivery(uow, notification_id, channel, recipients)
