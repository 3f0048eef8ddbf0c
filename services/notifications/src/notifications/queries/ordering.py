"""The order and the cut of a page."""

from common.web.http import OffsetPage


def ordered(column: str, page: OffsetPage, first_parameter: int) -> str:
    """The end of a statement that reads one page; `first_parameter` is the number of its limit."""
    direction = "DESC" if page.descending else "ASC"
    return f" ORDER BY {column} {direction}, id {direction} LIMIT ${first_parameter} OFFSET ${first_parameter + 1}"
