"""Phone numbers as users type and paste them (contract section 10)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.primitives.phone_numbers import phone_number_or_none

# Of one number: the forms that users write, and what other applications put around them.
FORMS = [
    "+2348031234567",
    "08031234567",
    "2348031234567",
    "002348031234567",
    "00 234 803 123 4567",
    "+234 803 123 4567",
    "+234 (0) 803 123 4567",
    "(0803)\u00a0123.4567",
    "234-803/1234567",
    "0803\u2011123\u20114567",
    "+234\u2013803\u2212123\u20144567",
    "\u200e+234 803 123 4567\u200e",
    "\u202a+234 803 123 4567\u202c",
    "\ufeff0803\u200b1234567\u2060",
    " 0803\u00ad123\t4567\n",
    "\uff0b\uff12\uff13\uff14 \uff18\uff10\uff13 \uff11\uff12\uff13 \uff14\uff15\uff16\uff17",
    "\uff08\uff10\uff18\uff10\uff13\uff09\uff11\uff12\uff13\uff0d\uff14\uff15\uff16\uff17",
]


@pytest.mark.parametrize("typed", FORMS, ids=ascii)
def test_every_form_of_a_number_is_the_same_number(typed: str) -> None:
    assert phone_number_or_none(typed) == "+2348031234567"


@pytest.mark.parametrize(
    ("typed", "number"),
    [
        ("+44 20 7946 0958", "+442079460958"),
        ("0044 20 7946 0958", "+442079460958"),
        ("009 44 20 7946 0958", "+442079460958"),
    ],
)
def test_a_number_of_another_country_is_read_with_any_international_prefix(typed: str, number: str) -> None:
    assert phone_number_or_none(typed) == number


@pytest.mark.parametrize(
    "text",
    [
        "",
        "+",
        "12",
        "tola",
        "CM-7K3M-9QZ2",
        "+999123456789",
        "++2348031234567",
        "0803FLOWERS",
        "+2348030000001 ext. 5",
        "+2348030000001;ext=7",
        "+2348030000001#5",
        "\u0660\u0668\u0660\u0663\u0660\u0660\u0660\u0660\u0660\u0660\u0661",
        "0803123 4567" + " " * 40,
    ],
    ids=ascii,
)
def test_any_other_text_is_no_number(text: str) -> None:
    assert phone_number_or_none(text) is None


@given(st.text(max_size=60))
def test_a_number_is_read_as_itself(text: str) -> None:
    number = phone_number_or_none(text)
    assert number is None or phone_number_or_none(number) == number
