"""Request models of the preferences (contract section 12)."""

from datetime import time
from typing import Annotated, Self

from pydantic import BeforeValidator, Field, model_validator

from common.web.schemas import RequestBody
from notifications.deliveries.domain.channels import Preferences
from notifications.deliveries.domain.quiet_hours import TIMEZONE_DEFAULT, QuietHours, is_timezone


def _clock_time(value: object) -> object:
    if not isinstance(value, str) or len(value) != len("22:00") or value[2] != ":" or not value.isascii():
        raise ValueError("must be a time such as 22:00")
    return value


ClockTime = Annotated[time, BeforeValidator(_clock_time)]


class ChannelPreferences(RequestBody):
    """The channels that messages may use; all four are required."""

    push: Annotated[bool, Field(strict=True)]
    messaging: Annotated[bool, Field(strict=True)]
    sms: Annotated[bool, Field(strict=True)]
    email: Annotated[bool, Field(strict=True)]


class QuietHoursPreference(RequestBody):
    """A range of the local day, possibly over midnight; `timezone` is a name of the tz database."""

    start: Annotated[ClockTime, Field(alias="from")]
    end: Annotated[ClockTime, Field(alias="to")]
    timezone: Annotated[str, Field(max_length=64)] = TIMEZONE_DEFAULT

    @model_validator(mode="after")
    def check_times(self) -> Self:
        if self.start == self.end:
            raise ValueError("from and to must differ")
        if not is_timezone(self.timezone):
            raise ValueError("timezone must be a name such as Africa/Lagos")
        return self


class ReplacePreferencesRequest(RequestBody):
    """Replace the preferences. Without `revision` the last writer wins; a stale one is 409.

    Without `optionalMail` it is unchanged: a client without support for it must not undo an unsubscription.
    """

    channels: ChannelPreferences
    quiet_hours: QuietHoursPreference | None = None
    optional_mail: Annotated[bool, Field(strict=True)] | None = None
    locale: Annotated[str, Field(pattern="^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$", max_length=35)] = "en"
    revision: Annotated[int, Field(strict=True, ge=0, le=2**31 - 1)] | None = None

    def to_preferences(self) -> Preferences:
        window = self.quiet_hours
        quiet = None if window is None else QuietHours(window.start, window.end, window.timezone)
        zone = TIMEZONE_DEFAULT if window is None else window.timezone
        is_enabled = self.optional_mail is not False
        return Preferences(self.channels.model_dump(), quiet, zone, self.locale, optional_mail=is_enabled)
