"""Refunds: create, fetch, list, and the retry with the customer's bank account."""

from typing import Final

from testkit.providers.operations import Operation
from testkit.providers.paystack.envelopes import CURRENCY, FAULT, PAGE_META, customer, page, success
from testkit.providers.schemas import (
    ANYTHING,
    DIGITS,
    FLAG,
    INSTANT,
    NUMBER,
    TEXT,
    WHOLE,
    nullable,
    record,
)

STATUSES: Final = ("pending", "processing", "processed", "failed", "needs-attention")
# A refund as the fetch and the list show it: `transaction` is the id.
REFUND: Final = record(
    {
        "integration": WHOLE,
        "transaction": WHOLE,
        "dispute": ANYTHING,
        "settlement": ANYTHING,
        "id": WHOLE,
        "domain": TEXT,
        "currency": TEXT,
        "amount": WHOLE,
        "status": TEXT,
        "refunded_at": nullable(INSTANT),
        "refunded_by": TEXT,
        "customer_note": TEXT,
        "merchant_note": TEXT,
        "deducted_amount": WHOLE,
        "fully_deducted": WHOLE,
        "createdAt": INSTANT,
        "bank_reference": ANYTHING,
        "transaction_reference": TEXT,
        "reason": TEXT,
        "customer": customer({"first_name": TEXT, "last_name": TEXT, "international_format_phone": TEXT}),
        "refund_type": TEXT,
        "transaction_amount": WHOLE,
        "initiated_by": TEXT,
        "refund_channel": TEXT,
        "session_id": ANYTHING,
        "collect_account_number": FLAG,
    }
)
# The refund that a call has just made: `transaction` is the whole object.
CREATED_REFUND: Final = record(
    {
        "transaction": record(
            {
                "id": WHOLE,
                "domain": TEXT,
                "reference": TEXT,
                "amount": WHOLE,
                "paid_at": INSTANT,
                "channel": TEXT,
                "currency": TEXT,
                "authorization": record({"exp_month": ANYTHING, "exp_year": ANYTHING, "account_name": ANYTHING}),
                "customer": record({"international_format_phone": nullable(TEXT)}),
                "plan": ANYTHING,
                "subaccount": record({"currency": ANYTHING}),
                "split": ANYTHING,
                "order_id": ANYTHING,
                "paidAt": INSTANT,
                "pos_transaction_data": ANYTHING,
                "source": ANYTHING,
                "fees_breakdown": ANYTHING,
            }
        ),
        "integration": WHOLE,
        "deducted_amount": WHOLE,
        "channel": ANYTHING,
        "merchant_note": TEXT,
        "customer_note": TEXT,
        "status": TEXT,
        "refunded_by": TEXT,
        "expected_at": INSTANT,
        "currency": TEXT,
        "domain": TEXT,
        "amount": WHOLE,
        "fully_deducted": FLAG,
        "id": WHOLE,
        "createdAt": INSTANT,
        "updatedAt": INSTANT,
    }
)
RETRIED_REFUND: Final = record(
    {
        "integration": NUMBER,
        "transaction": NUMBER,
        "dispute": ANYTHING,
        "settlement": ANYTHING,
        "id": NUMBER,
        "domain": TEXT,
        "currency": TEXT,
        "amount": NUMBER,
        "status": TEXT,
        "refunded_at": nullable(TEXT),
        "expected_at": INSTANT,
        "channel": TEXT,
        "refunded_by": TEXT,
        "customer_note": TEXT,
        "merchant_note": TEXT,
        "deducted_amount": NUMBER,
        "fully_deducted": FLAG,
        "bank_reference": nullable(TEXT),
        "reason": TEXT,
        "customer": ANYTHING,
        "initiated_by": TEXT,
        "reversed_at": nullable(TEXT),
        "session_id": nullable(TEXT),
    }
)

CREATE: Final = Operation(
    "POST",
    "/refund",
    body=record(
        {
            "transaction": TEXT,
            "amount": {"type": "integer", "minimum": 1},
            "currency": CURRENCY,
            "customer_note": TEXT,
            "merchant_note": TEXT,
        },
        optional=("amount", "currency", "customer_note", "merchant_note"),
        closed=True,
    ),
    responses={200: success(CREATED_REFUND)},
)
FETCH: Final = Operation(
    "GET",
    "/refund/{id}",
    responses={200: success(REFUND), 404: FAULT},
    departures={"200.data.customer.phone": "null for a payer without one, as in the list"},
)
LIST: Final = Operation(
    "GET",
    "/refund",
    query={"transaction": TEXT, "perPage": WHOLE, "page": WHOLE, "from": INSTANT, "to": INSTANT},
    responses={200: page(REFUND, {**PAGE_META, "perPage": TEXT, "failedRefundCount": WHOLE})},
    departures={
        "query.transaction": "paystack.com/docs/api/refund/#list names the transaction's id as a filter",
    },
)
RETRY: Final = Operation(
    "POST",
    "/refund/retry_with_customer_details/{id}",
    body=record(
        {
            "refund_account_details": record(
                {"currency": TEXT, "account_number": DIGITS, "bank_id": DIGITS}, closed=True
            )
        },
        closed=True,
    ),
    responses={200: success(RETRIED_REFUND), 422: FAULT},
)
OPERATIONS: Final = (CREATE, FETCH, LIST, RETRY)
