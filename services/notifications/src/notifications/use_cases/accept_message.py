"""Take a message from outside, with its secrets in the clear for this moment only."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from common.database import UnitOfWork
from common.sealing import Sealer
from notifications import queries, store
from notifications.domain.deliveries import Sealed, Wanted
from notifications.domain.errors import ChannelNotConfigured
from notifications.domain.templates import names_to_seal, take_parameters, template_of
from notifications.domain.ways import goes_always
from notifications.use_cases.deliver_notification import Desk, deliver_notification


async def accept_message(
    uow: UnitOfWork,
    desk: Desk,
    sealer: Sealer,
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
    if channel not in desk.channels:
        raise ChannelNotConfigured(channel, desk.channels)
    form = template_of(template, channel)
    taken = take_parameters(form, values)
    to_seal = names_to_seal(form, sensitive=sensitive)
    context = str(notification_id)
    wanted = Wanted(
        notification_id=notification_id,
        user_id=user_id,
        channel=channel,
        template=template,
        parameters={name: value for name, value in taken.items() if name not in to_seal},
        sealed={
            name: Sealed(sealer.seal(str(value), context), context) for name, value in taken.items() if name in to_seal
        },
    )
    if template == "delivery_pin":
        await store.begin_watch(uow, notification_id, None, 0, channel, desk.now + desk.pin_receipt)
    preferences = await queries.find_preferences(uow, user_id)
    recipients = await deliver_notification(
        uow,
        wanted,
        desk,
        in_feed=form.sensitive or not sensitive,
        complete=False,
        preferences=preferences,
        is_refused=preferences.refuses(channel) and not goes_always(template, channel),
    )
    return await queries.find_delivery(uow, notification_id, channel, recipients)
