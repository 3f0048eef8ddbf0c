"""Transactions, refunds, transfers and chargebacks as in Flutterwave's responses and webhooks."""

from decimal import ROUND_HALF_UP, Decimal
from sqlite3 import Row
from typing import Any

import msgspec

from sandbox.flutterwave.wire import naira
from sandbox.gateway.banks import bank_name
from sandbox.gateway.fields import copied

# The number of the merchant's account.
ACCOUNT_ID = 73362
# The fee of a local payment: 1.4 %, at most 2,000 naira, and the value added tax on it.
FEE_SHARE = Decimal("0.014")
FEE_MINOR_MAX = 200_000
TAX_SHARE = Decimal("0.075")
PAYMENT_TYPES = {"card": "card", "bank_transfer": "bank_transfer", "ussd": "ussd"}
CARD = {
    "first_6digits": "553188",
    "last_4digits": "2950",
    "issuer": "MASTERCARD CREDIT",
    "country": "NG",
    "type": "MASTERCARD",
    "expiry": "09/32",
}


def _kobo(amount: Decimal) -> int:
    return int(amount.to_integral_value(ROUND_HALF_UP))


def app_fee_minor(amount_minor: int) -> int:
    """Return the gateway's fee of a payment in kobo, without tax."""
    return min(_kobo(amount_minor * FEE_SHARE), FEE_MINOR_MAX)


def cost_minor(amount_minor: int) -> int:
    """Return the deduction from a payment in kobo: fee and tax. `amount_settled` is the rest."""
    fee_minor = app_fee_minor(amount_minor)
    return fee_minor + _kobo(fee_minor * TAX_SHARE)


def flw_ref(charge_id: int, access_code: str) -> str:
    """Return the gateway's own reference of a transaction."""
    return f"FLW-SANDBOX-{access_code}-{charge_id}"


def transaction_view(charge: Row) -> dict[str, Any]:
    """Return a transaction as `verify` and the list show it. Its fee and settled amount are null until it is paid."""
    paid = charge["status"] == "success"
    amount_minor = charge["amount_minor"]
    customer = {"name": "Anonymous Customer", "phone_number": "N/A"}
    view = {
        **copied(charge, "id currency created_at", tx_ref="reference", processor_response="gateway_response"),
        "flw_ref": flw_ref(charge["id"], charge["access_code"]),
        "device_fingerprint": "N/A",
        "amount": naira(amount_minor),
        "charged_amount": naira(amount_minor),
        "app_fee": naira(app_fee_minor(amount_minor)) if paid else None,
        "merchant_fee": 0,
        "auth_model": "AUTH",
        "ip": "::127.0.0.1",
        "narration": "Campus Marketplace",
        "status": "successful" if paid else "failed",
        "payment_type": PAYMENT_TYPES[charge["channel"]],
        "account_id": ACCOUNT_ID,
        "meta": msgspec.json.decode(charge["metadata"]),
        "amount_settled": naira(amount_minor - cost_minor(amount_minor)) if paid else None,
        "customer": {**customer, **copied(charge, "email created_at", id="customer_id")},
    }
    return {**view, "card": CARD} if charge["channel"] == "card" else view


def listed_view(charge: Row) -> dict[str, Any]:
    """Return a row of the list: without metadata and card, and with the customer's fields on the same level."""
    view = transaction_view(charge)
    customer = view.pop("customer")
    del view["meta"]
    view.pop("card", None)
    return {**view, "customer_name": customer["name"], "customer_email": customer["email"]}


# `completed` means accepted: the bank has not paid the customer yet.
REFUND_STATUSES = {"pending": "completed", "processed": "completed-bank-transfer", "failed": "failed"}


def refund_view(refund: Row) -> dict[str, Any]:
    return {
        **copied(refund, "id created_at", tx_id="transaction_id", flw_ref="refund_reference", comments="merchant_note"),
        "account_id": ACCOUNT_ID,
        "wallet_id": 74639,
        "amount_refunded": naira(refund["amount_minor"]),
        "status": REFUND_STATUSES[refund["status"]],
        "destination": "payment_source",
        "meta": {"source": "availablebalance"},
    }


def refund_event(refund: Row) -> dict[str, Any]:
    """Render the webhook of a refund, which has its names in another case than the API's responses."""
    return {
        "event": "refund.completed",
        "data": {
            **copied(refund, "id", FlwRef="refund_reference", comments="merchant_note", TransactionId="transaction_id"),
            **copied(refund, "", createdAt="created_at", updatedAt="updated_at"),
            "AmountRefunded": naira(refund["amount_minor"]),
            "status": REFUND_STATUSES[refund["status"]],
            "destination": "payment_source",
            "settlement_id": "NEW",
            "meta": '{"source": "availablebalance"}',
            "walletId": 74639,
            "AccountId": ACCOUNT_ID,
        },
    }


# A transfer that the bank returns is shown as failed.
TRANSFER_STATUSES = {
    "otp": "NEW",
    "pending": "PENDING",
    "success": "SUCCESSFUL",
    "failed": "FAILED",
    "reversed": "FAILED",
}


def transfer_view(transfer: Row) -> dict[str, Any]:
    status = transfer["status"]
    return {
        **copied(transfer, "id account_number bank_code created_at currency reference", full_name="recipient_name"),
        **copied(transfer, "", debit_currency="currency", narration="reason"),
        "amount": naira(transfer["amount_minor"]),
        "fee": naira(transfer["fee_minor"] or 0),
        "status": TRANSFER_STATUSES[status],
        "meta": None,
        "complete_message": _complete_message(transfer),
        "requires_approval": 0,
        "is_approved": 1,
        "bank_name": bank_name(transfer["bank_code"]),
    }


def _complete_message(transfer: Row) -> str:
    """Return the bank's own text; empty while the transfer is under way."""
    if transfer["status"] == "success":
        return "Transaction was successful"
    return f"DISBURSE FAILED: {transfer['failure']}" if transfer["status"] in ("failed", "reversed") else ""


def transfer_event(transfer: Row) -> dict[str, Any]:
    view = transfer_view(transfer)
    view["fullname"] = view.pop("full_name")
    return {"event": "transfer.completed", "event.type": "Transfer", "data": {**view, "approver": None}}


def charge_event(charge: Row) -> dict[str, Any]:
    """`charge.completed` reports a declined payment too: its `status` is then `failed`."""
    view = transaction_view(charge)
    meta = view.pop("meta")
    return {"event": "charge.completed", "data": view, "meta_data": meta, "event.type": "CARD_TRANSACTION"}


CHARGEBACK_STATUSES = {None: "initiated", "merchant-accepted": "lost", "auto-accepted": "lost", "declined": "won"}


def chargeback_view(dispute: Row) -> dict[str, Any]:
    """`lost` and `won` are final; `initiated` holds the amount in the merchant's balance until then."""
    status = CHARGEBACK_STATUSES[dispute["resolution"]]
    return {
        **copied(dispute, "id created_at transaction_id", due_date="due_at", tx_ref="reference"),
        "amount": naira(dispute["amount_minor"]),
        "flw_ref": flw_ref(dispute["transaction_id"], dispute["access_code"]),
        "status": status,
        "stage": "new",
        "comment": "Product/service not received",
        "meta": {"uploaded_proof": None, "history": [{"action": status, "date": dispute["updated_at"]}]},
        "settlement_id": "N/A",
    }


def chargeback_event(dispute: Row) -> dict[str, Any]:
    view = chargeback_view(dispute)
    return {"event": f"chargeback.{view['status']}", "data": view}
