"""The series names and labels that a PromQL expression uses."""

import re
from typing import Final

_TEXTS: Final = re.compile(r'"(?:[^"\\]|\\.)*"')
_RANGES: Final = re.compile(r"\[[^\]]*\]")
_GROUPINGS: Final = re.compile(r"\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)")
_SELECTORS: Final = re.compile(r"\{([^}]*)\}")
# A name that no character of a name or number precedes. A parenthesis after it marks a function call.
_NAMES: Final = re.compile(r"(?<![\w:.])([A-Za-z_:][\w:]*)(?!\s*\()(?![\w:])")
_LABELS: Final = re.compile(r"([A-Za-z_]\w*)\s*(?:=~|!~|!=|=)")
_WORDS: Final = frozenset(
    {"and", "or", "unless", "bool", "offset", "by", "without", "on", "ignoring", "group_left", "group_right"}
)


def series_of(expression: str) -> set[str]:
    """Return the names of the series that the expression reads."""
    bare = _RANGES.sub("", _SELECTORS.sub("", _GROUPINGS.sub("", _TEXTS.sub("", expression))))
    return {name for name in _NAMES.findall(bare) if name not in _WORDS}


def labels_of(expression: str) -> set[str]:
    """Return the labels that it matches or groups by."""
    bare = _TEXTS.sub("", expression)
    grouped = {name.strip() for names in _GROUPINGS.findall(bare) for name in names.split(",")}
    matched = {name for inside in _SELECTORS.findall(bare) for name in _LABELS.findall(inside)}
    return (grouped | matched) - {""}
