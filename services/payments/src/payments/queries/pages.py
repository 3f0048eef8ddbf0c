"""Offset lists: one page of items and the total count."""

from typing import Any

from common.web.http import OffsetPage

Page = tuple[list[dict[str, Any]], int]


def ordered(page: OffsetPage, columns: dict[str, str], tie: str) -> str:
    """The ORDER BY of an allow-listed sort; the tie-breaker makes the order total."""
    direction = "DESC" if page.descending else "ASC"
    return f"ORDER BY {columns[page.sort]} {direction}, {tie} {direction}"
