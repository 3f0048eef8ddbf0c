"""The named errors of an endpoint, read from its code: what it and the functions that it names can raise.

An error that is named only to be caught is listed too. Errors of methods are not found.
"""

from collections.abc import Callable, Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any, Final

from common.primitives.problems import Problem, StaleRevision

_STANDARD: Final = "common.primitives.problems"
# Faults of ours in the ledger, which a request cannot cause.
_INTERNAL: Final = "common.ledger"


def errors_raised_by(endpoint: Callable[..., Any]) -> list[type[Problem]]:
    """Return the named errors below 500 with a text of their own, sorted by name."""
    package = endpoint.__module__.partition(".")[0]
    found: set[type[Problem]] = set()
    seen: set[FunctionType] = set()
    ahead: list[Any] = [endpoint]
    while ahead:
        function = ahead.pop()
        if not isinstance(function, FunctionType) or function in seen:
            continue
        seen.add(function)
        for named in _named_by(function):
            if isinstance(named, type) and issubclass(named, Problem):
                found.add(named)
            elif (getattr(named, "__module__", None) or "").partition(".")[0] in (package, "common"):
                ahead.append(named)
    return sorted(filter(_is_shown, found), key=lambda error: error.__name__)


def _is_shown(error: type[Problem]) -> bool:
    is_named = error is StaleRevision or not error.__module__.startswith((_STANDARD, _INTERNAL))
    return is_named and error.status < 500 and "detail" in vars(error)


def _named_by(function: FunctionType) -> Iterator[Any]:
    for code in _codes_in(function.__code__):
        known = [function.__globals__[name] for name in code.co_names if name in function.__globals__]
        yield from known
        for module in known:
            if isinstance(module, ModuleType):
                yield from (getattr(module, name) for name in code.co_names if hasattr(module, name))


def _codes_in(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes_in(constant)
