"""Every template of the catalog has texts for its channels."""

import re
from string import Formatter

import pytest

from notifications.deliveries.domain.approved_templates import APPROVED_TEMPLATES
from notifications.deliveries.domain.feed import FeedEntry
from notifications.deliveries.domain.linked_pages import CONSOLE_PAGES, STOREFRONT_PAGES, TO_SHOP, linked_page
from notifications.deliveries.domain.shop_notices import SHOP_NOTICES
from notifications.deliveries.domain.sms_segments import SEGMENTS_MAX, truncate_to_segments
from notifications.deliveries.domain.templates import CATALOG, IDS, NUMBERS, check_complete, read_parameters
from notifications.deliveries.templates.examples import example_of
from notifications.deliveries.templates.renderer import RECIPIENT_NAME, MessageRenderer, naira_text
from testkit.cases import for_each

SAMPLES = {
    "text": "0192f3c4-0000-7000-8000-00003f2a91bc",
    "number": "CM-R80T-M2NG",
    "kobo": 1_234_567,
    "lines": [{"name": "Jollof", "quantity": 2, "lineTotalMinor": 500_000}],
    "purpose": "sign_in",
}
RENDERER = MessageRenderer()


def values_of(name: str) -> dict[str, object]:
    template = CATALOG[name]
    return {parameter: SAMPLES[kind] for parameter, kind in template.parameters.items()}


@for_each(("name", "channel"), [(name, channel) for name in CATALOG for channel in sorted(CATALOG[name].channels)])
def test_every_message_of_the_table_has_words_for_each_of_its_channels(name, channel) -> None:
    secrets = dict.fromkeys(CATALOG[name].secrets, "918273")
    values = {**values_of(name), **secrets}
    check_complete(CATALOG[name], values)
    message = RENDERER.message(channel, name, {**values, RECIPIENT_NAME: "Chidi"})
    text = " ".join([message.text, *message.parameters])
    assert all(secret in text for secret in secrets.values())
    if channel == "messaging":
        assert len(message.parameters) == len(APPROVED_TEMPLATES[name].parameters)
        assert all(message.parameters)
        return
    assert message.text
    if channel == "push":
        assert message.subject
        return
    if channel == "email":
        assert message.subject
        assert "</html>" in message.html
        assert not any(secret in message.subject for secret in secrets.values())
    else:
        # One segment of a text message in the basic alphabet has 160 characters.
        assert len(message.text) <= 160
        assert message.text.isascii()


# The largest accepted values; each emoji is two units of a text message.
LARGEST = {
    "text": "😀" * 500,
    "number": "CM-ZZZZ-ZZZZ",
    "kobo": 10**15,
    "lines": [{"name": "😀" * 500, "quantity": 10**6, "lineTotalMinor": 10**15}] * 100,
    "purpose": "password_reset",
}


def segment_count(text):
    """Return the number of segments that a telephone company sends and charges (GSM 03.40)."""
    if text.isascii() and "`" not in text:
        length, alone, joined = len(text) + sum(character in "^{}[]~\\|" for character in text), 160, 153
    else:
        length, alone, joined = len(text.encode("utf-16-be")) // 2, 70, 67
    return 1 if length <= alone else -(-length // joined)


@for_each("name", [name for name in CATALOG if "sms" in CATALOG[name].channels])
@for_each("character", ["😀", "{", "`", "x"])
def test_no_text_message_has_more_than_three_parts_or_omits_its_secret(name, character: str) -> None:
    texts = {**LARGEST, "text": character * 500}
    secret = character * 64
    values = {parameter: texts[kind] for parameter, kind in CATALOG[name].parameters.items()}
    values |= dict.fromkeys(CATALOG[name].secrets, secret)
    check_complete(CATALOG[name], values)
    text = RENDERER.message("sms", name, {**values, RECIPIENT_NAME: "Chidi"}).text
    assert 1 <= segment_count(text) <= SEGMENTS_MAX
    assert (secret in text) == bool(CATALOG[name].secrets)


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("x" * 459, "x" * 459),
        ("x" * 460, "x" * 456 + "..."),
        ("{" * 229, "{" * 229),
        ("{" * 230, "{" * 228 + "..."),
        ("₦" * 201, "₦" * 201),
        ("₦" * 202, "₦" * 198 + "..."),
        ("😀" * 101, "😀" * 99 + "..."),
    ],
)
def test_a_text_message_is_cut_where_a_fourth_part_would_start(text, sent) -> None:
    assert truncate_to_segments(text) == sent
    assert segment_count(sent) == SEGMENTS_MAX


