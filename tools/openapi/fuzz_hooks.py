"""The requests that `make fuzz --each-once` sends of those that schemathesis generates (`SCHEMATHESIS_HOOKS`).

A parameter outside the body is text on the wire, so its values of a wrong type take one branch, and so do the methods
that a path does not have: the first two of each are sent. `make fuzz` without `--each-once` sends all of them.
"""

from collections import Counter
from typing import Final

import schemathesis

_SENT_OF_EACH: Final = 2
_LOCATIONS: Final = ("query", "path", "header", "cookie")
_seen: Counter[tuple[str, ...]] = Counter()


@schemathesis.hook
def filter_case(context: schemathesis.HookContext, case: schemathesis.Case) -> bool:
    """Return whether the request is sent."""
    coverage = case.meta.phase.data if case.meta is not None else None
    match getattr(coverage, "scenario", None):
        case "unspecified_http_method":
            branch: tuple[str, ...] = ("method", case.operation.path)
        case "incorrect_type" if coverage.parameter_location in _LOCATIONS and coverage.parameter:
            branch = (case.operation.label, coverage.parameter_location, coverage.parameter)
        case _:
            return True
    _seen[branch] += 1
    return _seen[branch] <= _SENT_OF_EACH
