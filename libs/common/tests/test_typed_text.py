"""Codes and numbers as users paste them."""

import pytest

from common.primitives.typed_text import compact

PASTED = [
    "123456",
    "123 456",
    "123-456",
    "123\u2011456",
    "123\u2013456",
    "123\u2212456",
    "123_456",
    "\u200e123456\u200e",
    "\u202a123\u00a0456\u202c",
    "\ufeff123\u200b456\u2060",
    " 1 2 3\t4 5 6\r\n",
    "\uff11\uff12\uff13\u3000\uff14\uff15\uff16",
]


@pytest.mark.parametrize("typed", PASTED, ids=ascii)
def test_a_pasted_code_is_its_digits(typed: str) -> None:
    assert compact(typed) == "123456"


@pytest.mark.parametrize("text", ["12345x", "123,456", "123.456", "K7QF2XNA", "\u0661\u0662\u0663"], ids=ascii)
def test_other_characters_of_a_code_are_unchanged(text: str) -> None:
    assert compact(text) == text
