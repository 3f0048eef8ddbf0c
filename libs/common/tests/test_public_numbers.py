"""Numbers for people are read in every form that people type (contract section 1.7)."""

import re
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.primitives.public_numbers import (
    ALPHABET,
    NUMBER_PATTERN,
    SYMBOLS,
    NumberKind,
    kind_of_number,
    new_number,
    read_beginning,
    read_number,
    read_number_or_id,
    read_numbers_or_id,
)

ID = UUID("0192f3c4-1a2b-7000-8000-0000d0d960c4")
KINDS = pytest.mark.parametrize("kind", NumberKind)
FULL_WIDTH = "".join(chr(ord(sign) + 0xFEE0) for sign in "CM-1001-1ABC")
SEPARATORS = ["", " ", "-", "\u2013", "\u2014", "\u2010", "\u2011", "\u2212", "\u00ad", "\u00a0", "\u200b", "_", "\t"]


@KINDS
def test_a_new_number_has_the_form_of_the_contract(kind: NumberKind) -> None:
    number = new_number(kind)
    assert re.fullmatch(NUMBER_PATTERN, number)
    assert read_number(number, kind) == number
    assert kind_of_number(number) is kind


@KINDS
@given(st.text(ALPHABET, min_size=SYMBOLS, max_size=SYMBOLS), st.sampled_from(SEPARATORS))
def test_a_number_is_read_in_any_case_and_with_any_separator(kind: NumberKind, symbols: str, separator: str) -> None:
    number = f"{kind}-{symbols[:4]}-{symbols[4:]}"
    typed = number.replace("-", separator)
    for text in (typed, typed.lower(), f" #{typed} ", f"# {typed.lower()}\u200f", typed.removeprefix(f"{kind}")):
        assert read_number(text, kind) == number


@pytest.mark.parametrize("typed", ["CM-1O0I-LABC", "cm-1o0i-labc", "CM 1001 1ABC", "100L-iABC", FULL_WIDTH])
def test_characters_that_resemble_digits_are_read_as_digits(typed: str) -> None:
    assert read_number(typed, NumberKind.ORDER) == "CM-1001-1ABC"


@pytest.mark.parametrize("typed", ["", "jollof rice", "CM-1001", "CM-1001-1ABCD", "CM-100U-1ABC", "XX-1001-1ABC"])
def test_any_other_text_is_no_number(typed: str) -> None:
    assert read_number(typed, NumberKind.ORDER) is None


def test_the_prefix_of_another_kind_is_no_number_of_this_kind() -> None:
    assert read_number("PO-1001-1ABC", NumberKind.ORDER) is None
    assert read_number("P0-1001-1ABC", NumberKind.PAYOUT) == "PO-1001-1ABC"


@pytest.mark.parametrize(
    "typed", [str(ID), str(ID).upper(), f"#{ID}", ID.hex, f" {ID} ", str(ID).replace("-", "\u2013")]
)
def test_an_id_is_read_in_the_same_forms(typed: str) -> None:
    assert read_number_or_id(typed, NumberKind.ORDER) == ID


def test_a_number_without_a_prefix_has_no_kind() -> None:
    assert kind_of_number("1001-1ABC") is None
    assert kind_of_number("#ct-1001-1abc") is NumberKind.TICKET
    assert kind_of_number("cable") is None


def test_a_long_text_is_not_read() -> None:
    assert read_number_or_id("-" * 200 + "CM-1001-1ABC", NumberKind.ORDER) is None


@KINDS
@given(st.text(ALPHABET, min_size=SYMBOLS, max_size=SYMBOLS), st.integers(4, SYMBOLS - 1), st.sampled_from("-\u2013"))
def test_the_numbers_of_a_beginning_are_those_between_two(
    kind: NumberKind, symbols: str, typed: int, dash: str
) -> None:
    number = f"{kind}-{symbols[:4]}-{symbols[4:]}"
    beginning = f" #{kind}{dash}{symbols[:typed]}".lower()
    first, last = read_beginning(beginning, kind) or ("", "")
    assert first <= number <= last
    common = number[: len(f"{kind}-{symbols[:4]}") + (typed > 4 and typed - 3)]
    assert (first[: len(common)], last[: len(common)]) == (common, common)
    assert kind_of_number(beginning) is kind
    assert read_numbers_or_id(beginning, kind) == (first, last)


@pytest.mark.parametrize("typed", ["CM-100", "CM 1001", "1001", "cm-ultra", "PO-1001", "CM-", "CM", "CM-1001-1ABC"])
def test_any_other_text_is_no_beginning(typed: str) -> None:
    assert read_beginning(typed, NumberKind.ORDER) is None


def test_a_whole_number_is_the_only_one_between_two() -> None:
    assert read_numbers_or_id("cm 1001 1abc", NumberKind.ORDER) == ("CM-1001-1ABC", "CM-1001-1ABC")
    assert read_numbers_or_id(str(ID), NumberKind.ORDER) == ID
    assert read_numbers_or_id("jollof rice", NumberKind.ORDER) is None
