import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.primitives.ids import new_symbols
from orders.domain.order_numbers import ALPHABET, SYMBOLS, order_number, read_order_number


def test_a_new_number_has_the_form_of_the_contract() -> None:
    number = order_number(new_symbols(SYMBOLS, ALPHABET))
    assert len(number) == len("CM-XXXX-XXXX")
    assert read_order_number(number) == number


@given(st.text(ALPHABET, min_size=SYMBOLS, max_size=SYMBOLS))
def test_every_number_is_parsed_in_lower_case_without_hyphens(symbols) -> None:
    assert read_order_number(f" cm{symbols.lower()} ") == order_number(symbols)


@pytest.mark.parametrize("typed", ["CM-1O0I-LABC", "cm-1o0i-labc", "CM 1001 1ABC", "100L-iABC"])
def test_characters_that_resemble_digits_are_parsed_as_digits(typed: str) -> None:
    assert read_order_number(typed) == "CM-1001-1ABC"


@pytest.mark.parametrize(
    "typed", ["", "jollof rice", "mackerel", "CM-1001", "CM-1001-1ABCD", "CM-100U-1ABC", "XX-1001-1ABC"]
)
def test_any_other_text_is_no_number(typed: str) -> None:
    assert read_order_number(typed) is None
