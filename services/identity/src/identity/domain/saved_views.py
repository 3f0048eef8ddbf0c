"""Saved views of the console's lists."""

from typing import Final, NamedTuple

# Some for each list that a person reads daily; more is a list to search by itself.
VIEWS_MAX: Final = 30


class ViewContent(NamedTuple):
    """A list by its path in the console, the name of the view, and the query of the list's address."""

    path: str
    name: str
    query: str
