"""The values of the API's query parameters that accept one of a few: `make documents` writes `choices.json`."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

_VALUES: Final[Mapping[str, Mapping[str, Sequence[str]]]] = json.loads(Path(__file__).with_suffix(".json").read_bytes())
_WITH_IDS: Final = [(re.compile(re.sub(r"{\w+}", "[^/]+", path)), path) for path in _VALUES if "{" in path]


def parameters_of(path: str) -> Mapping[str, Sequence[str]]:
    """Return those parameters of `GET path` with their values. An id may stand in the path."""
    known = path if path in _VALUES else next((one for pattern, one in _WITH_IDS if pattern.fullmatch(path)), "")
    return _VALUES.get(known, {})
