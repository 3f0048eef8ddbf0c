"""The values of the API's parameters, as a form offers them."""

from collections import Counter
from collections.abc import Sequence

from console import formats
from console.api import Json
from contracts.choices import parameters_of

Choices = tuple[tuple[str, str], ...]
"""Values, each with its words for people."""


def api_values(path: str, parameter: str) -> tuple[str, ...]:
    """Return the values of a parameter of `GET path`. Raises KeyError: the API accepts others too."""
    return tuple(parameters_of(path)[parameter])


def choices_of(path: str, parameter: str) -> Choices:
    """Return the values with their words; empty where the API accepts others too."""
    return choices(*parameters_of(path).get(parameter, ()))


def choices(*values: str) -> Choices:
    """Options of a filter: a state in its words for people, any other word as it is."""
    return tuple((value, formats.state_words(value)) for value in values)


def user_choices(users: Sequence[Json]) -> Choices:
    """Return the id and the name of each user with `userId`, `fullName` and `email`; those of one name have their
    address in it.
    """
    names = Counter(user["fullName"] for user in users)
    return tuple((user["userId"], _name_of(user, is_only=names[user["fullName"]] == 1)) for user in users)


def _name_of(user: Json, *, is_only: bool) -> str:
    name: str | None = user["fullName"]
    if not name:
        return str(user["email"])
    return name if is_only else f"{name}, {user['email']}"
