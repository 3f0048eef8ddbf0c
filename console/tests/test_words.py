"""Messages and states for people: naira, no name of a field, one word for each state."""

import pytest

from console.formats import FinerState, badge, days_since, state_words, text
from console.messages import field_message, field_words, plain_message
from console.money import payout_state
from console.pages.platform.settings import SETTINGS


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("a transfer pays at least 10000 kobo", "a transfer pays at least ₦100.00"),
        ("basis points of the principal, plus 10,000 kobo", "basis points of the principal, plus ₦100.00"),
        ("-5 kobo is less than 0", "-₦0.05 is less than 0"),
        ("amountMinor must be positive", "amount must be positive"),
        ("String should match pattern '^[0-9]{10}$'", "has another form than is needed"),
        ("Payout exception: account_number_invalid", "Payout exception: account number invalid"),
        ("Respond by 2026-11-30T23:02:17.694Z.", "Respond by 1 Dec 2026, 00:02."),
        ("The order changed meanwhile", "The order changed meanwhile"),
        ("String should have at least 1 character", "is needed"),
        ("must be an ISO 8601 time such as 2026-01-31T12:00:00Z", "must be a date such as 2026-01-31"),
        ("String should have at most 60 characters", "has more than 60 characters"),
        ("Input should be 'open' or 'closed'", "must be one of the choices"),
        ("Input should be a valid UUID, invalid character", "has another form than is needed"),
        (None, ""),
    ],
)
def test_a_message_of_the_api_is_shown_in_words(message: str | None, shown: str) -> None:
    assert plain_message(message) == shown


def test_the_bound_of_an_amount_is_naira() -> None:
    assert field_message("amountMinor", "Input should be greater than or equal to 10000") == "must be at least ₦100.00"
    typed = "write an amount in naira, such as 1,250.50"
    assert field_message("amountMinor", typed) == typed
    assert field_message("quantity", "Input should be greater than 0") == "must be more than 0"


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


@pytest.mark.parametrize(
    ("payout", "shown", "api_word"),
    [
        ({"status": "failed", "transfer": None}, "cancelled", "failed"),
        ({"status": "pending", "transfer": None, "hold": {"reason": "a document"}}, "held", "pending"),
    ],
)
def test_a_finer_state_has_the_word_of_the_api_as_its_title(
    payout: dict[str, object], shown: str, api_word: str
) -> None:
    state = payout_state({"reversal": None, **payout})
    assert isinstance(state, FinerState)
    assert f'title="{api_word}">{shown}</span>' in badge(state)


REFERENCE = "ch-01a22c93d31d722ba727e07112c3cbfb"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("PAYOUT_TRANSFER_FEES", '<span class="identifier">PAYOUT_<wbr>TRANSFER_<wbr>FEES</span>'),
        ("http://api.example/x", '<span class="identifier">http://<wbr>api.<wbr>example/<wbr>x</span>'),
        ("₦1,250,000,000.00 arrives", "₦1,250,000,000.00 arrives"),
        ("a<b_and_some_more", '<span>a&lt;<span class="identifier">b_<wbr>and_<wbr>some_<wbr>more</span></span>'),
        ("Ada Stores", "Ada Stores"),
        (
            "Bank \N{HORIZONTAL ELLIPSIS}6785",
            '<span>Bank <span class="whole">\N{HORIZONTAL ELLIPSIS}6785</span></span>',
        ),
        ("Order CM-ZM2C-9PTJ, paid", '<span>Order <span class="whole">CM-ZM2C-9PTJ</span>, paid</span>'),
    ],
)
def test_an_identifier_breaks_at_its_separators_alone(value: str, shown: str) -> None:
    rendered = text(value)
    assert rendered == shown or rendered == f"<span>{shown}</span>"


def test_a_reference_is_short_and_its_button_has_the_whole() -> None:
    shown = text(f"charge {REFERENCE}: less than the total")
    assert f'data-copy="{REFERENCE}"' in shown
    assert ">ch-\N{HORIZONTAL ELLIPSIS}12c3cbfb</button>: less" in shown
    assert "<button" not in text(REFERENCE, is_linked=True)


def test_fees_of_the_settings_are_naira_and_their_meaning_names_no_unit() -> None:
    setting = {
        "name": "PAYOUT_TRANSFER_FEES",
        "value": "500000:1000,*:5000",
        "default": "",
        "isSecret": False,
        "meaning": "Fees of `fee_table`; written as `<up to>:<fee>` in kobo",
    }
    _, value, default, meaning = (column.of(setting) for column in SETTINGS)
    assert value == "up to ₦5,000.00: ₦10.00; any other amount: ₦50.00"
    assert (default, meaning) == ("none", "Fees of fee_table")
