"""Transactions: initialize, verify, list."""

from dataclasses import replace
from typing import Final

from testkit.providers.operations import Operation
from testkit.providers.paystack.envelopes import (
    CURRENCY,
    FAULT,
    OBJECT_OR_NULL,
    PAGE_META,
    TEXT_OR_WHOLE,
    customer,
    page,
    success,
)
from testkit.providers.schemas import (
    ANYTHING,
    FLAG,
    INSTANT,
    NUMBER,
    OBJECT,
    TEXT,
    WHOLE,
    choice,
    either,
    nullable,
    record,
    rows,
)

CHANNELS: Final = choice("card", "bank", "ussd", "qr", "eft", "mobile_money", "bank_transfer")

_TEXTS: Final = "authorization_code last4 exp_month exp_year channel card_type bank country_code brand signature"
# Empty while it is unpaid.
AUTHORIZATION: Final = record(
    {f"{name}?": TEXT for name in _TEXTS.split()} | {"reusable?": FLAG, "bin? account_name?": ANYTHING}
)
LISTED_AUTHORIZATION: Final = record({f"{_TEXTS} bin account_name": nullable(TEXT), "reusable": FLAG})
TRANSACTION: Final = record(
    {
        "id amount requested_amount": WHOLE,
        "domain status reference gateway_response channel currency": TEXT,
        "receipt_number message ip_address plan": nullable(TEXT),
        "paid_at paidAt": nullable(INSTANT),
        "created_at createdAt transaction_date": INSTANT,
        "metadata": either(TEXT, OBJECT),
        "log": OBJECT_OR_NULL,
        "fees": nullable(WHOLE),
        "fees_split order_id pos_transaction_data source fees_breakdown connect": ANYTHING,
        "authorization": AUTHORIZATION,
        "customer": customer({"international_format_phone": nullable(TEXT)}),
        "split plan_object subaccount": OBJECT,
    }
)
LISTED_TRANSACTION: Final = record(
    {
        "id amount requested_amount": WHOLE,
        "domain status reference gateway_response channel currency": TEXT,
        "message metadata order_id pos_transaction_data": ANYTHING,
        "paid_at paidAt": nullable(INSTANT),
        "created_at createdAt": INSTANT,
        "ip_address": nullable(TEXT),
        "log source connect": OBJECT_OR_NULL,
        "fees fees_split": nullable(WHOLE),
        "customer": customer({}),
        "authorization": LISTED_AUTHORIZATION,
        "plan split subaccount": OBJECT,
    }
)

INITIALIZE: Final = Operation(
    "POST",
    "/transaction/initialize",
    body=record(
        {
            "email": {"type": "string", "format": "email", "pattern": "^[^@ ]+@[^@ ]+[.][^@ ]+$"},
            "amount": {"type": "integer", "minimum": 1},
            "currency?": CURRENCY,
            "reference?": {"type": "string", "pattern": "^[A-Za-z0-9.=_-]+$"},
            "channels?": rows(CHANNELS),
            "callback_url?": {"type": "string", "pattern": "^https?://"},
            "metadata?": ANYTHING,
        },
        closed=True,
    ),
    responses={200: success(record({"authorization_url access_code reference": TEXT})), 400: FAULT},
)
VERIFY: Final = Operation(
    "GET",
    "/transaction/verify/{reference}",
    responses={200: success(TRANSACTION), 404: FAULT},
    departures={"200.data.ip_address": "null for a transaction that nobody has opened, as in the list"},
)
# The specification has another form of a transaction here; the client reads that of verify.
_OTHERS_IN_FETCH: Final = (
    *(f"authorization.{name}" for name in f"{_TEXTS} bin account_name reusable".split()),
    *("authorization.receiver_bank", "authorization.receiver_bank_account_number", "customer.first_name"),
    *("customer.last_name", "customer.phone", "customer.international_format_phone", "fees", "helpdesk_link"),
    *("ip_address", "metadata", "paidAt", "paid_at", "plan", "plan_object", "transaction_date"),
)
FETCH: Final = replace(
    VERIFY,
    path="/transaction/{id}",
    departures={f"200.data.{name}": "as in the response of verify" for name in _OTHERS_IN_FETCH},
)
LIST: Final = Operation(
    "GET",
    "/transaction",
    query={
        "perPage": WHOLE,
        "page": WHOLE,
        "from": INSTANT,
        "to": INSTANT,
        "status": choice("success", "failed", "abandoned", "reversed"),
    },
    responses={
        200: page(LISTED_TRANSACTION, {**PAGE_META, "total_volume": NUMBER, "perPage": TEXT_OR_WHOLE}),
    },
    departures={
        "query.perPage": (
            "the specification says per_page; paystack.com/docs/api/transaction/#list and its examples say perPage"
        ),
        "200.data[].paidAt": "null for a transaction that is not paid, as paid_at",
    },
)
OPERATIONS: Final = (INITIALIZE, VERIFY, FETCH, LIST)
