"""The parameters of a statement whose conditions are chosen at run time, or which is a part of another one."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

_PARAMETER: Final = re.compile(r"\$(\d+)")


class Parameters:
    """The values of a statement's parameters. Each value has one number; the text of a condition never holds a
    value.
    """

    def __init__(self, *values: object) -> None:
        """Begin with values whose numbers the fixed part of the statement names."""
        self.values: list[Any] = list(values)

    def bind(self, value: object) -> str:
        """Add a value; returns its parameter, such as `$3`."""
        self.values.append(value)
        return f"${len(self.values)}"

    def condition(self, template: str, *values: object) -> str:
        """Return a condition with a parameter for each `{}` of its template."""
        return template.format(*(self.bind(value) for value in values))

    def conditions(self, templates: Mapping[str, str], filters: Mapping[str, object]) -> list[str]:
        """Return the conditions of the given filters, by their names. Each combination of filters has its own plan."""
        return [self.condition(templates[name], value) for name, value in filters.items()]


def with_places_after(count: int, statement: str) -> str:
    """Return the statement as a part of another one, whose `count` parameters come first."""
    return _PARAMETER.sub(lambda place: f"${int(place[1]) + count}", statement)


def all_of(conditions: Iterable[str]) -> str:
    """Return the conditions joined by AND; `true` for none."""
    return " AND ".join(conditions) or "true"
