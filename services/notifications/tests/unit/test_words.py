"""The table of messages and the words in the package belong together."""

import pytest

from notifications.domain.templates import CATALOG, check_parameters
from notifications.templates.words import GREETED, Words, naira_text, order_number

SAMPLES = {
    "text": "0192f3c4-0000-7000-8000-00003f2a91bc",
    "kobo": 1_234_567,
    "lines": [{"name": "Jollof", "quantity": 2, "lineTotalMinor": 500_000}],
    "purpose": "sign_in",
}
WORDS = Words()


def values_of(name: str) -> dict[str, object]:
    template = CATALOG[name]
    return {parameter: SAMPLES[kind] for parameter, kind in template.parameters.items()}


@pytest.mark.parametrize(
    ("name", "channel"), [(name, channel) for name in CATALOG for channel in CATALOG[name].channels]
)
def test_every_message_of_the_table_has_words_for_each_of_its_channels(name, channel):
    secrets = dict.fromkeys(CATALOG[name].secrets, "918273")
    values = {**values_of(name), **secrets}
    check_parameters(CATALOG[name], values)
    message = WORDS.message(channel, name, {**values, GREETED: "Chidi"})
    assert message.text
    assert all(secret in message.text for secret in secrets.values())
    if channel == "email":
        assert message.subject
        assert "</html>" in message.html
        assert not any(secret in message.subject for secret in secrets.values())
    else:
        # One part of a text message in the alphabet of every telephone has 160 characters.
        assert len(message.text) <= 160
        assert message.text.isascii()


@pytest.mark.parametrize("name", [name for name in CATALOG if CATALOG[name].in_feed])
def test_the_app_shows_a_message_without_its_secrets(name):
    line = WORDS.feed_line(name, {**values_of(name), GREETED: "Chidi"})
    assert line.title
    assert line.body


def test_a_value_with_line_breaks_begins_no_header():
    values = {**values_of("vendor_dispatch_alert"), "businessName": "Ada\r\nBcc: all@unilag.edu.ng", GREETED: "Ada"}
    assert "\n" not in WORDS.message("email", "vendor_dispatch_alert", values).subject


def test_html_shows_what_people_typed_as_text():
    values = {**values_of("order_dispatched"), "businessName": "<script>alert(1)</script>", GREETED: "Chidi"}
    assert "<script>" not in WORDS.message("email", "order_dispatched", values).html


@pytest.mark.parametrize(
    ("amount_minor", "shown"), [(0, "₦0.00"), (5, "₦0.05"), (123_456_789, "₦1,234,567.89"), (100_000, "₦1,000.00")]
)
def test_kobo_are_shown_as_naira_with_two_decimals(amount_minor, shown):
    assert naira_text(amount_minor) == shown


def test_an_order_is_named_by_the_end_of_its_id():
    assert order_number("0192f3c4-0000-7000-8000-00003f2a91bc") == "3F2A91BC"
