"""The pure rules of the assistant."""

import json

import pytest

from common.primitives.ids import new_id
from notifications.assistant.domain.assistant_tools import (
    RESULT_CHARACTERS_MAX,
    TEXTS_OF_USERS,
    TOOLS,
    ImmediateResult,
    RejectedCall,
    read_call,
    result_text,
)
from notifications.assistant.domain.built_in_assistant import requested_calls
from notifications.assistant.domain.conversations import (
    HIDDEN,
    ChatMessage,
    Requester,
    ToolCall,
    recent,
    title_of,
    without_secrets,
)
from notifications.assistant.domain.documentation import Section
from notifications.assistant.domain.help_articles import ARTICLES, search_articles
from notifications.assistant.domain.reply_sanitizer import ReplySanitizer

ORDER = "0198c0de-0000-7000-8000-000000000001"


@pytest.mark.parametrize("character", ["x", "é", "学", "\\", "\x01"])
def test_a_message_of_one_endless_word_is_looked_up_like_any_other(character: str) -> None:
    for message in (
        character * 4_000,
        f"find {character * 3_995}",
        f"refund {character * 3_993}",
        f"{character * 900} " * 4,
    ):
        for call in requested_calls(message):
            assert not isinstance(read_call(call), RejectedCall), (call.name, len(call.arguments))


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (
            "Do you have jollof rice under ₦5,000?",
            [("search_products", {"maxPriceNaira": 5000, "query": "jollof rice"})],
        ),
        ("phone chargers below 7.5k naira", [("search_products", {"maxPriceNaira": 7500, "query": "phone chargers"})]),
        (
            "laptops over 100 thousand and under 300k",
            [("search_products", {"maxPriceNaira": 300_000, "minPriceNaira": 100_000, "query": "laptops"})],
        ),
        (
            "phones between 1,000 and 5k",
            [("search_products", {"minPriceNaira": 1000, "maxPriceNaira": 5000, "query": "phones"})],
        ),
        ("the cheapest calculator", [("search_products", {"cheapestFirst": True, "query": "calculator"})]),
        ("do you sell shoes?", [("search_products", {"query": "shoes"})]),
        ("show me textbooks", [("search_products", {"query": "textbooks"})]),
        ("Where is my order?", [("list_my_orders", {})]),
        ("my orders please", [("list_my_orders", {})]),
        (f"status of {ORDER}", [("show_my_order", {"orderNumber": ORDER})]),
        ("status of cm r80t\u2013m2ng?", [("show_my_order", {"orderNumber": "CM-R80T-M2NG"})]),
        ("Where is order #CM-R80T-M2NG", [("show_my_order", {"orderNumber": "CM-R80T-M2NG"})]),
        ("How does the delivery PIN work?", [("search_help", {"query": "How does the delivery PIN work?"})]),
        (
            "I want a refund for my order",
            [("search_help", {"query": "I want a refund for my order"}), ("list_my_orders", {})],
        ),
        ("How can I contact support", [("search_help", {"query": "How can I contact support"})]),
        ("hello", []),
        ("What are you?", []),
        ("are you a robot", []),
    ],
)
def test_the_built_in_assistant_recognizes_requests(message, expected) -> None:
    assert [(call.name, json.loads(call.arguments)) for call in requested_calls(message)] == expected
    for call in requested_calls(message):
        assert not hasattr(read_call(call), "reason")


@pytest.mark.parametrize(
    ("question", "article"),
    [
        ("how do I get my money back, refunded", "refunds"),
        ("what is the delivery pin", "delivery-pin"),
        ("can I return damaged shoes", "returns"),
        ("is it safe to pay with a card", "paying"),
        ("I need to talk to a human", "support"),
        ("when is my payout in the bank", "payouts"),
        ("how do I sell", "selling"),
        ("I forgot my password", "account"),
    ],
)
def test_help_articles_are_found_by_common_terms(question: str, article: str) -> None:
    assert search_articles(question)[0].id == article


def test_an_unknown_topic_has_no_help_article() -> None:
    assert search_articles("quantum chromodynamics") == []
    assert len({article.id for article in ARTICLES}) == len(ARTICLES)


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("PIN: 1234", f"PIN: {HIDDEN}"),
        ("the code I got is 04 29 17!", f"the code I got is {HIDDEN}!"),
        ("4242 4242 4242 4242", HIDDEN),
        ("Authorization: Bearer abc.def", f"Authorization: {HIDDEN}"),
        ("eyJhbGciOi.eyJzdWIi.c2ln", HIDDEN),
        ("rice under 5000 naira", "rice under 5000 naira"),
        # Hiding a price is the lesser error.
        ("a pin board for 2500", f"a pin board for {HIDDEN}"),
        (f"the PIN of order {ORDER}", f"the PIN of order {ORDER}"),
    ],
)
def test_secrets_are_hidden_and_prices_are_not(written, kept) -> None:
    assert without_secrets(written) == kept