@for_each(("name", "channel"), [(name, channel) for name in CATALOG for channel in sorted(CATALOG[name].channels)])
def test_a_message_without_its_parameters_is_neutral(name, channel) -> None:
    values = dict.fromkeys(CATALOG[name].secrets, "918273")
    message = RENDERER.message(channel, name, {**values, RECIPIENT_NAME: "Chidi"})
    words = f"{message.subject} {message.text} {message.html}"
    assert len(message.text) > 20 or message.parameters
    assert all(message.parameters)
    for hole in ("None", "₦", "NGN", "  .", " .", " ,", " x "):
        assert hole not in words
    if CATALOG[name].in_feed:
        line = RENDERER.feed_entry(name, {RECIPIENT_NAME: "Chidi"})
        assert line.body.endswith(".")
        assert "None" not in line.body


def test_a_confirmation_without_data_names_your_order() -> None:
    sms = RENDERER.message("sms", "order_confirmation", {RECIPIENT_NAME: "Chidi"}).text
    assert sms == "Campus: we have your payment for your order. We hold it safely until you have your goods."
    mail = RENDERER.message("email", "order_confirmation", {"totalMinor": 0, RECIPIENT_NAME: "Chidi"})
    assert mail.subject == "Your order is confirmed"
    # Zero is an amount: only unknown values are omitted.
    assert "Total paid: ₦0.00" in mail.text
    assert "Delivery:" not in mail.text + mail.html


def test_an_item_with_a_name_only_is_shown() -> None:
    given = {**values_of("order_confirmation"), "items": [{"name": "Jollof"}, *SAMPLES["lines"]]}
    parameters = read_parameters(CATALOG["order_confirmation"], given)
    mail = RENDERER.message("email", "order_confirmation", {**parameters, RECIPIENT_NAME: "Chidi"})
    assert "\n  Jollof\n  2 x Jollof: ₦5,000.00\n" in mail.text
    assert ">Jollof</td>" in mail.html


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        ("approved", "was approved. Your refund is ₦5.00."),
        ("rejected", "was not approved. Your refund is ₦5.00."),
        ("under_review", "has news: under_review. Your refund is ₦5.00."),
        (None, "has news. Your refund is ₦5.00."),
    ],
)
def test_an_update_of_a_return_request_names_its_outcome(outcome: str | None, expected: str) -> None:
    given = {**values_of("return_request_update"), "outcome": outcome, "refundMinor": 500}
    values = read_parameters(CATALOG["return_request_update"], given)
    mail = RENDERER.message("email", "return_request_update", {**values, RECIPIENT_NAME: "Chidi"})
    assert expected in mail.text
    assert expected in mail.html
    assert expected in RENDERER.feed_entry("return_request_update", {**values, RECIPIENT_NAME: "Chidi"}).body
    assert expected.replace("₦", "NGN ") in RENDERER.message("sms", "return_request_update", values).text


@for_each("name", [name for name in CATALOG if CATALOG[name].in_feed])
def test_the_app_shows_a_message_without_its_secrets(name) -> None:
    line = RENDERER.feed_entry(name, {**values_of(name), RECIPIENT_NAME: "Chidi"})
    assert line.title
    assert line.body


def test_a_value_with_line_breaks_starts_no_header() -> None:
    values = {
        **values_of("vendor_dispatch_alert"),
        "businessName": "Ada\r\nBcc: all@unilag.edu.ng",
        RECIPIENT_NAME: "Ada",
    }
    assert "\n" not in RENDERER.message("email", "vendor_dispatch_alert", values).subject


