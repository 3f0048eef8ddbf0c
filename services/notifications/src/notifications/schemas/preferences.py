"""Shapes of the preferences (contract section 12)."""

from datetime import time
from typing import Annotated, Self

from pydantic import BeforeValidator, Field, model_validator

from common.web.schemas import RequestBody, ResponseShape
from notifications.domain.channels import Preferences
from notifications.domain.quiet_hours import TIMEZONE_DEFAULT, QuietHours, is_timezone


def _clock_time(value: object) -> object:
    if not isinstance(value, str) or len(value) != len("22:00") or value[2] != ":" or not value.isascii():
        raise ValueError("must be a time such as 22:00")
    return value


ClockTime = Annotated[time, BeforeValidator(_clock_time)]


class ChannelPreferences(RequestBody):
    """Which channels messages may go by; all four."""

    push: Annotated[bool, Field(strict=True)]
    messaging: Annotated[bool, Field(strict=True)]
    sms: Annotated[bool, Field(strict=True)]
    email: Annotated[bool, Field(strict=True)]


class QuietHoursPreference(RequestBody):
    """Hours of the local day, perhaps over midnight; `timezone` is a name of the tz database."""

    begins: Annotated[ClockTime, Field(alias="from")]
    ends: Annotated[ClockTime, Field(alias="to")]
    timezone: Annotated[str, Field(max_length=64)] = TIMEZONE_DEFAULT

    @model_validator(mode="after")
    def make_sense(self) -> Self:
        if self.begins == self.ends:
            raise ValueError("from and to must differ")
        if not is_timezone(self.timezone):
            raise ValueError("timezone must be a name such as Africa/Lagos")
        return self


class PreferencesRequest(RequestBody):
    """Replaces the preferences. Without `revision` the last writer wins; with it a change since then is 409."""

    channels: ChannelPreferences
    quiet_hours: QuietHoursPreference | None = None
    locale: Annotated[str, Field(pattern="^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$", max_length=35)] = "en"
    revision: Annotated[int, Field(strict=True, ge=0)] | None = None

    def wanted(self) -> Preferences:
        """The same in the words of the domain."""
        wish = self.quiet_hours
        quiet = None if wish is None else QuietHours(wish.begins, wish.ends, wish.timezone)
        zone = TIMEZONE_DEFAULT if wish is None else wish.timezone
        return Preferences(self.channels.model_dump(), quiet, zone, self.locale)


class QuietHoursShape(ResponseShape):
    begins: Annotated[str, Field(alias="from")]
    ends: Annotated[str, Field(alias="to")]
    timezone: str


class PreferencesShape(ResponseShape):
    """What is in force: where the caller said nothing, the default. `revision` is 0 until they say something."""

    channels: dict[str, bool]
    quiet_hours: QuietHoursShape | None
    locale: str
    revision: int
