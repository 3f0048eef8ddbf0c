"""Read Paystack's objects and webhooks as records (contract section 9)."""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Final

from common.primitives.money import AMOUNT_MINOR_MAX
from payments.clients import paystack_disputes as disputes
from payments.clients.gateway import GatewayReport
from payments.domain.accounts import NO_CURRENCY
from payments.domain.charges import Charge, ChargeStatus
from payments.domain.errors import MalformedEvent
from payments.domain.reconciliation import UnreadableRow
from payments.domain.refunds import IN_PROGRESS_STATUSES, RefundEvent, RefundUpdate
from payments.domain.revisions import GatewaySubject
from payments.domain.transfers import TransferOutcome, TransferUpdate
from payments.domain.webhooks import UNKNOWN_EVENT, Arrival, read_body
from providers import paystack
from providers.wire import Fields, Value, data_of, fields_of, identifier_of, instant_of, phrase_of, text_of, whole_of

KNOWN_EVENTS: Final = frozenset(
    {
        "charge.success",
        "charge.failed",
        *disputes.EVENTS,
        "refund.pending",
        "refund.processing",
        "refund.processed",
        "refund.failed",
        "refund.needs-attention",
        "transfer.success",
        "transfer.failed",
        "transfer.reversed",
    }
)
# A paid charge that was refunded as a whole is `reversed`.
_CHARGE_STATUSES: Final[Mapping[str | None, ChargeStatus]] = {
    "success": "success",
    "failed": "failed",
    "reversed": "reversed",
}
_TRANSFER_OUTCOMES: Final[Mapping[str | None, TransferOutcome]] = {
    "success": "success",
    "failed": "failed",
    "reversed": "reversed",
}
_SETTLED_STATUSES: Final[Mapping[str, frozenset[str]]] = {
    "charge": frozenset({"success", "failed"}),
    "transfer": frozenset({"success", "failed", "reversed"}),
    "refund": frozenset({"processed", "failed"}),
}
_REFUND_EVENTS: Final = frozenset(
    f"refund.{status}" for status in ("pending", "processing", "processed", "failed", "needs-attention")
)
_CURRENCY: Final = re.compile(r"[A-Za-z]{3}", re.ASCII)


def identify(raw: bytes) -> Arrival:
    """`<event>:<data.id>`, else `<event>:<data.reference>`, else the SHA-256 of the bytes; a reminder with its own
    hash.
    """
    body = read_body(raw)
    event, key = text_of(fields_of(body).get("event")), key_of(data_of(body))
    if event and key:
        # The gateway repeats a reminder every few hours with other times: each one is an event of its own.
        suffix = f":{hashlib.sha256(raw).hexdigest()[:16]}" if event == disputes.REMINDED_EVENT else ""
        return Arrival(f"{event}:{key}{suffix}", event)
    return Arrival(hashlib.sha256(raw).hexdigest(), event or UNKNOWN_EVENT)


def key_of(data: Fields) -> str | None:
    """Return the id of an object, else its reference."""
    return identifier_of(data.get("id")) or text_of(data.get("reference"))


def subject_of(event_type: str, raw: bytes) -> GatewaySubject | None:
    """Return the subject of a webhook; None for an event that the gateway cannot be queried for."""
    data = data_of(read_body(raw))
    identifier, reference = identifier_of(data.get("id")), text_of(data.get("reference"))
    if event_type.startswith("charge.dispute."):
        return None if identifier is None else GatewaySubject("dispute", identifier)
    if event_type.startswith("refund."):
        return None if identifier is None else GatewaySubject("refund", identifier)
    if event_type.startswith("charge."):
        return None if reference is None else GatewaySubject("charge", reference)
    if event_type.startswith("transfer."):
        return None if reference is None else GatewaySubject("transfer", reference)
    return None


def event_of_state(kind: str, data: Fields) -> str | None:
    """Return the event type of an object's present state; None while the gateway has not decided."""
    if kind == "dispute":
        return disputes.event_of(data)
    status = text_of(data.get("status"))
    return f"{kind}.{status}" if status in _SETTLED_STATUSES[kind] else None


def read_event(webhook_id: str, event_type: str, raw: bytes) -> GatewayReport | None:
    """Return the webhook's content; None for an event that changes nothing here. Raises MalformedEvent."""
    data = data_of(read_body(raw))
    noun, _, action = event_type.partition(".")
    if event_type == "charge.failed" and text_of(data.get("reference")) is None:
        return None
    if event_type in ("charge.success", "charge.failed"):
        return read_charge({"status": action, **data}, webhook_id, reported_as=_CHARGE_STATUSES[action])
    if event_type in disputes.EVENTS:
        return disputes.read_dispute(event_type, data)
    if event_type in _REFUND_EVENTS:
        # A queried refund has our note; the gateway's own webhook names the transaction only.
        if "merchant_note" in data:
            return read_refund(data, action)
        # A refund in progress without a transaction changes nothing yet.
        is_named = text_of(data.get("transaction_reference")) is not None
        return read_refund_event(data, action) if is_named or action not in IN_PROGRESS_STATUSES else None
    if noun == "transfer" and action in _TRANSFER_OUTCOMES:
        return read_transfer({"status": action, **data}, _TRANSFER_OUTCOMES[action])
    return None


