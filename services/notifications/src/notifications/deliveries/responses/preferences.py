"""Response models of the preferences (contract section 12)."""

from typing import Annotated

from msgspec import field
from pydantic import GetPydanticSchema

from common.web.response_models import ResponseModel
from contracts.channels import Channel
from notifications.deliveries.schemas.preferences import ChannelPreferences


class QuietHoursWindow(ResponseModel):
    start: str = field(name="from")
    end: str = field(name="to")
    timezone: str


class NotificationPreferences(ResponseModel):
    """The effective preferences, defaults included. `revision` is 0 before the first change.

    `optionalMail`: mails with a link to unsubscribe, about orders and tickets that the app shows as well.
    """

    # The schema of the request, which names the channels.
    channels: Annotated[
        dict[Channel, bool], GetPydanticSchema(lambda _, handler: handler.generate_schema(ChannelPreferences))
    ]
    quiet_hours: QuietHoursWindow | None
    optional_mail: bool
    locale: str
    revision: int
