"""The bodies of the gateway's webhooks, written literally (specification, Resources)."""

from sqlite3 import Row
from typing import Any

import msgspec

from sandbox.gateway.banks import bank_name
from sandbox.gateway.codes import INTEGRATION

# The resolutions that return the money to the payer.
LOST_RESOLUTIONS = ("merchant-accepted", "auto-accepted")
# The fields of the payment instrument, by channel; every value is a string, as in the specification.
INSTRUMENTS = {
    "card": {
        "bin": "408408",
        "last4": "4081",
        "exp_month": "12",
        "exp_year": "2030",
        "card_type": "visa",
        "bank": "TEST BANK",
    },
    "bank_transfer": {
        # The gateway masks the card fields of a transfer.
        "bin": "413XXX",
        "last4": "X413",
        "exp_month": "12",
        "exp_year": "2030",
        "card_type": "transfer",
        "bank": "TEST BANK",
    },
    "ussd": {
        "bin": "",
        "last4": "",
        "exp_month": "",
        "exp_year": "",
        "card_type": "offline",
        "bank": "Guaranty Trust Bank",
    },
}


AUTHORIZATION_FIELDS = (
    "authorization_code",
    "bin",
    "last4",
    "exp_month",
    "exp_year",
    "channel",
    "card_type",
    "bank",
    "country_code",
    "brand",
    "reusable",
    "signature",
    "account_name",
)


def authorization_of(charge: Row) -> dict[str, Any]:
    return {
        "authorization_code": f"AUTH_{charge['access_code'][:10]}",
        **INSTRUMENTS[charge["channel"]],
        "channel": charge["channel"],
        "country_code": "NG",
        "brand": INSTRUMENTS[charge["channel"]]["card_type"],
        "reusable": charge["channel"] == "card",
        "signature": f"SIG_{charge['access_code']}",
        "account_name": None,
    }


def customer_of(charge: Row) -> dict[str, Any]:
    """Return the payer of a transaction: the page requires the mail address only."""
    return {
        "id": charge["customer_id"],
        "first_name": None,
        "last_name": None,
        "email": charge["email"],
        "customer_code": charge["customer_code"],
        "phone": None,
        "metadata": None,
        "risk_action": "default",
        "international_format_phone": None,
    }


def charge_success(charge: Row) -> dict[str, Any]:
    return {
        "event": "charge.success",
        "data": {
            "id": charge["id"],
            "domain": "test",
            "status": "success",
            "reference": charge["reference"],
            "amount": charge["amount_minor"],
            "message": None,
            "gateway_response": charge["gateway_response"],
            "paid_at": charge["paid_at"],
            "created_at": charge["created_at"],
            "channel": charge["channel"],
            "currency": charge["currency"],
            "ip_address": None,
            "metadata": msgspec.json.decode(charge["metadata"]) or 0,
            "log": None,
            "fees": charge["fees_minor"],
            "fees_split": None,
            "customer": customer_of(charge),
            "authorization": authorization_of(charge),
            "plan": {},
        },
    }


def charge_failed(charge: Row) -> dict[str, Any]:
    """Return a declined payment: `gateway_response` is the bank's reason."""
    event = charge_success(charge)
    return {"event": "charge.failed", "data": {**event["data"], "status": "failed", "paid_at": None}}


def transfer_fields(transfer: Row) -> dict[str, Any]:
    """Return the fields of a transfer in every response and event."""
    return {
        "amount": transfer["amount_minor"],
        "currency": transfer["currency"],
        "domain": "test",
        "failures": None,
        "id": transfer["id"],
        "integration": INTEGRATION,
        "reason": transfer["reason"],
        "reference": transfer["reference"],
        "source": "balance",
        "source_details": None,
        "status": transfer["status"],
        "titan_code": None,
        "transfer_code": transfer["transfer_code"],
        "transferred_at": transfer["updated_at"] if transfer["status"] == "success" else None,
        "createdAt": transfer["created_at"],
        "updatedAt": transfer["updated_at"],
    }


def recipient_of(transfer: Row) -> dict[str, Any]:
    """Return the account of a transfer."""
    return {
        "active": True,
        "createdAt": transfer["recipient_created_at"],
        "currency": transfer["currency"],
        "description": "",
        "domain": "test",
        "email": None,
        "id": transfer["recipient_id"],
        "integration": INTEGRATION,
        "metadata": None,
        "name": transfer["recipient_name"],
        "recipient_code": transfer["recipient_code"],
        "type": "nuban",
        "updatedAt": transfer["recipient_created_at"],
        "is_deleted": False,
        "isDeleted": False,
        "details": {
            "authorization_code": None,
            "account_number": transfer["account_number"],
            "account_name": None,
            "bank_code": transfer["bank_code"],
            "bank_name": bank_name(transfer["bank_code"]),
        },
    }


