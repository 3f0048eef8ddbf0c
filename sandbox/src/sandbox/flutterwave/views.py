"""Transactions, refunds, transfers and chargebacks as in Flutterwave's responses and webhooks."""

from decimal import ROUND_HALF_UP, Decimal
from sqlite3 import Row
from typing import Any

import msgspec

from sandbox.flutterwave.wire import naira
from sandbox.gateway.banks import bank_name

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
    view = {
        "id": charge["id"],
        "tx_ref": charge["reference"],
        "flw_ref": flw_ref(charge["id"], charge["access_code"]),
        "device_fingerprint": "N/A",
        "amount": naira(amount_minor),
        "currency": charge["currency"],
        "charged_amount": naira(amount_minor),
        "app_fee": naira(app_fee_minor(amount_minor)) if paid else None,
        "merchant_fee": 0,
        "processor_response": charge["gateway_response"],
        "auth_model": "AUTH",
        "ip": "::127.0.0.1",
        "narration": "Campus Marketplace",
        "status": "successful" if paid else "failed",
        "payment_type": PAYMENT_TYPES[charge["channel"]],
        "created_at": charge["created_at"],
        "account_id": ACCOUNT_ID,
        "meta": msgspec.json.decode(charge["metadata"]),
        "amount_settled": naira(amount_minor - cost_minor(amount_minor)) if paid else None,
        "customer": {
            "id": charge["customer_id"],
            "name": "Anonymous Customer",
            "phone_number": "N/A",
            "email": charge["email"],
            "created_at": charge["created_at"],
        },
    }
    return {**view, "card": CARD} if charge["channel"] == "card" else view


def listed_view(charge: Row) -> dict[str, Any]:
    """Return a row of the list of transactions: without metadata and card, and with the customer's fields on the same
    level.
    """
    view = transaction_view(charge)
    customer = view.pop("customer")
    del view["meta"]
    view.pop("card", None)
    return {**view, "customer_name": customer["name"], "customer_email": customer["email"]}


# `completed` means accepted: the bank has not paid the customer yet.
REFUND_STATUSES = {"pending": "completed", "processed": "completed-bank-transfer", "failed": "failed"}


def refund_view(refund: Row) -> dict[str, Any]:
    return {
        "id": refund["id"],
        "account_id": ACCOUNT_ID,
        "tx_id": refund["transaction_id"],
        "flw_ref": refund["refund_reference"],
        "wallet_id": 74639,
        "amount_refunded": naira(refund["amount_minor"]),
        "status": REFUND_STATUSES[refund["status"]],
        "destination": "payment_source",
        "comments": refund["merchant_note"],
        "meta": {"source": "availablebalance"},
        "created_at": refund["created_at"],
    }


def refund_event(refund: Row) -> dict[str, Any]:
    """Render the webhook of a refund, which has its names in another case than the API's responses."""
    return {
        "event": "refund.completed",
        "data": {
            "id": refund["id"],
            "AmountRefunded": naira(refund["amount_minor"]),
            "status": REFUND_STATUSES[refund["status"]],
            "FlwRef": refund["refund_reference"],
            "destination": "payment_source",
            "comments": refund["merchant_note"],
            "settlement_id": "NEW",
            "meta": '{"source": "availablebalance"}',
            "createdAt": refund["created_at"],
            "updatedAt": refund["updated_at"],
            "walletId": 74639,
            "AccountId": ACCOUNT_ID,
            "TransactionId": refund["transaction_id"],
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
        "id": transfer["id"],
        "account_number": transfer["account_number"],
        "bank_code": transfer["bank_code"],
        "full_name": transfer["recipient_name"],
        "created_at": transfer["created_at"],
        "currency": transfer["currency"],
        "debit_currency": transfer["currency"],
        "amount": naira(transfer["amount_minor"]),
        "fee": naira(transfer["fee_minor"] or 0),
        "status": TRANSFER_STATUSES[status],
        "reference": transfer["reference"],
        "meta": None,
        "narration": transfer["reason"],
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
        "id": dispute["id"],
        "amount": naira(dispute["amount_minor"]),
        "flw_ref": flw_ref(dispute["transaction_id"], dispute["access_code"]),
        "status": status,
        "stage": "new",
        "comment": "Product/service not received",
        "meta": {"uploaded_proof": None, "history": [{"action": status, "date": dispute["updated_at"]}]},
        "due_date": dispute["due_at"],
        "settlement_id": "N/A",
        "created_at": dispute["created_at"],
        "transaction_id": dispute["transaction_id"],
        "tx_ref": dispute["reference"],
    }


def chargeback_event(dispute: Row) -> dict[str, Any]:
    view = chargeback_view(dispute)
    return {"event": f"chargeback.{view['status']}", "data": view}
