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
        "integration transaction id amount deducted_amount fully_deducted transaction_amount": WHOLE,
        "dispute settlement bank_reference session_id": ANYTHING,
        "domain currency status refunded_by customer_note merchant_note transaction_reference reason": TEXT,
        "refunded_at": nullable(INSTANT),
        "createdAt": INSTANT,
        "customer": customer({"first_name last_name international_format_phone": TEXT}),
        "refund_type initiated_by refund_channel": TEXT,
        "collect_account_number": FLAG,
    }
)
# The refund that a call has just made: `transaction` is the whole object.
CREATED_REFUND: Final = record(
    {
        "transaction": record(
            {
                "id amount": WHOLE,
                "domain reference channel currency": TEXT,
                "paid_at paidAt": INSTANT,
                "authorization": record({"exp_month exp_year account_name": ANYTHING}),
                "customer": record({"international_format_phone": nullable(TEXT)}),
                "plan split order_id pos_transaction_data source fees_breakdown": ANYTHING,
                "subaccount": record({"currency": ANYTHING}),
            }
        ),
        "integration deducted_amount amount id": WHOLE,
        "channel": ANYTHING,
        "merchant_note customer_note status refunded_by currency domain": TEXT,
        "expected_at createdAt updatedAt": INSTANT,
        "fully_deducted": FLAG,
    }
)
RETRIED_REFUND: Final = record(
    {
        "integration transaction id amount deducted_amount": NUMBER,
        "dispute settlement customer": ANYTHING,
        "domain currency status channel refunded_by customer_note merchant_note reason initiated_by": TEXT,
        "refunded_at bank_reference reversed_at session_id": nullable(TEXT),
        "expected_at": INSTANT,
        "fully_deducted": FLAG,
    }
)

CREATE: Final = Operation(
    "POST",
    "/refund",
    body=record(
        {
            "transaction customer_note? merchant_note?": TEXT,
            "amount?": {"type": "integer", "minimum": 1},
            "currency?": CURRENCY,
        },
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
        {"refund_account_details": record({"currency": TEXT, "account_number bank_id": DIGITS}, closed=True)},
        closed=True,
    ),
    responses={200: success(RETRIED_REFUND), 422: FAULT},
)
OPERATIONS: Final = (CREATE, FETCH, LIST, RETRY)
