"""The built-in assistant: it recognizes some questions by keywords and uses the same tools as a model."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from common.primitives.json_records import Json, JsonObject, read_record, read_records
from common.primitives.public_numbers import NumberKind, read_number_or_id
from notifications.assistant.domain.conversations import ChatMessage, ToolCall

INTRODUCTION: Final = (
    "I am the built-in assistant of the campus marketplace, not a language model: I look things up by the words of "
    "your question."
)
ABILITIES: Final = (
    'I can find products ("rice under 5000 naira"), show your orders and how far they are ("where is my '
    'order?"), and explain '
    "payment, the delivery PIN, refunds, returns, disputes, selling, payouts and support."
)
_UNAVAILABLE: Final = "I could not reach the marketplace just now. Please ask again in a moment."

# An order's number as people type it, or its id.
_ORDER_NAME: Final = re.compile(
    r"\bcm[\W_]{0,3}[0-9a-z]{4}[\W_]{0,3}[0-9a-z]{4}\b|\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b",
    re.IGNORECASE | re.ASCII,
)
_AMOUNT: Final = r"(?:₦|ngn|naira|n)?\s*(\d[\d,]*(?:\.\d+)?)\s*(k\b|thousand\b)?(?:\s*(?:naira|ngn)\b)?"
_CEILING: Final = re.compile(
    rf"\b(?:under|below|less than|cheaper than|at most|not more than|no more than|up to|max(?:imum)?(?: of)?|within)"
    rf"\s+{_AMOUNT}",
    re.ASCII,
)
_FLOOR: Final = re.compile(rf"\b(?:over|above|more than|at least|min(?:imum)?(?: of)?)\s+{_AMOUNT}", re.ASCII)
_RANGE: Final = re.compile(rf"\b(?:between|from)\s+{_AMOUNT}\s*(?:and|to|-)\s*{_AMOUNT}", re.ASCII)
_CHEAPEST: Final = re.compile(r"\b(?:cheapest|lowest price|least expensive)\b")
_GREETING: Final = re.compile(
    r"\b(?:who|what) are you\b|\bare you (?:a|an) \w+|^\W*(?:hi|hello|hey|good (?:morning|afternoon|evening))\b"
)
_HELP: Final = re.compile(
    r"\b(?:pins?|refund\w*|return\w*|disput\w*|escrow|pay|paying|payment|pa(?:id|ys)|payouts?|withdraw\w*|bank|wallet|"
    r"(?:i|we|to|start) sell|selling|vendors?|"
    r"commission|support|contact|human|agent|ticket|complain\w*|password|login|sign (?:in|up)|account|cancel\w*|"
    r"how (?:do|does|can|to)|"
    r"deliver\w*|pick ?up|hub|review\w*|scam\w*|safe)\b"
)
_ORDERS: Final = re.compile(
    r"\bmy (?:last |latest |recent |open )?(?:orders?|purchases?|package|parcel|delivery|stuff)\b|"
    r"\b(?:order|delivery) status\b|"
    r"\bstatus of\b|\btrack\b|\bwhere (?:is|are) my\b|\bwhat (?:did|have) i (?:buy|bought|order)\w*\b|\borders? i\b"
)
_PRODUCTS: Final = re.compile(
    r"\b(?:find|show me|search|looking for|look for|buy|price of|how much|cheap\w*|do you have|is there|are there|any|"
    r"products?|recommend|suggest|need|want|available|in stock)\b"
)
_FILLER_WORDS: Final = (
    "a an the and or of for to in on at with me my i im you your we is are am be do does did have has had can could "
    "would should will please find show search looking look buy get price prices cost costs much how many cheap "
    "cheaper cheapest any some product products item items there what which where who when want need like recommend "
    "suggest available stock under below over above less more than most least up max maximum min minimum within "
    "about around naira ngn k thousand it that this hello hi hey thanks thank sell sells selling something anything "
    "give tell list now today shop campus from not no"
)
_FILLERS: Final = frozenset(_FILLER_WORDS.split())
_STATUSES: Final[Mapping[str, str]] = {
    "Processing": "waits for its payment",
    "expired": "expired, because it was not paid in time",
    "cancelled": "was cancelled before it was paid",
    "paid_escrow": "is paid; the money is held and the vendor prepares it",
    "dispatched": "was handed over by the vendor and is on its way",
    "delivered": "was delivered",
    "paid": "was delivered, and the vendor has been paid",
    "disputed": "is in dispute; the money is frozen until staff decide",
    "refund_pending": "is being refunded",
    "refunded": "was refunded",
}


class FoundProduct(msgspec.Struct, frozen=True):
    name: str = ""
    price: str | None = None
    vendor: str = ""


class FoundItem(msgspec.Struct, frozen=True, rename="camel"):
    name: str = ""
    quantity: int | None = None
    is_cancelled: bool = False


class FoundOrder(msgspec.Struct, frozen=True, rename="camel"):
    number: str | None = None
    status: str | None = None
    total: str | None = None
    items: list[FoundItem] = []
    more_items: int = 0
    payment_due_at: str | None = None


class FoundArticle(msgspec.Struct, frozen=True):
    title: str = ""
    text: str = ""


def requested_calls(message: str) -> tuple[ToolCall, ...]:
    """Return the tool calls that a message needs; none for an unrecognized question."""
    text = message.lower()
    calls: list[tuple[str, JsonObject]] = []
    if order_name := _order_name(message):
        calls.append(("show_my_order", {"orderNumber": order_name}))
    elif _RANGE.search(text) or _CEILING.search(text) or _FLOOR.search(text):
        calls.append(("search_products", _search(text)))
    else:
        if _HELP.search(text):
            calls.append(("search_help", {"query": message[:_HELP_CHARACTERS_MAX]}))
        if _ORDERS.search(text):
            calls.append(("list_my_orders", {}))
        if not calls and not _GREETING.search(text) and (_PRODUCTS.search(text) or _words(text)):
            calls.append(("search_products", _search(text)))
    return tuple(
        ToolCall(f"look-{number}", name, json.dumps(arguments, ensure_ascii=False))
        for number, (name, arguments) in enumerate(calls, 1)
    )


def _order_name(message: str) -> str | None:
    named = (read_number_or_id(found[0], NumberKind.ORDER) for found in _ORDER_NAME.finditer(message))
    return next((str(name) for name in named if name is not None), None)


def compose_reply(calls: Sequence[ToolCall], results: Sequence[ChatMessage]) -> str:
    """Return the reply from the results of the tool calls."""
    by_id = {result.call_id: result.text for result in results}
    parts = [_describe_result(call, json.loads(by_id[call.id])) for call in calls if call.id in by_id]
    return "\n\n".join(parts) or ABILITIES


def _describe_result(call: ToolCall, outcome: JsonObject) -> str:
    if "result" not in outcome:
        is_absent = outcome.get("error") == "not found"
        error = "You have no order with this number." if is_absent else _UNAVAILABLE
        return _UNAVAILABLE if call.name != "show_my_order" else f"{error} {ABILITIES}"
    found = outcome["result"]
    match call.name:
        case "search_products":
            return _describe_products(read_records(found, FoundProduct), json.loads(call.arguments))
        case "list_my_orders":
            return _describe_orders(read_records(found, FoundOrder))
        case "show_my_order":
            return _describe_order(read_record(found, FoundOrder))
        case _:
            return _describe_articles(read_records(found, FoundArticle))


def _describe_products(products: Sequence[FoundProduct], filters: Mapping[str, Json]) -> str:
    query = f' for "{filters["query"]}"' if filters.get("query") else ""
    if not products:
        return (
            f"I found nothing in stock{query} at that price. {ABILITIES}"
            if "maxPriceNaira" in filters or "minPriceNaira" in filters
            else f"I found nothing in stock{query}. {ABILITIES}"
        )
    lines = [f"- {product.name}: {product.price}, from {product.vendor}" for product in products]
    return f"In stock{query}:\n" + "\n".join(lines)


def _describe_orders(orders: Sequence[FoundOrder]) -> str:
    if not orders:
        return "You have no orders yet."
    return "Your latest orders:\n" + "\n".join(f"- {_order_line(order)}" for order in orders)


def _describe_order(order: FoundOrder) -> str:
    line = _order_line(order)
    if order.status == "Processing" and order.payment_due_at:
        line += f" Pay before {order.payment_due_at}."
    return line


def _order_line(order: FoundOrder) -> str:
    items_text = ", ".join(
        f"{item.quantity} x {item.name}{' (cancelled)' if item.is_cancelled else ''}" for item in order.items
    )
    more = f" and {order.more_items} more" if order.more_items else ""
    meaning = _STATUSES.get(str(order.status), str(order.status))
    return f"Order {order.number} ({items_text}{more}; {order.total}), status {order.status}: it {meaning}."


def _describe_articles(articles: Sequence[FoundArticle]) -> str:
    return "\n\n".join(f"{article.title}: {article.text}" for article in articles) or ABILITIES


def _search(text: str) -> JsonObject:
    filters: JsonObject = {}
    if found := _RANGE.search(text):
        filters |= {"minPriceNaira": _naira(found[1], found[2]), "maxPriceNaira": _naira(found[3], found[4])}
        text = text.replace(found[0], " ")
    if _CHEAPEST.search(text):
        filters["cheapestFirst"] = True
        text = _CHEAPEST.sub(" ", text)
    for pattern, name in ((_CEILING, "maxPriceNaira"), (_FLOOR, "minPriceNaira")):
        if found := pattern.search(text):
            filters[name] = _naira(found[1], found[2])
            text = text.replace(found[0], " ")
    if words := _words(text):
        filters["query"] = " ".join(words)
    return filters


# The search requires every word, so more words find less.
_WORDS_MAX: Final = 4
# No product name contains a longer word. Truncation keeps tool arguments bounded.
_WORD_CHARACTERS_MAX: Final = 40
_HELP_CHARACTERS_MAX: Final = 300
_WORD: Final = re.compile(r"[^\W_]+")


def _words(text: str) -> list[str]:
    words = [word[:_WORD_CHARACTERS_MAX] for word in _WORD.findall(text) if word not in _FILLERS and len(word) > 1]
    return words[:_WORDS_MAX]


def _naira(digits: str, thousands: str | None) -> float:
    amount = float(digits.replace(",", ""))
    return min(amount * 1_000 if thousands else amount, 1e12)
