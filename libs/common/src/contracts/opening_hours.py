"""The opening hours of a shop or hub in events."""

import msgspec


class OpeningPeriod(msgspec.Struct, frozen=True, kw_only=True, rename={"opens": "from", "closes": "to"}):
    """A period of a day (`mon` to `sun`), in the time of Lagos (`HH:MM`)."""

    day: str
    opens: str
    closes: str
