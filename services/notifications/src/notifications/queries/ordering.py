"""ORDER BY, LIMIT and OFFSET of a page."""

from common.web.http import OffsetPage


def ordered(column: str, page: OffsetPage, first_parameter: int) -> str:
    """Return the clauses of one page; `first_parameter` is the number of the limit parameter."""
    direction = "DESC" if page.descending else "ASC"
    return f" ORDER BY {column} {direction}, id {direction} LIMIT ${first_parameter} OFFSET ${first_parameter + 1}"
