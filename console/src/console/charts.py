"""Charts as SVG, made on the server. Colors come from the stylesheet by class; a table beside them holds the
numbers.
"""

from collections.abc import Callable, Sequence
from typing import Final

from markupsafe import Markup

WIDTH: Final = 640
HEIGHT: Final = 200
_LEFT: Final = 84
_BOTTOM: Final = 24
_TOP: Final = 12
_BAR_MAX: Final = 72
"""A single bar is no wall."""

Point = tuple[str, int]
"""Label and value."""


def bar_chart(points: Sequence[Point], title: str, shown: Callable[[int], str] = str) -> Markup:
    """Return a bar for each point; `shown` writes a value, such as `naira`."""
    top = max((value for _, value in points), default=0) or 1
    step = min((WIDTH - _LEFT) / max(len(points), 1), _BAR_MAX)
    parts = [_axis(top, shown)]
    for number, (label, value) in enumerate(points):
        height = max(value, 0) * (HEIGHT - _TOP - _BOTTOM) / top
        x, y = _LEFT + number * step + step * 0.1, HEIGHT - _BOTTOM - height
        bar = Markup(
            '<rect class="bar" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"><title>{}: {}</title></rect>'
        )
        parts.append(bar.format(x, y, step * 0.8, height, label, shown(value)))
        parts.append(_label(number, len(points), x + step * 0.4, label))
    return _drawing(title, parts)


def line_chart(points: Sequence[Point], title: str, shown: Callable[[int], str] = str) -> Markup:
    """Return a line through all points."""
    top = max((value for _, value in points), default=0) or 1
    step = (WIDTH - _LEFT - 10) / max(len(points) - 1, 1)
    scale = (HEIGHT - _TOP - _BOTTOM) / top
    places = [
        (_LEFT + number * step, HEIGHT - _BOTTOM - max(value, 0) * scale) for number, (_, value) in enumerate(points)
    ]
    parts = [_axis(top, shown)]
    parts.append(Markup('<polyline class="line" points="{}"/>').format(" ".join(f"{x:.1f},{y:.1f}" for x, y in places)))
    for number, ((label, value), (x, y)) in enumerate(zip(points, places, strict=True)):
        dot = Markup('<circle class="dot" cx="{:.1f}" cy="{:.1f}" r="3"><title>{}: {}</title></circle>')
        parts.append(dot.format(x, y, label, shown(value)))
        parts.append(_label(number, len(points), x, label))
    return _drawing(title, parts)


def _axis(top: int, shown: Callable[[int], str]) -> Markup:
    ground = HEIGHT - _BOTTOM
    lines: list[tuple[float, int]] = [(ground, 0), (_TOP, top)]
    if middle := top // 2:
        # At its own height: half of an odd number is no whole one.
        lines.append((ground - middle * (ground - _TOP) / top, middle))
    rule = Markup(
        '<line class="rule" x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}"/><text class="scale" x="{}" y="{:.1f}">{}</text>'
    )
    return Markup("").join(rule.format(_LEFT, WIDTH, y, y, _LEFT - 6, y + 4, shown(value)) for y, value in lines)


def _label(number: int, count: int, x: float, label: str) -> Markup:
    # About ten labels fit beside each other.
    if number % (count // 10 + 1):
        return Markup("")
    return Markup('<text class="label" x="{:.1f}" y="{}">{}</text>').format(x, HEIGHT - 8, label)


def _drawing(title: str, parts: Sequence[Markup]) -> Markup:
    frame = Markup('<svg class="chart" viewBox="0 0 {} {}" role="img" aria-label="{}"><title>{}</title>{}</svg>')
    return frame.format(WIDTH, HEIGHT, title, title, Markup("").join(parts))
