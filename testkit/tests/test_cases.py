"""A test of many cases."""

import inspect

import pytest

from testkit.cases import NoCases, for_each


def test_each_case_that_fails_is_named() -> None:
    @for_each("number", [1, 2, 3, pytest.param(-1, id="below zero")])
    def check(number: int) -> None:
        assert number in (1, 3)

    with pytest.raises(ExceptionGroup, match="2 of 4 cases failed") as raised:
        check()
    assert [error.__notes__ for error in raised.value.exceptions] == [["the case: 2"], ["the case: below zero"]]


async def test_an_async_test_has_its_fixtures_and_each_value_of_each_case() -> None:
    seen = []

    @for_each("left, right", [(1, 2), (3, 4)])
    @for_each("third", [5, 6])
    async def check(left: int, right: int, third: int, fixture: str) -> None:
        seen.append((left, right, third, fixture))

    assert list(inspect.signature(check).parameters) == ["fixture"]
    await check(fixture="f")
    assert seen == [(1, 2, 5, "f"), (1, 2, 6, "f"), (3, 4, 5, "f"), (3, 4, 6, "f")]


def test_a_test_without_cases_is_rejected() -> None:
    with pytest.raises(NoCases):
        for_each("number", [])
