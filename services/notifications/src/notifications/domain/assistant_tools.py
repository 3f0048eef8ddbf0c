"""What a model may look up for a caller: a closed list of reads. There is no tool that changes anything, and none that takes a path.

Whatever a model asks for, the only paths that leave here are those of `read_call`, with checked ids and numbers; no delivery PIN is
behind any of them. What comes back is cut to size and to the fields below: other people's ids, notes and addresses stay here.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from common.primitives.ids import parse_uuid
from common.primitives.money import AMOUNT_MINOR_MAX
from notifications.domain.conversations import Asker, ToolCall
from notifications.domain.help_articles import search_articles

Tool = Literal["search_products", "show_product", "list_my_orders", "show_my_order", "search_help"]

ARGUMENTS_CHARACTERS_MAX: Final = 2_000
QUERY_CHARACTERS_MAX: Final = 100
PRODUCTS_MAX: Final = 5
ORDERS_MAX: Final = 8
ITEMS_MAX: Final = 6
RESULT_CHARACTERS_MAX: Final = 6_000
_DESCRIPTION_CHARACTERS_MAX: Final = 240
_NAME_CHARACTERS_MAX: Final = 100


def _described(name: Tool, does: str, required: tuple[str, ...] = (), **fields: tuple[str, str]) -> dict[str, Any]:
    properties = {field: {"type": kind, "description": meaning} for field, (kind, meaning) in fields.items()}
    schema = {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}
    return {"type": "function", "function": {"name": name, "description": does, "parameters": schema}}


TOOLS: Final = (
    _described(
        "search_products",
        "Products of the marketplace that can be bought now, by words and price.",
        query=("string", "Words that the product's name or description has; leave it out to see all."),
        minPriceNaira=("number", "Lowest price in naira."),
        maxPriceNaira=("number", "Highest price in naira."),
        cheapestFirst=("boolean", "Whether the cheapest come first, instead of those that fit the words best."),
    ),
    _described("show_product", "One product in full.", ("productId",), productId=("string", "Its id.")),
    _described("list_my_orders", "The latest orders of the person who asks."),
    _described("show_my_order", "One order of the person who asks.", ("orderId",), orderId=("string", "Its id.")),
    _described(
        "search_help",
        "How the marketplace works: payment, delivery PIN, refunds, returns, disputes, selling, payouts, account, support.",
        ("query",),
        query=("string", "Words of the question."),
    ),
)


@dataclass(frozen=True, slots=True)
class Lookup:
    """One GET at our own catalog or orders, under the caller's token."""

    tool: Tool
    path: str
    parameters: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Known:
    """What is answered without asking anybody."""

    result: Any


@dataclass(frozen=True, slots=True)
class Refused:
    """A call that is not done; the model is told why."""

    reason: str


def read_call(call: ToolCall) -> Lookup | Known | Refused:
    """What a call asks for. Every argument is the model's own word, and is believed in its form only."""
    if len(call.arguments) > ARGUMENTS_CHARACTERS_MAX:
        return Refused("the arguments are too long")
    try:
        arguments = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        return Refused("the arguments are not JSON")
    if not isinstance(arguments, dict):
        return Refused("the arguments are not an object")
    match call.name:
        case "search_products":
            return _product_search(arguments)
        case "show_product":
            return _one("show_product", "/api/products", arguments.get("productId"))
        case "list_my_orders":
            return Lookup("list_my_orders", "/api/orders", {"limit": str(ORDERS_MAX)})
        case "show_my_order":
            return _one("show_my_order", "/api/orders", arguments.get("orderId"))
        case "search_help":
            return _help_search(arguments)
        case _:
            return Refused("there is no such tool")


def result_text(result: Any) -> str:
    """A result as a model reads it: one JSON document of bounded length."""
    while len(text := json.dumps({"result": result}, ensure_ascii=False)) > RESULT_CHARACTERS_MAX:
        if not isinstance(result, list) or not result:
            return error_text("the result is too long")
        result = result[:-1]
    return text


def error_text(reason: str) -> str:
    """What a model reads when there is no result."""
    return json.dumps({"error": reason})


def shown(lookup: Lookup, found: Any, asker: Asker) -> Any:
    """What of an answer a model is shown; None when it holds nothing of the asker's.

    Staff may see other people's orders; through the assistant they do not: an order is shown to who bought or sells it.
    """
    match lookup.tool:
        case "search_products":
            return [_product(row) for row in _rows(found)[:PRODUCTS_MAX]]
        case "show_product":
            return _product(found) if isinstance(found, dict) else None
        case "list_my_orders":
            return [_order(row, asker) for row in _rows(found) if _is_own(row, asker)]
        case "show_my_order":
            return _order(found, asker) if isinstance(found, dict) and _is_own(found, asker) else None
        case _:
            return None


