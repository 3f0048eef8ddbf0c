"""Messages and states for people: naira, no name of a field, one word for each state."""

import pytest

from console.formats import badge, days_since, field_words, plain_message, state_words


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("a transfer pays at least 10000 kobo", "a transfer pays at least ₦100.00"),
        ("-5 kobo is less than 0", "-₦0.05 is less than 0"),
        ("amountMinor must be positive", "amount must be positive"),
        ("String should match pattern '^[0-9]{10}$'", "has another form than is needed"),
        ("Payout exception: account_number_invalid", "Payout exception: account number invalid"),
        ("Respond by 2026-11-30T23:02:17.694Z.", "Respond by 1 Dec 2026, 00:02."),
        ("The order changed meanwhile", "The order changed meanwhile"),
        (None, ""),
    ],
)
def test_a_message_of_the_api_is_shown_in_words(message: str | None, shown: str) -> None:
    assert plain_message(message) == shown


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("deliveries[0].hubId", "hub"),
        ("maxTotalMinor", "max total"),
        ("Idempotency-Key", "idempotency key"),
        ("id", "id"),
        ("", "form"),
    ],
)
def test_a_field_is_named_in_words(name: str, words: str) -> None:
    assert field_words(name) == words


def test_a_badge_shows_words_and_has_the_word_of_the_api_as_its_title() -> None:
    assert badge("reversed") == '<span class="badge bad" title="reversed">came back</span>'
    assert "title" not in badge("open")
    assert state_words("Processing") == "unpaid"
    assert state_words("refund_pending") == "refund under way"


def test_days_of_waiting_are_whole() -> None:
    assert days_since("2020-01-01T00:00:00.000Z").endswith(" days")
    assert days_since(None) == "\N{EN DASH}"