def test_html_escapes_user_text() -> None:
    values = {**values_of("order_dispatched"), "businessName": "<script>alert(1)</script>", RECIPIENT_NAME: "Chidi"}
    assert "<script>" not in RENDERER.message("email", "order_dispatched", values).html


@pytest.mark.parametrize(
    ("amount_minor", "shown"), [(0, "₦0.00"), (5, "₦0.05"), (123_456_789, "₦1,234,567.89"), (100_000, "₦1,000.00")]
)
def test_kobo_are_shown_as_naira_with_two_decimals(amount_minor: int, shown: str) -> None:
    assert naira_text(amount_minor) == shown


NUMBERED = [
    (name, number) for name, template in CATALOG.items() for number in sorted(NUMBERS & template.parameters.keys())
]
IDS_SHOWN = {name: f"0192f3c4-5a10-7c31-9f{place:02d}-2c7d3fd0d960c{place}" for place, name in enumerate(sorted(IDS))}


def texts_of(name: str, values: dict[str, object]) -> dict[str, str]:
    """All texts of a message by channel, and the feed's."""
    given = {**example_of(name), **values, RECIPIENT_NAME: "Chidi"}
    messages = {channel: RENDERER.message(channel, name, given) for channel in CATALOG[name].channels}
    entry = RENDERER.feed_entry(name, given) if CATALOG[name].in_feed else FeedEntry("", "")
    shown = {one: " ".join([m.subject, m.text, m.html, *m.parameters]) for one, m in messages.items()}
    return {**shown, "feed": f"{entry.title} {entry.body}"}


@for_each("name", CATALOG)
@for_each("with_number", [True, False])
def test_no_text_shows_an_id_or_a_part_of_one(name: str, with_number: bool) -> None:
    ids = {one: value for one, value in IDS_SHOWN.items() if one in CATALOG[name].parameters}
    values = {**ids, **({} if with_number else dict.fromkeys(NUMBERS & CATALOG[name].parameters.keys()))}
    for channel, text in texts_of(name, values).items():
        plain_text = text.lower().replace("-", "")
        for value in ids.values():
            plain = value.replace("-", "")
            assert not [place for place in range(27) if plain[place : place + 6] in plain_text], channel


@for_each(("name", "number"), NUMBERED)
def test_a_message_shows_the_number_of_its_subject(name: str, number: str) -> None:
    shown = texts_of(name, {})
    assert example_of(name)[number] in shown.get("email", shown["feed"])
    # The code of an authentication template is the messaging app's only parameter.
    short = {"sms", "push", *(["feed"] if CATALOG[name].in_feed else [])} & shown.keys()
    assert [channel for channel in short if example_of(name)[number] not in shown[channel]] == []


def test_unverified_bank_details_are_not_called_payout_details() -> None:
    values = {**values_of("bank_details_changed"), "last4": "6785", RECIPIENT_NAME: "Chidi"}
    for channel in ("sms", "email", "push"):
        changed = RENDERER.message(channel, "bank_details_changed", {**values, "standing": "verified"})
        unverified = RENDERER.message(channel, "bank_details_changed", {**values, "standing": "unverified"})
        assert "go to" in changed.text, channel
        assert "go to" not in f"{unverified.text} {unverified.subject}", channel
        assert "wait" in unverified.text, channel


def test_user_text_adds_no_line_and_no_control_character() -> None:
    shop = "Ada\x1b[2J\x07\u202e\r\n\r\nYour password was stolen:\u2066 <b>x</b>"
    lines = [{"name": f"{shop}", "quantity": 1, "lineTotalMinor": 1}]
    values = {**values_of("order_confirmation"), "businessName": shop, "items": lines, RECIPIENT_NAME: "Chidi"}
    for channel in CATALOG["order_confirmation"].channels:
        message = RENDERER.message(channel, "order_confirmation", values)
        text = "\n".join([message.subject, message.text, message.html, *message.parameters])
        assert not {"\x1b", "\x07", "\r", "\u202e", "\u2066"} & set(text)
        assert not any(line.startswith("Your password") for line in text.splitlines())
        assert "<b>" not in message.html


