"""Opening hours of a shop or hub, as forms show and send them."""

from collections.abc import Sequence
from typing import Final

from console.api import Json
from console.visit import InvalidField, Visit

DAYS: Final = (
    ("mon", "Monday"),
    ("tue", "Tuesday"),
    ("wed", "Wednesday"),
    ("thu", "Thursday"),
    ("fri", "Friday"),
    ("sat", "Saturday"),
    ("sun", "Sunday"),
)


def days_of(periods: Sequence[Json]) -> list[tuple[str, str, str]]:
    """Return each day with its name and its periods as a form shows them."""
    return [
        (day, name, ", ".join(f"{one['from']}-{one['to']}" for one in periods if one["day"] == day))
        for day, name in DAYS
    ]


def hours_of(visit: Visit) -> list[Json]:
    """Return the periods of the posted form. Raises InvalidField."""
    return [period for day, _ in DAYS for period in _periods(visit, day)]


def _periods(visit: Visit, day: str) -> list[Json]:
    """Return the periods of a day as they are typed: `08:00-12:00, 13:00-17:00`."""
    periods = []
    for text in visit.form[day].replace("\N{EN DASH}", "-").split(","):
        opens, dash, closes = (part.strip() for part in text.partition("-"))
        if dash:
            # The API reads 08:00 only.
            periods.append({"day": day, "from": opens.zfill(5), "to": closes.zfill(5)})
        elif text.strip():
            raise InvalidField(day, "write periods such as 08:00-12:00, 13:00-17:00")
    return periods
