"""Many cases of one promise in one test: a run collects and reports it once, and each case that fails is named."""

import inspect
from collections.abc import Callable, Iterable, Sequence
from functools import partial, wraps
from typing import Any

import pytest

Test = Callable[..., Any]


class NoCases(ValueError):
    """A test without cases would hold whatever the code does."""


def for_each(
    names: str | Sequence[str], cases: Iterable[Any], *, ids: Callable[[Any], object] = str
) -> Callable[[Test], Test]:
    """Call the test for each case, as `pytest.mark.parametrize` does, in one test.

    All cases have the same fixtures: none of them may change what the next one reads.

    Raises:
        NoCases: when there is none.
        ExceptionGroup: from the test, with the failures and the names of their cases.
    """
    known = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    rows = [_row(case, one=len(known) == 1, ids=ids) for case in cases]
    if not rows:
        raise NoCases(f"no case of {', '.join(known)}")

    def decorate(test: Test) -> Test:
        calls = [(label, partial(test, **dict(zip(known, values, strict=True)))) for label, values in rows]
        signature = inspect.signature(test)
        fixtures = [one for name, one in signature.parameters.items() if name not in known]

        @wraps(test)
        def each(**given: Any) -> None:
            failed: list[Exception] = []
            for label, call in calls:
                try:
                    call(**given)
                except Exception as error:
                    error.add_note(f"the case: {label}")
                    failed.append(error)
            _raise(failed, len(calls))

        @wraps(test)
        async def each_awaited(**given: Any) -> None:
            failed: list[Exception] = []
            for label, call in calls:
                try:
                    await call(**given)
                except Exception as error:
                    error.add_note(f"the case: {label}")
                    failed.append(error)
            _raise(failed, len(calls))

        chosen: Any = each_awaited if inspect.iscoroutinefunction(test) else each
        chosen.__signature__ = signature.replace(parameters=fixtures)
        return chosen  # type: ignore[no-any-return]

    return decorate


def _row(case: Any, *, one: bool, ids: Callable[[Any], object]) -> tuple[str, Sequence[Any]]:
    """Return the name of a case, and its values; `pytest.param` may name it."""
    is_param = isinstance(case, type(pytest.param()))
    if is_param and case.marks:
        raise ValueError(f"{case}: a case in a test of many has no marks")
    values = case.values if is_param else (case,) if one else case
    return str((is_param and case.id) or "-".join(str(ids(value))[:80] for value in values)), values


def _raise(failed: list[Exception], count: int) -> None:
    if failed:
        raise ExceptionGroup(f"{len(failed)} of {count} cases failed", failed)