ORDER_ID = "0192f3c4-0000-7000-8000-00003f2a91bc"
LINKED = MessageRenderer("https://campus.example/", "https://console.campus.example")
TO_RESET = {"purpose": "password_reset", "code": "aB3-_x"}


@pytest.mark.parametrize(
    ("name", "given", "link"),
    [
        ("order_confirmation", {}, f"https://campus.example/orders/{ORDER_ID}"),
        ("order_arrived", {}, f"https://campus.example/orders/{ORDER_ID}"),
        ("refund_in_balance", {}, "https://campus.example/balance"),
        ("dispute_resolved", {}, f"https://campus.example/orders/{ORDER_ID}"),
        ("dispute_resolved", {TO_SHOP: True}, f"https://console.campus.example/orders/{ORDER_ID}"),
        ("vendor_dispatch_alert", {TO_SHOP: True}, f"https://console.campus.example/orders/{ORDER_ID}"),
        ("payout_failed", {TO_SHOP: True}, "https://console.campus.example/bank-details"),
        ("charge_quarantined", {}, "https://console.campus.example/quarantined-charges"),
        ("one_time_code", TO_RESET, "https://campus.example/forgotten-password#aB3-_x"),
        ("one_time_code", {"purpose": "sign_in", "code": "123456"}, None),
        ("account_erased", {}, "https://campus.example/sign-up"),
        ("ticket_reply", {}, f"https://campus.example/tickets/{SAMPLES['text']}"),
        ("vendor_suspended", {TO_SHOP: True}, "https://console.campus.example/"),
        ("vendor_application_decided", {"outcome": "approved"}, "https://console.campus.example/"),
        ("vendor_application_decided", {"outcome": "rejected"}, "https://campus.example/tickets"),
    ],
)
def test_a_mail_has_the_link_of_its_page(name: str, given: dict[str, object], link: str | None) -> None:
    mail = LINKED.message("email", name, {**values_of(name), **given, RECIPIENT_NAME: "Chidi"})
    assert [f'href="{link}"' in mail.html, f": {link}\n" in mail.text] == [link is not None] * 2
    assert ["href=" in mail.html, "https://" in mail.text] == [link is not None] * 2


@for_each(
    "name", [name for name, one in CATALOG.items() if "email" in one.channels and NUMBERS & one.parameters.keys()]
)
def test_a_mail_shows_its_number_above_the_text(name: str) -> None:
    mail = LINKED.message("email", name, {**values_of(name), RECIPIENT_NAME: "Chidi"})
    assert re.search(f'class="number"[^>]*>{SAMPLES["number"]}<', mail.html)


@for_each("name", sorted({*STOREFRONT_PAGES, *CONSOLE_PAGES}))
def test_a_page_needs_only_parameters_of_its_template(name: str) -> None:
    assert CATALOG[name].channels >= {"email"}
    for pages in (STOREFRONT_PAGES, CONSOLE_PAGES):
        needed = {one for _, one, _, _ in Formatter().parse(pages.get(name, "")) if one}
        assert needed <= CATALOG[name].parameters.keys()


@for_each("name", SHOP_NOTICES)
def test_a_notice_of_a_shop_links_to_the_console(name: str) -> None:
    page = linked_page(name, {**values_of(name), TO_SHOP: True})
    assert page is not None
    assert page.site == "console"


def test_a_mail_about_an_id_that_is_none_has_no_link() -> None:
    values = {**values_of("order_confirmation"), "orderId": '"><a href="https://evil.example', RECIPIENT_NAME: "Chidi"}
    mail = LINKED.message("email", "order_confirmation", values)
    assert ("evil" in mail.html, "https://" in mail.text) == (False, False)
