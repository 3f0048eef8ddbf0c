"""Paystack's transactions, refunds and their events, as its documentation shows them, and their reading."""

from datetime import UTC, datetime
from typing import Any

from payments.domain.charges import Charge

PAID_AT = "2026-03-04T10:20:30.000Z"
PAYER = {
    "id": 41,
    "first_name": None,
    "last_name": None,
    "email": "payer@unilag.edu.ng",
    "customer_code": "CUS_41",
    "phone": None,
    "metadata": None,
    "risk_action": "default",
    "international_format_phone": None,
}
CARD = {"authorization_code": "AUTH_1", "last4": "4081", "exp_month": "12", "exp_year": "2030", "channel": "card"}
NOTE = f"re-{'a' * 32}"


def shown_charge(**changes: Any) -> dict[str, Any]:
    """Return a transaction as `charge.success` shows it."""
    return {
        "id": 5501,
        "domain": "live",
        "status": "success",
        "reference": "ch-1",
        "amount": 250_000,
        "message": None,
        "gateway_response": "Approved",
        "paid_at": PAID_AT,
        "created_at": PAID_AT,
        "channel": "card",
        "currency": "NGN",
        "ip_address": None,
        "metadata": {"orderId": "018cc251-f400-7000-8000-000000000001", "settlement": "250000"},
        "log": None,
        "fees": 13_750,
        "customer": PAYER,
        "authorization": CARD,
        "plan": {},
        **changes,
    }


def verified_charge(**changes: Any) -> dict[str, Any]:
    """Return a transaction as `GET /transaction/verify/:reference` shows it."""
    more = {
        "receipt_number": None,
        "fees_split": None,
        "plan": None,
        "split": {},
        "order_id": None,
        "paidAt": PAID_AT,
        "createdAt": PAID_AT,
        "requested_amount": 250_000,
        "pos_transaction_data": None,
        "source": None,
        "fees_breakdown": None,
        "connect": None,
        "transaction_date": PAID_AT,
        "plan_object": {},
        "subaccount": {},
    }
    return {**shown_charge(), **more, **changes}


def shown_refund(**changes: Any) -> dict[str, Any]:
    """Return a refund as `GET /refund/:id` shows it."""
    return {
        "integration": 9,
        "transaction": 5501,
        "dispute": None,
        "settlement": None,
        "id": 77,
        "domain": "live",
        "currency": "NGN",
        "amount": 100_000,
        "status": "processed",
        "refunded_at": PAID_AT,
        "refunded_by": "owner@shop.example",
        "customer_note": "",
        "merchant_note": NOTE,
        "deducted_amount": 100_000,
        "fully_deducted": 1,
        "createdAt": PAID_AT,
        "bank_reference": None,
        "transaction_reference": "ch-1",
        "reason": "PROCESSED",
        "customer": PAYER | {"first_name": "", "last_name": "", "international_format_phone": ""},
        "refund_type": "partial",
        "transaction_amount": 250_000,
        "initiated_by": "owner@shop.example",
        "refund_channel": "api",
        "session_id": None,
        "collect_account_number": False,
        **changes,
    }


def refund_event(status: str, **changes: Any) -> dict[str, Any]:
    data = {
        "status": status,
        "transaction_reference": "ch-1",
        "refund_reference": None,
        "amount": "100000",
        "currency": "NGN",
        "processor": "instant-transfer",
        "customer": {"first_name": "Ada", "last_name": "Obi", "email": "payer@unilag.edu.ng"},
        "integration": 9,
        "domain": "live",
        **changes,
    }
    return {"event": f"refund.{status}", "data": data}


PAID = Charge(
    reference="ch-1",
    gateway_id="5501",
    amount_minor=250_000,
    currency="NGN",
    order_named="018cc251-f400-7000-8000-000000000001",
    settlement="250000",
    channel="card",
    fee_minor=13_750,
    paid_at=datetime(2026, 3, 4, 10, 20, 30, tzinfo=UTC),
    failure_reason="Approved",
)
UNNAMED = {"order_named": None, "settlement": None}
