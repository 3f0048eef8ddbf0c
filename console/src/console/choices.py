"""The values of the API's parameters, as a form offers them."""

from console import formats
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
