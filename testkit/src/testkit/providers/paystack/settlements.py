"""Settlements to the merchant's bank account, and their transactions.

The specification has no fields of the responses; they are those of the examples of paystack.com/docs/api/settlement.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from testkit.providers.operations import Operation
from testkit.providers.paystack.envelopes import FAULT, PAGE_META, TEXT_OR_WHOLE, page
from testkit.providers.schemas import ANYTHING, INSTANT, TEXT, WHOLE, Schema, choice, nullable, record

STATUS: Final = choice("success", "processing", "pending", "failed")
SETTLEMENT: Final = record(
    {
        "id integration total_amount effective_amount total_fees total_processed": WHOLE,
        "domain currency": TEXT,
        "status": STATUS,
        "deductions": nullable(WHOLE),
        "settlement_date createdAt updatedAt": INSTANT,
        "settled_by": nullable(TEXT),
    }
)
SETTLED_TRANSACTION: Final = record(
    {
        "id amount": WHOLE,
        "status reference channel currency": TEXT,
        "paid_at created_at": INSTANT,
        "fees": nullable(WHOLE),
        "customer": ANYTHING,
    }
)


def _places(schema: Schema, place: str) -> Iterator[str]:
    """Every property below the schema, as a comparison names it."""
    if "items" in schema:
        yield from _places(schema["items"], f"{place}[]")
    for name, inner in schema.get("properties", {}).items():
        yield f"{place}.{name}"
        yield from _places(inner, f"{place}.{name}")


def _departures(content: Schema, query: Iterable[str]) -> dict[str, str]:
    return dict.fromkeys((*_places(content, "200"), *(f"query.{name}" for name in query)), _PAGES)


_PAGES: Final = "paystack.com/docs/api/settlement names it beyond the specification"
_META: Final = {**PAGE_META, "perPage": TEXT_OR_WHOLE}

LIST: Final = Operation(
    "GET",
    "/settlement",
    query={
        "perPage": WHOLE,
        "page": WHOLE,
        "status": STATUS,
        "subaccount": TEXT,
        "from": INSTANT,
        "to": INSTANT,
    },
    responses={200: page(SETTLEMENT, _META)},
    departures=_departures(page(SETTLEMENT, _META), ("status", "subaccount", "from", "to")),
)
TRANSACTIONS: Final = Operation(
    "GET",
    "/settlement/{id}/transactions",
    query={"perPage": WHOLE, "page": WHOLE},
    responses={200: page(SETTLED_TRANSACTION, _META), 404: FAULT},
    departures=_departures(page(SETTLED_TRANSACTION, _META), ("perPage", "page")),
)
OPERATIONS: Final = (LIST, TRANSACTIONS)