def read_charge(data: Fields, webhook_id: str, reported_as: ChargeStatus | None = None) -> Charge:
    """Read a transaction. Raises MalformedEvent for a paid one without a usable amount.

    `reported_as` is the event's status: a body that contradicts it is `pending`, and moves nothing.
    """
    status = _CHARGE_STATUSES.get(text_of(data.get("status")), "pending")
    if reported_as is not None and status != reported_as:
        status = "pending"
    amount = whole_of(data.get("amount"))
    if amount is None or not 0 < amount <= AMOUNT_MINOR_MAX:
        if status in ("success", "reversed"):
            raise MalformedEvent("charge.success without a usable amount")
        amount = 0
    metadata = fields_of(data.get("metadata"))
    named, settlement = metadata.get("orderId"), metadata.get("settlement")
    currency = _currency_of(data.get("currency"))
    return Charge(
        reference=text_of(data.get("reference")) or webhook_id,
        gateway_id=identifier_of(data.get("id")),
        amount_minor=amount,
        currency=currency,
        is_currency_literal=currency == data.get("currency"),
        # An empty value names no order. Any other value must be the order's id.
        order_named=str(named) if named else None,
        settlement=settlement if isinstance(settlement, str) else None,
        channel=text_of(data.get("channel")),
        fee_minor=_fee_of(data.get("fees"), amount),
        status=status,
        paid_at=instant_of(data.get("paid_at")) or instant_of(data.get("paidAt")),
        failure_reason=_first_text(data.get("gateway_response"), data.get("message")),
    )


def read_refund(data: Fields, status: str | None = None) -> RefundUpdate:
    """Read a refund; `status` overrides its own, as the event's name does. Raises MalformedEvent."""
    amount, currency = whole_of(data.get("amount")), text_of(data.get("currency"))
    if amount is None or currency is None:
        raise MalformedEvent("refund without amount or currency")
    transaction = fields_of(data.get("transaction"))
    return RefundUpdate(
        gateway_refund_id=identifier_of(data.get("id")),
        note=text_of(data.get("merchant_note")),
        status=status or text_of(data.get("status")) or "pending",
        amount_minor=amount,
        currency=currency,
        failure=phrase_of(data.get("reason")),
        updated_at=instant_of(data.get("refunded_at")) or instant_of(data.get("updatedAt")),
        transaction_reference=text_of(transaction.get("reference")) or text_of(data.get("transaction_reference")),
        transaction_id=identifier_of(transaction.get("id")) or identifier_of(data.get("transaction")),
    )


def read_refund_event(data: Fields, status: str) -> RefundEvent:
    """Read a `refund.*` webhook, whose amount is a number or a text of digits. Raises MalformedEvent."""
    reference, amount = text_of(data.get("transaction_reference")), whole_of(data.get("amount"))
    if reference is None or amount is None:
        raise MalformedEvent("refund event without a transaction or an amount")
    return RefundEvent(reference, amount, status)


def unreadable_row(data: Fields, reason: str) -> UnreadableRow:
    """Return a listed object that cannot be read, by its id or reference, else by the hash of its content."""
    raw = json.dumps(data, sort_keys=True).encode()
    key = key_of(data) or hashlib.sha256(raw).hexdigest()
    return UnreadableRow(key, text_of(data.get("reference")), text_of(data.get("merchant_note")), reason)


def read_transfer(data: Fields, reported_as: TransferOutcome | None = None) -> TransferUpdate:
    """Read a transfer; the event's outcome overrides that of its status. Raises MalformedEvent."""
    transfer = paystack.read_transfer(data)
    status = transfer.status
    if transfer.reference is None or transfer.currency is None:
        raise MalformedEvent("transfer without a reference or a currency")
    if not transfer.amount_minor:
        raise MalformedEvent("transfer without a usable amount")
    return TransferUpdate(
        reference=transfer.reference,
        transfer_code=transfer.code or "",
        amount_minor=transfer.amount_minor,
        currency=transfer.currency,
        outcome=reported_as or _TRANSFER_OUTCOMES.get(status, "pending"),
        status=status or reported_as or "pending",
        reason=transfer.cause,
        account_last4=transfer.account_number[-4:] if transfer.account_number else None,
        bank_code=transfer.bank_code,
        occurred_at=transfer.updated_at,
        fee_minor=transfer.fee_minor,
    )


def _first_text(*values: Value) -> str | None:
    return next((value for value in values if isinstance(value, str) and value.strip()), None)


def _fee_of(value: Value, amount_minor: int) -> int:
    """Return a whole number within the charge; anything else counts as no fee."""
    fee_minor = whole_of(value)
    return fee_minor if fee_minor is not None and 0 < fee_minor <= amount_minor else 0


def _currency_of(value: Value) -> str:
    """Return the ISO code in capitals: one currency has one account."""
    return value.upper() if isinstance(value, str) and _CURRENCY.fullmatch(value) else NO_CURRENCY
