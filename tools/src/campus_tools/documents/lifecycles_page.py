"""The HTML page of all lifecycles, without scripts: a diagram and a table for each state machine."""

from collections.abc import Iterator, Sequence
from html import escape
from typing import Any, Final

from api_gateway.frame import code, prose, table
from api_gateway.frame import page as framed
from campus_tools.documents.lifecycles import LIFECYCLES
from common.primitives.lifecycles import Lifecycle

# The diagram is as wide as a small phone's text, and is never scaled below it.
_WIDTH: Final = 320
_BOX_LEFT, _BOX_WIDTH = 100, 120
_LINE, _GAP = 18, 34
_STEP: Final = 12

# Some states have exactly the same neighbours: they share a box.
Box = tuple[str, ...]


def page() -> str:
    """Return the whole page."""
    lines = ["<h1>Lifecycles</h1>"]
    lines.append(
        "<p>The states of each resource, and who causes a transition. An arrow leads from one state to another; the "
        "table below names its triggers. States with the same arrows share a box.</p>"
    )
    lines.append(
        "<ul>" + "".join(f'<li><a href="#{one.name.lower()}">{one.name}</a></li>' for one in LIFECYCLES) + "</ul>"
    )
    for one in LIFECYCLES:
        lines += _section(one)
    return framed("Lifecycles", "\n".join(lines), current="/lifecycles")


def _section(lifecycle: Lifecycle[Any, Any]) -> Iterator[str]:
    yield f'<h2 id="{lifecycle.name.lower()}">{lifecycle.name}</h2>\n<p>{prose(lifecycle.meaning)}</p>'
    yield _diagram(lifecycle)
    rows = []
    for trigger, rule in lifecycle.rules.items():
        by_after: dict[str, list[str]] = {}
        # A rule's states may come from a set, whose order changes from run to run.
        for state in lifecycle.states_before(trigger):
            after = rule.to[state]
            by_after.setdefault(after if after != state else "unchanged", []).append(state)
        for number, (after, before) in enumerate(by_after.items()):
            named = f"{code(trigger)}<br>{prose(rule.by)}" if number == 0 else ""
            target = after if after == "unchanged" else code(after)
            rows.append((named, ", ".join(map(code, before)), target))
    yield table(("Trigger", "From", "To"), rows, f"{lifecycle.name}: every transition")


def _diagram(lifecycle: Lifecycle[Any, Any]) -> str:
    boxes = _boxes(lifecycle)
    box_of = {state: number for number, box in enumerate(boxes) for state in box}
    arrows = sorted(
        {(box_of[before], box_of[after]) for before, after in lifecycle.transitions if box_of[before] != box_of[after]},
        # A set has another order in each process.
        key=lambda arrow: (abs(arrow[0] - arrow[1]), arrow),
    )
    tops: list[int] = []
    bottom = 4
    for box in boxes:
        tops.append(bottom)
        bottom += len(box) * _LINE + 8 + _GAP
    heights = [len(box) * _LINE + 8 for box in boxes]
    marker = f"arrow-{lifecycle.name.lower()}"
    parts = [
        f'<svg class="lifecycle" viewBox="0 0 {_WIDTH} {bottom - _GAP + 4}" width="{_WIDTH}" '
        f'height="{bottom - _GAP + 4}" role="img" '
        f'aria-label="Diagram of the states of: {lifecycle.name}. The table below has the same transitions as text.">',
        f'<defs><marker id="{marker}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
        'orient="auto">'
        '<path d="M0 0 8 4 0 8z"/></marker></defs>',
    ]
    depths = {1: 0, -1: 0}
    for before, after in arrows:
        parts.append(_arrow(before, after, tops, heights, marker, depths))
    for box, top, height in zip(boxes, tops, heights, strict=True):
        parts.append(f'<rect x="{_BOX_LEFT}" y="{top}" width="{_BOX_WIDTH}" height="{height}" rx="5"/>')
        for line, state in enumerate(box):
            y = top + 4 + _LINE * line + 13
            parts.append(f'<text x="{_BOX_LEFT + _BOX_WIDTH // 2}" y="{y}">{escape(state)}</text>')
    return "".join([*parts, "</svg>"])


def _arrow(
    before: int, after: int, tops: Sequence[int], heights: Sequence[int], marker: str, depths: dict[int, int]
) -> str:
    """Return a straight arrow to the next box, or an arc next to the boxes: down on the right, up on the left."""
    if after == before + 1:
        x = _BOX_LEFT + _BOX_WIDTH // 2
        return f'<path d="M{x} {tops[before] + heights[before]}V{tops[after] - 1}" marker-end="url(#{marker})"/>'
    side = 1 if after > before else -1
    depths[side] += 1
    edge = _BOX_LEFT + _BOX_WIDTH if side == 1 else _BOX_LEFT
    depth = min(12 + _STEP * depths[side] // 2, _BOX_LEFT - 6)
    start = tops[before] + heights[before] * (2 if side == 1 else 1) // 3
    end = tops[after] + heights[after] * (1 if side == 1 else 2) // 3
    control = edge + side * depth
    return (
        f'<path d="M{edge} {start}C{control} {start} {control} {end} {edge + side} {end}" marker-end="url(#{marker})"/>'
    )


def _boxes(lifecycle: Lifecycle[Any, Any]) -> list[Box]:
    """Return the states in order, those with the same neighbours together."""
    edges = {(before, after) for before, after in lifecycle.transitions if before != after}
    boxes: list[Box] = []
    for state in lifecycle.states:
        fitting = [number for number, box in enumerate(boxes) if _are_alike(box[0], state, edges)]
        if fitting:
            boxes[fitting[0]] = (*boxes[fitting[0]], state)
        else:
            boxes.append((state,))
    return boxes


def _are_alike(one: str, other: str, edges: set[tuple[str, str]]) -> bool:
    swap = {one: other, other: one}
    swapped = {(swap.get(before, before), swap.get(after, after)) for before, after in edges}
    return swapped == edges
