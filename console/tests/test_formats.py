"""How values are shown and read."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from console.charts import bar_chart, column_chart, ticks, with_empty_days
from console.formats import badge, duration, lagos, lines, naira, naira_short, naira_typed
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
    assert ">23 Nov 2026, <wbr>00:30</time>" in shown
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
        lambda text: bar_chart([(text, 3), (text, 1)], text),
        lambda text: column_chart([(text, 3), (text, 1)], text),
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


@pytest.mark.parametrize(
    ("minor", "shown"),
    [
        (9_630_000_000, "₦96.3M"),
        (10_000_000_000, "₦100M"),
        (123_400, "₦1.2K"),
        (99_999_900, "₦1M"),
        (95_000, "₦950"),
        (0, "₦0"),
        (-2_500_000, "-₦25K"),
        (150_000_000_000, "₦1.5B"),
    ],
)
def test_the_axis_of_a_chart_has_short_amounts(minor: int, shown: str) -> None:
    assert naira_short(minor) == shown


@pytest.mark.parametrize(
    ("low", "high", "marks"),
    [
        (0, 1, [0, 1]),
        (0, 7, [0, 2, 4, 6, 8]),
        (0, 9_630_000_000, [0, 5_000_000_000, 10_000_000_000]),
        (-30, 100, [-50, 0, 50, 100]),
        (0, 0, [0, 1]),
    ],
)
def test_the_marks_of_an_axis_are_round_and_hold_all_values(low: int, high: int, marks: list[int]) -> None:
    assert ticks(low, high) == marks


def test_days_without_a_sale_are_shown() -> None:
    shown = with_empty_days([("2026-11-29", 5), ("2026-11-27", 3)])
    assert shown == [("2026-11-27", 3), ("2026-11-28", 0), ("2026-11-29", 5)]
    assert with_empty_days([("2026-W48", 5), ("2026-W47", 3)]) == [("2026-W48", 5), ("2026-W47", 3)]


def test_a_chart_of_one_point_is_a_number() -> None:
    shown = column_chart([("2026-11-29", 123_450)], "Gross sales", naira, naira_short)
    assert "svg" not in shown
    assert "₦1,234.50" in shown
    assert column_chart([], "Gross sales") == ""


def test_a_chart_has_its_exact_numbers_as_a_table() -> None:
    shown = column_chart([("2026-11-28", 9_630_000_001), ("2026-11-29", 0)], "Gross sales", naira, naira_short)
    assert "₦100M" in shown
    assert '<tr><th scope="row">2026-11-28</th><td class="number">₦96,300,000.01</td></tr>' in shown
    assert "the highest is ₦96,300,000.01 at 2026-11-28" in shown