def test_a_model_gets_each_question_with_its_reply() -> None:
    history = [ChatMessage("user" if number % 2 == 0 else "assistant", "x" * 100) for number in range(40)]
    for characters_max in range(0, 3_000, 70):
        shown = recent(history, characters_max)
        assert sum(len(line.text) for line in shown) <= max(characters_max, 0)
        assert len(shown) % 2 == 0
        assert len(shown) <= 20
    assert recent(history, -5) == []


def test_a_conversation_is_titled_by_its_first_message() -> None:
    assert title_of("  where\n is it ") == "where is it"
    assert len(title_of("x" * 4_000)) == 80


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1_000])
def test_a_reply_is_harmless_wherever_its_pieces_break(size: int) -> None:
    text = (
        "See ![a](https://evil.example/x) <b> [c]\n(d) www.evil.example ftp://e https:" + "/" * 300 + "evil.example ok"
    )
    safe = ReplySanitizer("http://localhost:8080")
    pieces = [safe.feed(text[at : at + size]) for at in range(0, len(text), size)]
    reply = "".join([*pieces, safe.flush()])
    whole = ReplySanitizer("http://localhost:8080")
    assert reply.split() == (whole.feed(text) + whole.flush()).split()
    for dangerous in ("](", "![", "<", "evil.example/x", "www.", "ftp:", "https://"):
        assert dangerous not in reply
    assert reply.endswith("ok")


def test_plain_words_pass_as_they_are() -> None:
    safe = ReplySanitizer("https://campus.example")
    text = "Rice: NGN 4,500 (2 x 2,250).\nSee https://campus.example/orders and/or ask at 10:30. 5 > 3, a:b"
    assert safe.feed(text) + safe.flush() == text


def test_results_have_a_size_and_every_tool_is_described() -> None:
    many = [{"id": str(new_id()), "text": "\N{SNOWMAN}" * 400} for _ in range(100)]
    text = result_text(many)
    assert len(text) <= RESULT_CHARACTERS_MAX
    assert json.loads(text)["result"] == many[: len(json.loads(text)["result"])]
    assert json.loads(result_text("x" * 10_000)) == {"error": "the result is too long"}
    for tool in TOOLS:
        name, parameters = tool.name, tool.parameters
        example = {
            field: ORDER
            if field.endswith(("Id", "Number"))
            else 5
            if "Price" in field
            else True
            if field == "cheapestFirst"
            else "rice"
            for field in parameters["properties"]
        }
        assert not hasattr(read_call(ToolCall("1", name, json.dumps(example))), "reason")


def test_only_programs_search_the_documentation_and_get_the_address_of_its_markdown() -> None:
    sections = [
        Section(
            "Retries", "Idempotency", "https://campus.example/guides/contract/03-idempotency.md", "A key for a POST."
        ),
        Section("Webhooks", "Guides", "https://campus.example/guides/webhooks.md", "Retries of a delivery."),
    ]
    found = read_call(ToolCall("1", "search_docs", '{"query": "retries idempotency"}'), sections)
    assert isinstance(found, ImmediateResult)
    assert [each["address"] for each in found.result] == [section.address for section in sections]
    helped = read_call(ToolCall("1", "search_help", '{"query": "retries idempotency"}'), sections)
    assert helped == ImmediateResult([])
    assert isinstance(read_call(ToolCall("1", "search_docs", "{}"), sections), RejectedCall)


def test_a_note_precedes_texts_of_users() -> None:
    assert json.loads(result_text([], TEXTS_OF_USERS)) == {"note": TEXTS_OF_USERS, "result": []}
    assert len(result_text(["x" * 1_000] * 10, TEXTS_OF_USERS)) <= RESULT_CHARACTERS_MAX


def test_the_repr_of_a_requester_hides_the_token() -> None:
    assert "secret" not in repr(Requester(new_id(), None, "secret"))
    assert isinstance(read_call(ToolCall("1", "search_help", '{"query": "pin"}')), ImmediateResult)
