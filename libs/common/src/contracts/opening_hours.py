"""The opening hours of a shop or hub in events."""

from typing import Literal

import msgspec

Day = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]


class OpeningPeriod(msgspec.Struct, frozen=True, kw_only=True, rename={"opens": "from", "closes": "to"}):
    """A period of a day (`mon` to `sun`), in the time of Lagos (`HH:MM`)."""

    day: str
    opens: str
    closes: str
