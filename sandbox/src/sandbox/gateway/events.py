"""The bodies of the gateway's webhooks, written literally (specification, Resources)."""

from collections.abc import Mapping
from sqlite3 import Row
from typing import Any

import msgspec

from sandbox.gateway.banks import bank_name
from sandbox.gateway.codes import INTEGRATION
from sandbox.gateway.fields import copied, nulls

# The resolutions that return the money to the payer.
LOST_RESOLUTIONS = ("merchant-accepted", "auto-accepted")
# The fields of the payment instrument, by channel; every value is a string, as in the specification.
_INSTRUMENT_FIELDS = ("bin", "last4", "exp_month", "exp_year", "card_type", "bank")
INSTRUMENTS = {
    channel: dict(zip(_INSTRUMENT_FIELDS, values, strict=True))
    for channel, values in {
        "card": ("408408", "4081", "12", "2030", "visa", "TEST BANK"),
        # The gateway masks the card fields of a transfer.
        "bank_transfer": ("413XXX", "X413", "12", "2030", "transfer", "TEST BANK"),
        "ussd": ("", "", "", "", "offline", "Guaranty Trust Bank"),
    }.items()
}
AUTHORIZATION_FIELDS = (
    *("authorization_code", *_INSTRUMENT_FIELDS, "channel", "country_code", "brand", "reusable", "signature"),
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


def customer_of(row: Row) -> dict[str, Any]:
    """Return the payer of a transaction: the page requires the mail address only."""
    return {
        **copied(row, "email customer_code", id="customer_id"),
        **nulls("first_name last_name phone metadata international_format_phone"),
        "risk_action": "default",
    }


def charge_success(charge: Row) -> dict[str, Any]:
    return {
        "event": "charge.success",
        "data": {
            **copied(charge, "id reference gateway_response paid_at created_at channel currency"),
            **nulls("message ip_address log fees_split"),
            "domain": "test",
            "status": "success",
            "amount": charge["amount_minor"],
            "metadata": msgspec.json.decode(charge["metadata"]) or 0,
            "fees": charge["fees_minor"],
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
        **copied(transfer, "currency id reason reference status transfer_code", amount="amount_minor"),
        **copied(transfer, "", createdAt="created_at", updatedAt="updated_at"),
        **nulls("failures source_details titan_code"),
        "domain": "test",
        "integration": INTEGRATION,
        "source": "balance",
        "transferred_at": transfer["updated_at"] if transfer["status"] == "success" else None,
    }


def recipient_of(transfer: Row) -> dict[str, Any]:
    """Return the account of a transfer."""
    row = {**copied(transfer, "currency recipient_code account_number bank_code"), "id": transfer["recipient_id"]}
    return recipient_view(row | copied(transfer, "", name="recipient_name", created_at="recipient_created_at"), None)


def recipient_view(row: Mapping[str, Any] | Row, account_name: str | None) -> dict[str, Any]:
    """Return a recipient, with the name of the account where the bank was asked for it."""
    return {
        **copied(row, "id name currency recipient_code", createdAt="created_at", updatedAt="created_at"),
        **nulls("email metadata"),
        "active": True,
        "description": "",
        "domain": "test",
        "integration": INTEGRATION,
        "type": "nuban",
        "is_deleted": False,
        "isDeleted": False,
        "details": {
            **copied(row, "account_number bank_code"),
            "authorization_code": None,
            "account_name": account_name,
            "bank_name": bank_name(row["bank_code"]),
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
    """Return `refund.<status>`, which names neither the refund's id nor our note; the amount is a text of digits."""
    return {
        "event": f"refund.{refund['status']}",
        "data": {
            **copied(refund, "status transaction_reference currency"),
            "refund_reference": refund["refund_reference"] if refund["status"] in ("processed", "failed") else None,
            "amount": str(refund["amount_minor"]),
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
    created_at, email = dispute["created_at"], dispute["email"]
    complaint = "Customer complained about debit without value"
    return {
        **copied(dispute, "id currency status resolution attachments", refund_amount="amount_minor", dueAt="due_at"),
        **copied(dispute, "", resolvedAt="resolved_at", evidence="evidence_id"),
        **copied(dispute, "", createdAt="created_at", updatedAt="updated_at"),
        **nulls("transaction_reference note"),
        "domain": "test",
        "transaction": _disputed_transaction(dispute),
        "category": "chargeback",
        "customer": customer_of(dispute),
        "bin": "408408",
        "last4": "4081",
        "history": [{"status": "pending", "by": email, "createdAt": created_at}],
        "messages": [{"sender": email, "body": complaint, "createdAt": created_at}],
    }


def _disputed_transaction(dispute: Row) -> dict[str, Any]:
    return {
        **copied(dispute, "reference gateway_response channel currency paid_at", id="transaction_id"),
        **copied(dispute, "", amount="paid_minor", requested_amount="requested_minor", fees="fees_minor"),
        **copied(dispute, "", paidAt="paid_at", created_at="opened_at", createdAt="opened_at"),
        **nulls("message ip_address log fees_split order_id pos_transaction_data source fees_breakdown connect"),
        "domain": "test",
        "status": "reversed" if dispute["resolution"] in LOST_RESOLUTIONS else "success",
        # The gateway has an empty text here in place of the object.
        "metadata": "",
        "authorization": {},
        "customer": {"international_format_phone": None},
        "plan": {},
        "subaccount": {},
        "split": {},
    }
