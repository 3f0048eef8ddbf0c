"""The masking of digits in tickets."""

import pytest

from notifications.deliveries.domain.masked_texts import MARK, mask_digits

# One PIN in common forms, and in forms that evade a pattern.
FORMS = [
    "042917",
    "0429",
    "04291712",
    "0 4 2 9 1 7",
    "04  29 -- 17",
    "042-917",
    "042.917",
    "0,4,2,9,1,7",
    "04/29/17",
    "0_4_2_9_1_7",
    "(042) [917]",
    "0\n4\n2\n9\n1\n7",
    "0 . . . . 4 . . . . 2 . . . . 9",
    "\uff10\uff14\uff12\uff19\uff11\uff17",
    "٠٤٢٩١٧",
    "०४२९१७",
    "\U0001d7ce\U0001d7d2\U0001d7d0\U0001d7d7",
    "⁰⁴²⁹¹⁷",
    "⓪④②⑨①⑦",
    "⑫⑬",
    "四二九一",
    "0\u200b4\u200d2\u20609\ufeff1\u00ad7",
    "0\ufe0f\u20e34\ufe0f\u20e32\ufe0f\u20e39\ufe0f\u20e3",
    "0\u31644\u31642\u31649",
    "0٤\uff12९",
    "0\u03014\u03012\u03019",
    "+2348030429170",
    "99999042917999999999999999",
]


@pytest.mark.parametrize("form", FORMS)
def test_a_run_of_four_digits_or_more_is_one_mark_however_it_is_written(form: str) -> None:
    for text in (f"It is {form} I think", f"It is{form}I think", form):
        masked = mask_digits(text)
        assert masked.count(MARK) == 1
        assert not any(character.isnumeric() for character in masked)
        assert masked.startswith("It is") == text.startswith("It is")
        assert masked.endswith("I think") == text.endswith("I think")


@pytest.mark.parametrize("form", ["04", "042", "9 17", "①②", "4.2"])
def test_a_text_of_digits_alone_shows_none_of_them(form: str) -> None:
    """A PIN split over two messages stays hidden."""
    assert mask_digits(form) == MARK
    assert mask_digits(f"...{form}!") == f"...{MARK}!"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Where is my rice?",
        "2 plates at 5 pm, room 12",
        "2",
        "Part 0",
        "3 to 5 days, then 2 more",
        "x2y3z4w5v6",
        "2nd 3rd",
    ],
)
def test_other_words_stay_as_they_are(text: str) -> None:
    assert mask_digits(text) == text


def test_a_mark_hides_the_length_of_its_run() -> None:
    assert mask_digits("a 1234 b") == mask_digits("a 12345678901 b") == "a •••• b"
    assert len(MARK) == 4


def test_marked_texts_stay_as_they_are() -> None:
    for form in FORMS:
        once = mask_digits(f"It is {form}, 2 of them")
        assert mask_digits(once) == once


def test_a_text_of_the_greatest_length_is_read_in_one_pass() -> None:
    for text in ("0 " * 2_000, "0" + " " * 3_999, ("000" + " " * 60 + "a") * 60, "\u200b" * 4_000):
        assert "0000" not in mask_digits(text).replace(" ", "")
