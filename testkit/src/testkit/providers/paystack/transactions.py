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

_AUTHORIZATION_FIELDS: Final = {
    "authorization_code": TEXT,
    "bin": ANYTHING,
    "last4": TEXT,
    "exp_month": TEXT,
    "exp_year": TEXT,
    "channel": TEXT,
    "card_type": TEXT,
    "bank": TEXT,
    "country_code": TEXT,
    "brand": TEXT,
    "reusable": FLAG,
    "signature": TEXT,
    "account_name": ANYTHING,
}
# Empty while it is unpaid.
AUTHORIZATION: Final = record(_AUTHORIZATION_FIELDS, optional=_AUTHORIZATION_FIELDS)
LISTED_AUTHORIZATION: Final = record(
    {name: FLAG if name == "reusable" else nullable(TEXT) for name in _AUTHORIZATION_FIELDS}
)
TRANSACTION: Final = record(
    {
        "id": WHOLE,
        "domain": TEXT,
        "status": TEXT,
        "reference": TEXT,
        "receipt_number": nullable(TEXT),
        "amount": WHOLE,
        "message": nullable(TEXT),
        "gateway_response": TEXT,
        "paid_at": nullable(INSTANT),
        "created_at": INSTANT,
        "channel": TEXT,
        "currency": TEXT,
        "ip_address": nullable(TEXT),
        "metadata": either(TEXT, OBJECT),
        "log": OBJECT_OR_NULL,
        "fees": nullable(WHOLE),
        "fees_split": ANYTHING,
        "authorization": AUTHORIZATION,
        "customer": customer({"international_format_phone": nullable(TEXT)}),
        "plan": nullable(TEXT),
        "split": OBJECT,
        "order_id": ANYTHING,
        "paidAt": nullable(INSTANT),
        "createdAt": INSTANT,
        "requested_amount": WHOLE,
        "pos_transaction_data": ANYTHING,
        "source": ANYTHING,
        "fees_breakdown": ANYTHING,
        "connect": ANYTHING,
        "transaction_date": INSTANT,
        "plan_object": OBJECT,
        "subaccount": OBJECT,
    }
)
LISTED_TRANSACTION: Final = record(
    {
        "id": WHOLE,
        "domain": TEXT,
        "status": TEXT,
        "reference": TEXT,
        "amount": WHOLE,
        "message": ANYTHING,
        "gateway_response": TEXT,
        "paid_at": nullable(INSTANT),
        "created_at": INSTANT,
        "channel": TEXT,
        "currency": TEXT,
        "ip_address": nullable(TEXT),
        "metadata": ANYTHING,
        "log": OBJECT_OR_NULL,
        "fees": nullable(WHOLE),
        "fees_split": nullable(WHOLE),
        "customer": customer({}),
        "authorization": LISTED_AUTHORIZATION,
        "plan": OBJECT,
        "split": OBJECT,
        "subaccount": OBJECT,
        "order_id": ANYTHING,
        "paidAt": nullable(INSTANT),
        "createdAt": INSTANT,
        "requested_amount": WHOLE,
        "source": OBJECT_OR_NULL,
        "connect": OBJECT_OR_NULL,
        "pos_transaction_data": ANYTHING,
    }
)

INITIALIZE: Final = Operation(
    "POST",
    "/transaction/initialize",
    body=record(
        {
            "email": {"type": "string", "format": "email", "pattern": "^[^@ ]+@[^@ ]+[.][^@ ]+$"},
            "amount": {"type": "integer", "minimum": 1},
            "currency": CURRENCY,
            "reference": {"type": "string", "pattern": "^[A-Za-z0-9.=_-]+$"},
            "channels": rows(CHANNELS),
            "callback_url": {"type": "string", "pattern": "^https?://"},
            "metadata": ANYTHING,
        },
        optional=("currency", "reference", "channels", "callback_url", "metadata"),
        closed=True,
    ),
    responses={200: success(record({"authorization_url": TEXT, "access_code": TEXT, "reference": TEXT})), 400: FAULT},
)
VERIFY: Final = Operation(
    "GET",
    "/transaction/verify/{reference}",
    responses={200: success(TRANSACTION), 404: FAULT},
    departures={"200.data.ip_address": "null for a transaction that nobody has opened, as in the list"},
)
FETCH: Final = replace(VERIFY, path="/transaction/{id}")
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
