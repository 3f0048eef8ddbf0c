"""Charts, drawn on the server: columns over time as SVG, and bars of names as a table (decision 184).

Positions are per cent of the width, so that a chart fits 360 and 1280 pixels with the same size of text. Colors come
from the stylesheet by class. Each chart carries its exact numbers as a table.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date, timedelta
from typing import Final

from markupsafe import Markup

Point = tuple[str, int]
"""Label and value; the label of a day is its date, 2026-11-29."""
Shown = Callable[[int], str]
"""Writes a value, such as `naira`."""

_HEIGHT: Final = 180
_TOP: Final = 10
_BELOW: Final = 24
"""Pixels below the columns, for the labels."""
_LABELS_MAX: Final = 6
"""So many dates fit beside each other at 1280 px, and half as many on a phone."""
_STEPS: Final = (1, 2, 5)
DAYS_MAX: Final = 400
_IS_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d")


def column_chart(points: Sequence[Point], title: str, shown: Shown = str, short: Shown = str) -> Markup:
    """Return a column for each point in the order of time, days without one included.

    `shown` writes the exact value, `short` that of the axis. One point is written as a number, none as nothing.
    """
    if len(points) < 2:
        return _figure(points, title, shown)
    drawn = with_empty_days(points)
    marks = ticks(min(value for _, value in drawn), max(value for _, value in drawn))
    low, high = marks[0], marks[-1]

    def height_of(value: int) -> float:
        return _TOP + (high - value) * (_HEIGHT - _TOP) / (high - low)

    scale = [Markup('<text x="100%" y="{:.0f}">{}</text>').format(height_of(mark) + 4, short(mark)) for mark in marks]
    parts = [
        Markup('<line class="rule" x1="0" x2="100%" y1="{0:.1f}" y2="{0:.1f}"/>').format(height_of(mark))
        for mark in marks
    ]
    parts += _columns(drawn, height_of, shown)
    parts += _labels([label for label, _ in drawn])
    svg = Markup('<svg class="{}" height="{}" {}>{}</svg>')
    named = Markup('role="img" aria-label="{}"').format(_summary(drawn, title, shown))
    plot = svg.format("plot", _HEIGHT + _BELOW, named, Markup("").join(parts))
    axis = svg.format("scale", _HEIGHT + _BELOW, Markup('aria-hidden="true"'), Markup("").join(scale))
    return _frame(title, Markup('<div class="drawing">{}{}</div>{}').format(axis, plot, _numbers(drawn, title, shown)))


def bar_chart(points: Sequence[Point], title: str, shown: Shown = str) -> Markup:
    """Return a bar for each name, the exact value beside it. One point is written as a number, none as nothing."""
    if len(points) < 2:
        return _figure(points, title, shown)
    longest = max((abs(value) for _, value in points), default=0) or 1
    row = Markup(
        '<tr><th scope="row">{}</th><td class="drawn"><svg height="14" aria-hidden="true">'
        '<rect class="{}" height="14" rx="2" width="{:.1f}%"><title>{}: {}</title></rect></svg></td>'
        '<td class="number">{}</td></tr>'
    )
    rows = [
        row.format(label, _tone(value), abs(value) * 100 / longest, label, shown(value), shown(value))
        for label, value in points
    ]
    return _frame(title, Markup('<table class="bars"><tbody>{}</tbody></table>').format(Markup("").join(rows)))


def with_empty_days(points: Sequence[Point]) -> list[Point]:
    """Return the points with a zero for each missing day between the first and the last; others are unchanged."""
    days = [_day(label) for label, _ in points]
    known = [day for day in days if day is not None]
    if len(known) < len(points) or (max(known) - min(known)).days >= DAYS_MAX:
        return list(points)
    values = dict(zip(known, (value for _, value in points), strict=True))
    length = (max(known) - min(known)).days
    every = (min(known) + timedelta(days=number) for number in range(length + 1))
    return [(day.isoformat(), values.get(day, 0)) for day in every]


def ticks(low: int, high: int) -> list[int]:
    """Return three to six round values that contain zero and all values."""
    low, high = min(low, 0), max(high, 0)
    least_step = max((high - low + 3) // 4, 1)
    size = 10 ** (len(str(least_step)) - 1)
    step = next(one for one in (*(factor * size for factor in _STEPS), 10 * size) if one >= least_step)
    first, last = low // step, -(-high // step)
    return [number * step for number in range(first, max(last, first + 1) + 1)]


def _columns(points: Sequence[Point], height_of: Callable[[int], float], shown: Shown) -> Iterator[Markup]:
    width, ground = 100 / len(points), height_of(0)
    # The whole height of a day shows its value under the pointer, not only its column.
    column = Markup(
        '<g><title>{}: {}</title><rect class="hit" x="{:.3f}%" y="0" width="{:.3f}%" height="{}"/>'
        '<rect class="{}" x="{:.3f}%" y="{:.1f}" width="{:.3f}%" height="{:.1f}" rx="2"/></g>'
    )
    for number, (label, value) in enumerate(points):
        top, left = min(height_of(value), ground), number * width
        height = abs(height_of(value) - ground)
        yield column.format(
            label, shown(value), left, width, _HEIGHT, _tone(value), left + width * 0.15, top, width * 0.7, height
        )


def _labels(labels: Sequence[str]) -> Iterator[Markup]:
    step = -(-len(labels) // _LABELS_MAX)
    for number in range(0, len(labels), step):
        place = (number + 0.5) * 100 / len(labels)
        anchor = "start" if place < 8 and len(labels) > _LABELS_MAX else "end" if place > 92 else "middle"
        on_wide_only = " extra" if number // step % 2 else ""
        yield Markup('<text class="{}{}" x="{:.2f}%" y="{}">{}</text>').format(
            anchor, on_wide_only, place, _HEIGHT + _BELOW - 8, _short_day(labels[number])
        )


def _numbers(points: Sequence[Point], title: str, shown: Shown) -> Markup:
    row = Markup('<tr><th scope="row">{}</th><td class="number">{}</td></tr>')
    rows = Markup("").join(row.format(label, shown(value)) for label, value in points)
    return Markup(
        '<details class="numbers"><summary>The numbers</summary><table><caption>{}</caption><tbody>{}</tbody></table>'
        "</details>"
    ).format(title, rows)


def _summary(points: Sequence[Point], title: str, shown: Shown) -> str:
    label, value = max(points, key=lambda point: point[1])
    return f"{title}, {points[0][0]} to {points[-1][0]}; the highest is {shown(value)} at {label}"


def _figure(points: Sequence[Point], title: str, shown: Shown) -> Markup:
    number = Markup('<p class="figure"><span>{}, {}</span><strong>{}</strong></p>')
    return Markup("").join(number.format(title, label, shown(value)) for label, value in points)


def _frame(title: str, content: Markup) -> Markup:
    return Markup('<figure class="chart"><figcaption>{}</figcaption>{}</figure>').format(title, content)


def _tone(value: int) -> str:
    return "below" if value < 0 else "column"


def _day(label: str) -> date | None:
    return date.fromisoformat(label) if _IS_DAY.fullmatch(label) else None


def _short_day(label: str) -> str:
    day = _day(label)
    return label if day is None else f"{day:%-d %b}"
