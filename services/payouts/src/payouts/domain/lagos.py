"""Local time of vendors: Africa/Lagos, one hour ahead of UTC all year, so that no zone table is needed."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Self

from common.primitives.clock import LAGOS
from common.primitives.problems import ValidationFailed

ZONE: Final = "Africa/Lagos"
# No marketplace existed before. A calendar's first and last year have no month before or after them.
YEARS: Final = range(2000, 10_000)


@dataclass(frozen=True, slots=True)
class Month:
    """A calendar month in Lagos: from `start` up to, not including, `end`, both in UTC."""

    name: str
    start: datetime
    end: datetime

    @classmethod
    def of(cls, name: str, now: datetime) -> Self:
        """Return the month of a text such as `2026-11`. Raises ValidationFailed (`month`) for another form or a future
        month.
        """
        month = cls.named(name)
        if month.start > now:
            raise ValidationFailed.of("month", f"has not begun yet in {ZONE}")
        return month

    @classmethod
    def named(cls, name: str) -> Self:
        """Return the month of a text such as `2026-11`, also a future one. Raises ValidationFailed (`month`)."""
        year, _, number = name.partition("-")
        digits = f"{year}{number}"
        if not (len(year) == 4 and len(number) == 2 and digits.isascii() and digits.isdigit()):
            raise ValidationFailed.of("month", "must be a year and a month such as 2026-11")
        if int(year) not in YEARS or not 1 <= int(number) <= 12:
            raise ValidationFailed.of("month", "is in no calendar of ours; must be such as 2026-11")
        return cls(name, _first_of(int(year), int(number)), _first_of(int(year), int(number) + 1))


def _first_of(year: int, number: int) -> datetime:
    """Return the start of the month; the thirteenth is the next year's first."""
    years, index = divmod(number - 1, 12)
    if year + years > 9999:
        return datetime.max.replace(tzinfo=UTC)
    return datetime(year + years, index + 1, 1, tzinfo=LAGOS).astimezone(UTC)
