"""Numbers with as many digits as a delivery PIN are hidden in messages, and others are not."""

import pytest

from orders.domain.message_texts import MARK, mask_pins


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("my pin is 482913.", f"my pin is {MARK}."),
        ("482 913", MARK),
        ("4 8 2 9 1 3 ok", f"{MARK} ok"),
        ("482-913", MARK),
        ("48\u201329\u201313", MARK),
        ("482\u221291\u22123", MARK),
        ("482_913", MARK),
        ("482\u200b913", MARK),
        ("482\n913", MARK),
        ("\u0664\u0668\u0662\u0669\u0661\u0663", MARK),
        ("\uff14\uff18\uff12\uff19\uff11\uff13", MARK),
        ("\u2463\u2467\u2461\u2468\u2460\u2462", MARK),
        ("abc482913def", f"abc{MARK}def"),
        ("2 482913", f"2 {MARK}"),
        ("482913 571204", f"{MARK} {MARK}"),
        ("482913 and 571204", f"{MARK} and {MARK}"),
    ],
)
def test_a_run_of_the_length_of_a_pin_is_hidden(text: str, shown: str) -> None:
    assert mask_pins(text, 6) == shown


@pytest.mark.parametrize(
    "text",
    [
        "08031234567",
        "0803 123 4567",
        "48291",
        "4829135",
        "482,913",
        "482.913",
        "4829 and 13",
        "room 12, block 3456",
        "",
        "no digits - at all",
    ],
)
def test_other_numbers_stay(text: str) -> None:
    assert mask_pins(text, 6) == text


@pytest.mark.parametrize("digits", [4, 5, 6, 7, 8])
def test_the_length_is_that_of_the_setting(digits: int) -> None:
    assert mask_pins("1" * digits, digits) == MARK
    for other in (digits - 1, digits + 1):
        assert mask_pins("1" * other, digits) == "1" * other
