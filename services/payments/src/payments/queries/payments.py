"""Payments of a buyer."""

from collections.abc import Mapping, Sequence
from typing import Final, TypedDict
from uuid import UUID

from common.database.parameters import Parameters, all_of
from common.database.unit_of_work import Reads
from common.primitives.clock import iso
from common.primitives.problems import NotFound
from common.web.pages import Found, OffsetPage
from common.web.response_models import Row
from payments.responses.payments import BankTransfer, Payment, PaymentIntent
from payments.store.intents import Intent

# A reason is stored also after a later success, but shown only while the payment is failed.
_PAYMENT: Final = """
SELECT id, order_id, number_of_order(order_id) AS order_number,
       reference, amount_minor, balance_minor, amount_minor - balance_minor AS gateway_minor, currency, status,
       channel, created_at, paid_at,
       CASE status WHEN 'failed' THEN failure_reason END AS failure_reason,
       CASE status WHEN 'quarantined' THEN received_minor END AS received_minor,
       purchase_id AS paid_purchase_id, ARRAY (
           SELECT named.order_id FROM intent_orders named WHERE named.intent_id = payment_intents.id
           ORDER BY named.position
       ) AS paid_order_ids
FROM payment_intents
"""
# The caller's own payments, and all for staff. The row policy enforces it; the planner needs it here.
_OWN: Final = "(buyer_id = app_user_id() OR app_may('ledger:read') OR app_may('payments:read'))"
_FILTERS: Final[Mapping[str, str]] = {
    "status": "status = {}",
    "orderId": "id IN (SELECT id FROM payment_intents WHERE order_id = {0} "
    "UNION ALL SELECT intent_id FROM intent_orders WHERE order_id = {0})",
    "purchaseId": "purchase_id = {}",
    "reference": "reference = {}",
    "from": "created_at >= {}",
    "to": "created_at < {}",
}


async def page_of_payments(reads: Reads, page: OffsetPage, filters: Mapping[str, object]) -> Found[Payment]:
    """One page of the caller's visible payments; `filters` by their public names."""
    parameters = Parameters()
    where = all_of([_OWN, *parameters.conditions(_FILTERS, filters)])
    total = await reads.fetch_value(f"SELECT count(*) FROM payment_intents WHERE {where}", *parameters.values)
    order = page.order_by({"created_at": "created_at"}[page.sort], "id")
    bounds = f"LIMIT {page.limit} OFFSET {page.offset}"
    rows = await reads.fetch(f"{_PAYMENT} WHERE {where} {order} {bounds}", *parameters.values)
    return [_payment(row) for row in rows], total


async def find_payment(reads: Reads, payment_id: UUID) -> Payment:
    """Raise NotFound."""
    row = await reads.fetch_row(f"{_PAYMENT} WHERE id = $1", payment_id)
    if row is None:
        raise NotFound
    return _payment(row)


def intent_view(intent: Intent) -> PaymentIntent:
    """Return the response to `POST /api/payments/intent` (contract section 7)."""
    return PaymentIntent(
        id=intent.id,
        order_id=intent.order_id,
        reference=intent.reference,
        amount_minor=intent.amount_minor,
        balance_minor=intent.balance_minor,
        gateway_minor=intent.gateway_minor,
        currency=intent.currency,
        status=intent.status,
        authorization_url=intent.authorization_url,
        access_code=intent.access_code,
        expires_at=iso(intent.expires_at),
        bank_transfer=_bank_transfer(intent),
        **_purchase(intent.purchase_id, intent.order_id, intent.order_ids),
    )


def _bank_transfer(intent: Intent) -> BankTransfer | None:
    """Return the account to transfer to, if the intent has one."""
    bank_name, number = intent.transfer_bank_name, intent.transfer_account_number
    amount_minor, expires_at = intent.transfer_amount_minor, intent.transfer_expires_at
    if bank_name is None or number is None or amount_minor is None or expires_at is None:
        return None
    return BankTransfer(
        bank_name=bank_name,
        account_number=number,
        account_name=intent.transfer_account_name,
        amount_minor=amount_minor,
        expires_at=iso(expires_at),
    )


def _payment(row: Row) -> Payment:
    return Payment.from_row(row, **_purchase(row["paid_purchase_id"], row["order_id"], row["paid_order_ids"]))


class _Purchase(TypedDict, total=False):
    purchase_id: UUID
    order_ids: list[UUID]


def _purchase(purchase_id: UUID | None, order_id: UUID, order_ids: Sequence[UUID]) -> _Purchase:
    """Return the members of a payment for a purchase; none of any other payment."""
    return {} if purchase_id is None else {"purchase_id": purchase_id, "order_ids": list(order_ids) or [order_id]}
