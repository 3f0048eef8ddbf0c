"""Opening hours for people."""

from collections.abc import Sequence
from typing import Final, NamedTuple, get_args

from contracts.opening_hours import Day

_DAYS: Final = get_args(Day)


class Period(NamedTuple):
    """A period of a day (`mon` to `sun`), in the time of Lagos (`HH:MM`)."""

    day: str
    opens: str
    closes: str


def hours_text(periods: Sequence[Period]) -> str:
    """Return the hours of a week, equal days in a row as one: `Mon-Fri 08:00-18:00, Sat 09:00-13:00`.

    A day without a period is closed.
    """
    of_day = {
        day: " and ".join(
            f"{one.opens}-{one.closes}" for one in sorted(periods, key=lambda one: one.opens) if one.day == day
        )
        for day in _DAYS
    }
    runs: list[tuple[str, str, str]] = []
    for day, hours in of_day.items():
        if runs and runs[-1][2] == hours:
            runs[-1] = (runs[-1][0], day, hours)
        else:
            runs.append((day, day, hours))
    return ", ".join(
        f"{first.title() if first == last else f'{first.title()}-{last.title()}'} {hours}"
        for first, last, hours in runs
        if hours
    )
