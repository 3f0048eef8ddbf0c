"""Payments of a buyer."""

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from common.database.parameters import Parameters, all_of
from common.database.unit_of_work import Reads
from common.primitives.clock import iso
from common.primitives.problems import NotFound
from common.web.pages import Found, OffsetPage
from payments.responses.payments import Payment, PaymentIntent
from payments.store.intents import Intent

# A reason is stored also after a later success, but shown only while the payment is failed.
_PAYMENT: Final = """
SELECT id, order_id, number_of_order(order_id) AS order_number,
       reference, amount_minor, currency, status, channel, created_at, paid_at,
       CASE status WHEN 'failed' THEN failure_reason END AS failure_reason
FROM payment_intents
"""
# The caller's own payments, and all for staff. The row policy enforces it; the planner needs it here.
_OWN: Final = "(buyer_id = app_user_id() OR app_may('ledger:read') OR app_may('payments:read'))"
_FILTERS: Final[Mapping[str, str]] = {
    "status": "status = {}",
    "orderId": "order_id = {}",
    "from": "created_at >= {}",
    "to": "created_at < {}",
}


async def page_of_payments(reads: Reads, page: OffsetPage, filters: Mapping[str, Any]) -> Found[Payment]:
    """One page of the caller's visible payments; `filters` by their public names."""
    parameters = Parameters()
    where = all_of([_OWN, *parameters.conditions(_FILTERS, filters)])
    total = await reads.fetch_value(f"SELECT count(*) FROM payment_intents WHERE {where}", *parameters.values)
    order = page.order_by({"created_at": "created_at"}[page.sort], "id")
    bounds = f"LIMIT {page.limit} OFFSET {page.offset}"
    rows = await reads.fetch(f"{_PAYMENT} WHERE {where} {order} {bounds}", *parameters.values)
    return [Payment.from_row(row) for row in rows], total


async def find_payment(reads: Reads, payment_id: UUID) -> Payment:
    """Raise NotFound."""
    row = await reads.fetch_row(f"{_PAYMENT} WHERE id = $1", payment_id)
    if row is None:
        raise NotFound
    return Payment.from_row(row)


def intent_view(intent: Intent) -> PaymentIntent:
    """Return the response to `POST /api/payments/intent` (contract section 7)."""
    return PaymentIntent(
        id=intent.id,
        order_id=intent.order_id,
        reference=intent.reference,
        amount_minor=intent.amount_minor,
        currency=intent.currency,
        status=intent.status,
        authorization_url=intent.authorization_url,
        access_code=intent.access_code,
        expires_at=iso(intent.expires_at),
    )