def bank_response(transfer: Row) -> str | None:
    """Why the bank returned the money; null for an accepted transfer."""
    return transfer["failure"] if transfer["status"] in ("failed", "reversed") else None


def transfer_event(event: str, transfer: Row) -> dict[str, Any]:
    """`transfer.success`, `transfer.failed` or `transfer.reversed`. The latter two spell their times otherwise."""
    status = event.removeprefix("transfer.")
    data = {**transfer_fields(transfer), "status": status, "recipient": recipient_of(transfer)}
    if status != "success":
        data["created_at"], data["updated_at"] = data.pop("createdAt"), data.pop("updatedAt")
        data["recipient"]["created_at"] = data["recipient"].pop("createdAt")
        data["recipient"]["updated_at"] = data["recipient"].pop("updatedAt")
    return {
        "event": event,
        "data": {
            **data,
            "integration": {"id": INTEGRATION, "is_live": False, "business_name": "Campus"},
            "session": {"provider": "nip", "id": f"{transfer['id']:030d}"},
            "fee_charged": transfer["fee_minor"] or 0 if status == "success" else 0,
            "gateway_response": bank_response(transfer),
        },
    }


def refund_event(refund: Row) -> dict[str, Any]:
    """`refund.<status>`. It names the transaction and neither the refund's id nor our note; the amount is a text of
    digits.
    """
    return {
        "event": f"refund.{refund['status']}",
        "data": {
            "status": refund["status"],
            "transaction_reference": refund["transaction_reference"],
            "refund_reference": refund["refund_reference"] if refund["status"] in ("processed", "failed") else None,
            "amount": str(refund["amount_minor"]),
            "currency": refund["currency"],
            "processor": "instant-transfer",
            "customer": {"first_name": None, "last_name": None, "email": refund["email"]},
            "integration": INTEGRATION,
            "domain": "test",
        },
    }


def dispute_event(event: str, dispute: Row) -> dict[str, Any]:
    """`charge.dispute.create`, `charge.dispute.remind` or `charge.dispute.resolve`; the last one has a resolution."""
    data = dispute_view(dispute)
    # The events name these two times in another way than the calls do.
    return {
        "event": event,
        "data": {**data, "created_at": data.pop("createdAt"), "updated_at": data.pop("updatedAt")},
    }


def dispute_view(dispute: Row) -> dict[str, Any]:
    """Return a dispute as the calls return it."""
    is_lost = dispute["resolution"] in LOST_RESOLUTIONS
    return {
        "id": dispute["id"],
        "refund_amount": dispute["amount_minor"],
        "currency": dispute["currency"],
        "status": dispute["status"],
        "resolution": dispute["resolution"],
        "domain": "test",
        "transaction": {
            "id": dispute["transaction_id"],
            "domain": "test",
            "status": "reversed" if is_lost else "success",
            "reference": dispute["reference"],
            "amount": dispute["paid_minor"],
            "message": None,
            "gateway_response": dispute["gateway_response"],
            "paid_at": dispute["paid_at"],
            "created_at": dispute["opened_at"],
            "channel": dispute["channel"],
            "currency": dispute["currency"],
            "ip_address": None,
            # The gateway has an empty text here in place of the object.
            "metadata": "",
            "log": None,
            "fees": dispute["fees_minor"],
            "fees_split": None,
            "authorization": {},
            "customer": {"international_format_phone": None},
            "plan": {},
            "subaccount": {},
            "split": {},
            "order_id": None,
            "paidAt": dispute["paid_at"],
            "createdAt": dispute["opened_at"],
            "requested_amount": dispute["requested_minor"],
            "pos_transaction_data": None,
            "source": None,
            "fees_breakdown": None,
            "connect": None,
        },
        "transaction_reference": None,
        "category": "chargeback",
        "customer": {
            "id": dispute["customer_id"],
            "first_name": None,
            "last_name": None,
            "email": dispute["email"],
            "customer_code": dispute["customer_code"],
            "phone": None,
            "metadata": None,
            "risk_action": "default",
            "international_format_phone": None,
        },
        "bin": "408408",
        "last4": "4081",
        "dueAt": dispute["due_at"],
        "resolvedAt": dispute["resolved_at"],
        "evidence": dispute["evidence_id"],
        "attachments": dispute["attachments"],
        "note": None,
        "history": [{"status": "pending", "by": dispute["email"], "createdAt": dispute["created_at"]}],
        "messages": [
            {
                "sender": dispute["email"],
                "body": "Customer complained about debit without value",
                "createdAt": dispute["created_at"],
            }
        ],
        "createdAt": dispute["created_at"],
        "updatedAt": dispute["updated_at"],
    }
