"""How values are shown and read."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from console.charts import bar_chart, line_chart
from console.formats import badge, duration, lagos, lines, naira, naira_typed
from console.visit import Form, InvalidField, local_path


@pytest.mark.parametrize(
    ("minor", "shown"),
    [
        (0, "₦0.00"),
        (5, "₦0.05"),
        (123_456_789, "₦1,234,567.89"),
        (-100, "-₦1.00"),
        (-1, "-₦0.01"),
        (None, "\N{EN DASH}"),
    ],
)
def test_an_amount_is_shown_to_the_kobo(minor: int | None, shown: str) -> None:
    assert naira(minor) == shown


@given(st.integers(0, 10**15))
def test_a_shown_amount_is_read_back_to_the_kobo(minor: int) -> None:
    for text in (naira(minor), naira_typed(minor)):
        assert Form([("amount", text)]).minor("amount") == minor


@given(st.decimals(0, 10**12, places=2))
def test_a_typed_amount_keeps_every_kobo(amount: Decimal) -> None:
    assert Form([("amount", f"{amount}")]).minor("amount") == int(amount * 100)


@pytest.mark.parametrize("text", ["12.345", "-1", "1e3", "abc", "1.2.3", "१२", ".", "₦"])
def test_an_amount_that_is_none_is_refused(text: str) -> None:
    form = Form([("amount", text)])
    if text == "₦":
        assert form.minor("amount") is None
        return
    with pytest.raises(InvalidField):
        form.minor("amount")


def test_a_time_is_shown_in_lagos_with_the_exact_instant() -> None:
    shown = lagos("2026-11-22T23:30:15.123Z")
    assert ">23 Nov 2026, 00:30</time>" in shown
    assert 'datetime="2026-11-22T23:30:15.123Z"' in shown
    assert 'title="2026-11-22T23:30:15.123Z (UTC)"' in shown


@pytest.mark.parametrize(
    ("seconds", "words"), [(0, "0 s"), (59, "59 s"), (90, "1 min 30 s"), (3_600, "1 h"), (90_000, "1 d 1 h")]
)
def test_a_length_of_time_has_two_units(seconds: int, words: str) -> None:
    assert duration(seconds) == words


@pytest.mark.parametrize(
    "make",
    [
        badge,
        lines,
        lambda text: lagos("2026-11-22T23:30:15.123Z") + badge(text),
        lambda text: bar_chart([(text, 3)], text),
        lambda text: line_chart([(text, 3), (text, 1)], text),
    ],
)
def test_every_text_is_escaped(make) -> None:
    shown = make("<script>alert('x')</script>\"&")
    assert isinstance(shown, Markup)
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("/orders/1?x=2", "/orders/1?x=2"),
        ("https://evil.example/", "/"),
        ("//evil.example", "/"),
        ("/\\evil.example", "/"),
        ("javascript:alert(1)", "/"),
        ("/x\r\nSet-Cookie: a=b", "/"),
        ("", "/"),
    ],
)
def test_a_redirect_stays_in_the_console(path: str, target: str) -> None:
    assert local_path(path) == target
