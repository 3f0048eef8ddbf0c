"""Accept a message request with plain-text secrets."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.encryption import Encryptor
from common.primitives.json_records import Json, JsonObject
from common.primitives.public_numbers import NumberKind, read_number_or_id
from notifications.deliveries.domain.deliveries import EncryptedValue, NotificationRequest
from notifications.deliveries.domain.errors import ChannelNotConfigured
from notifications.deliveries.domain.templates import Template, names_to_encrypt, read_parameters, template_of
from notifications.deliveries.queries.contacts import find_order_number
from notifications.deliveries.queries.deliveries import find_delivery
from notifications.deliveries.queries.preferences import find_preferences
from notifications.deliveries.responses.deliveries import NotificationDelivery
from notifications.deliveries.store.pins import start_watch
from notifications.deliveries.use_cases.deliveries.deliver_notification import deliver_notification
from notifications.deliveries.use_cases.deliveries.record_deliveries import DeliveryContext


@dataclass(frozen=True, slots=True)
class RequestedMessage:
    """A message of deliver-notification. `values` is the caller's `data`, see `read_parameters`."""

    notification_id: UUID
    user_id: UUID
    channel: str
    template: str
    values: Mapping[str, Json]
    sensitive: bool


async def accept_message(
    uow: UnitOfWork,
    delivery_context: DeliveryContext,
    encryptor: Encryptor,
    message: RequestedMessage,
) -> NotificationDelivery:
    """Encrypt the secrets, record the delivery and return its status (contract section 12).

    A PIN without a receipt continues on the next channel. A channel
    that the user switched off gives a failed delivery. Raises what `deliver_notification` raises.
    """
    notification_id, channel, template = message.notification_id, message.channel, message.template
    if channel not in delivery_context.channels:
        raise ChannelNotConfigured(channel, delivery_context.channels)
    definition = template_of(template, channel)
    parameters = await _with_order_number(uow, definition, read_parameters(definition, message.values))
    secret_names = names_to_encrypt(definition, sensitive=message.sensitive)
    context = str(notification_id)
    request = NotificationRequest(
        notification_id=notification_id,
        user_id=message.user_id,
        channel=channel,
        template=template,
        parameters={name: value for name, value in parameters.items() if name not in secret_names},
        encrypted={
            name: EncryptedValue(encryptor.encrypt(str(value), context), context)
            for name, value in parameters.items()
            if name in secret_names
        },
    )
    if template == "delivery_pin":
        await start_watch(uow, notification_id, None, 0, channel, delivery_context.now + delivery_context.pin_receipt)
    preferences = await find_preferences(uow, message.user_id)
    recipients = await deliver_notification(
        uow,
        request,
        delivery_context,
        in_feed=definition.sensitive or not message.sensitive,
        complete=False,
        preferences=preferences,
    )
    return await find_delivery(uow, notification_id, channel, recipients)


async def _with_order_number(uow: UnitOfWork, template: Template, parameters: JsonObject) -> JsonObject:
    """Add the number of the order that `orderId` names by its id or by its number, unless the caller gave one."""
    if "orderNumber" not in template.parameters or "orderNumber" in parameters:
        return parameters
    number = read_number_or_id(str(parameters.get("orderId", "")), NumberKind.ORDER)
    if isinstance(number, UUID):
        number = await find_order_number(uow, number)
    return parameters if number is None else {**parameters, "orderNumber": number}
