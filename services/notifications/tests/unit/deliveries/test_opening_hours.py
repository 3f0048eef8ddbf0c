"""Opening hours for people."""

import pytest

from notifications.deliveries.domain.opening_hours import Period, hours_text


def period(day: str, opens: str = "08:00", closes: str = "18:00") -> Period:
    return Period(day, opens, closes)


@pytest.mark.parametrize(
    ("periods", "text"),
    [
        ([], ""),
        ([period("sun")], "Sun 08:00-18:00"),
        ([period(day) for day in ("tue", "mon", "wed")], "Mon-Wed 08:00-18:00"),
        ([period("mon"), period("wed")], "Mon 08:00-18:00, Wed 08:00-18:00"),
        ([period("mon", "14:00", "18:00"), period("mon", "08:00", "12:00")], "Mon 08:00-12:00 and 14:00-18:00"),
    ],
)
def test_equal_days_that_follow_each_other_are_one(periods: list[Period], text: str) -> None:
    assert hours_text(periods) == text
