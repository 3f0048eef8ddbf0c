"""The values of the API's query parameters that accept one of a few: `make documents` writes `choices.json`."""

import json
import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Final

from console import formats

Choices = tuple[tuple[str, str], ...]
"""Values, each with its words for people."""

_VALUES: Final[Mapping[str, Mapping[str, Sequence[str]]]] = json.loads(
    files("console").joinpath("choices.json").read_bytes()
)
_WITH_IDS: Final = [(re.compile(re.sub(r"{\w+}", "[^/]+", path)), path) for path in _VALUES if "{" in path]


def api_values(path: str, parameter: str) -> tuple[str, ...]:
    """Return the values of a parameter of `GET path`. Raises KeyError: the API accepts others too."""
    return tuple(_parameters_of(path)[parameter])


def choices_of(path: str, parameter: str) -> Choices:
    """Return the values with their words; empty where the API accepts others too."""
    return choices(*_parameters_of(path).get(parameter, ()))


def _parameters_of(path: str) -> Mapping[str, Sequence[str]]:
    known = path if path in _VALUES else next((one for pattern, one in _WITH_IDS if pattern.fullmatch(path)), "")
    return _VALUES.get(known, {})


def choices(*values: str) -> Choices:
    """Options of a filter: a state in its words for people, any other word as it is."""
    return tuple((value, formats.state_words(value)) for value in values)