def _product_search(arguments: Mapping[str, Any]) -> Lookup | Refused:
    parameters = {"limit": str(PRODUCTS_MAX), "inStock": "true"}
    query = arguments.get("query")
    if query is not None and not isinstance(query, str):
        return Refused("query must be text")
    if query and (words := _plain(query)):
        parameters |= {"q": words, "sort": "relevance"}
    cheapest_first = arguments.get("cheapestFirst", False)
    if not isinstance(cheapest_first, bool):
        return Refused("cheapestFirst must be true or false")
    if cheapest_first:
        parameters["sort"] = "price_asc"
    for name, parameter in (("minPriceNaira", "minPriceMinor"), ("maxPriceNaira", "maxPriceMinor")):
        price = arguments.get(name)
        if price is None:
            continue
        if isinstance(price, bool) or not isinstance(price, int | float) or not 0 <= price <= AMOUNT_MINOR_MAX / 100:
            return Refused(f"{name} must be a price in naira")
        parameters[parameter] = str(round(price * 100))
    return Lookup("search_products", "/api/products", parameters)


def _help_search(arguments: Mapping[str, Any]) -> Known | Refused:
    query = arguments.get("query")
    if not isinstance(query, str):
        return Refused("query must be text")
    articles = search_articles(query[: QUERY_CHARACTERS_MAX * 10])
    return Known([{"title": article.title, "text": article.text} for article in articles])


def _one(tool: Tool, folder: str, offered: Any) -> Lookup | Refused:
    one_id = parse_uuid(offered) if isinstance(offered, str) else None
    return Refused("the id must be a UUID") if one_id is None else Lookup(tool, f"{folder}/{one_id}", {})


def _plain(query: str) -> str:
    """Letters, digits and spaces: what a search is made of."""
    kept = "".join(character if character.isalnum() else " " for character in query)
    return " ".join(kept.split())[:QUERY_CHARACTERS_MAX].strip()


def _rows(found: Any) -> list[dict[str, Any]]:
    return [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []


def _product(row: Mapping[str, Any]) -> dict[str, Any]:
    shown_product = {
        "id": row.get("id"),
        "name": _cut(row.get("name"), _NAME_CHARACTERS_MAX),
        "description": _cut(row.get("description"), _DESCRIPTION_CHARACTERS_MAX),
        "category": _cut(row.get("category"), _NAME_CHARACTERS_MAX),
        "vendor": _cut(row.get("vendorName"), _NAME_CHARACTERS_MAX),
        "price": naira_text(row.get("priceMinor")),
        "inStock": row.get("inStock") is True,
    }
    sale = row.get("flashSale")
    if isinstance(sale, dict):
        shown_product["saleEndsAt"] = sale.get("endsAt")
    return shown_product


def _is_own(row: Mapping[str, Any], asker: Asker) -> bool:
    return row.get("buyerId") == str(asker.user_id) or _is_sold_by(row, asker)


def _is_sold_by(row: Mapping[str, Any], asker: Asker) -> bool:
    return asker.vendor_id is not None and row.get("vendorId") == str(asker.vendor_id)


def _order(row: Mapping[str, Any], asker: Asker) -> dict[str, Any]:
    items = _rows(row.get("items"))
    shown_order = {
        "id": row.get("id"),
        "status": row.get("status"),
        "total": naira_text(row.get("totalMinor")),
        "refunded": naira_text(row.get("refundedMinor")),
        "asker": "vendor" if _is_sold_by(row, asker) else "buyer",
        "items": [
            {"name": _cut(item.get("name"), _NAME_CHARACTERS_MAX), "quantity": item.get("quantity")}
            for item in items[:ITEMS_MAX]
        ],
        "moreItems": max(0, len(items) - ITEMS_MAX),
    }
    return shown_order | {name: row.get(name) for name in ("createdAt", "paymentDueAt", "deliveredAt", "returnDueAt")}


def _cut(text: Any, characters_max: int) -> str:
    plain = " ".join(str(text or "").split())
    return plain if len(plain) <= characters_max else plain[: characters_max - 1] + "\N{HORIZONTAL ELLIPSIS}"


def naira_text(amount_minor: Any) -> str | None:
    """`NGN 4,500`, or `NGN 4,500.50`."""
    if not isinstance(amount_minor, int):
        return None
    whole, kobo = divmod(amount_minor, 100)
    return f"NGN {whole:,}" + (f".{kobo:02d}" if kobo else "")
