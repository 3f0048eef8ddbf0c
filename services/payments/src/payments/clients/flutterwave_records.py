"""Read Flutterwave's objects and webhooks (API v3) as records. Its amounts are naira with at most two decimals.

Ids have the prefix `flw:` in every record, because the numbers of two gateways may be equal.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Final

from payments.clients.gateway import GatewayReport
from payments.domain.accounts import HOME_CURRENCY, NO_CURRENCY
from payments.domain.chargebacks import ChargebackUpdate, Outcome
from payments.domain.charges import Charge, ChargeStatus
from payments.domain.errors import MalformedEvent
from payments.domain.reconciliation import UnreadableRow
from payments.domain.refunds import RefundUpdate
from payments.domain.revisions import GatewaySubject, SubjectKind, is_gateway_response
from payments.domain.settlements import Settlement, SettlementStatus
from payments.domain.transfers import TransferOutcome, TransferUpdate
from payments.domain.webhooks import UNKNOWN_EVENT, Arrival
from providers import flutterwave
from providers.flutterwave import PREFIX, read_json
from providers.gateways import FLUTTERWAVE
from providers.wire import (
    Fields,
    Value,
    data_of,
    fields_of,
    identifier_of,
    instant_of,
    kobo_of_naira,
    phrase_of,
    rounded_kobo_of_naira,
    text_of,
)

CHARGE_EVENT: Final = "charge.completed"
REFUND_EVENT: Final = "refund.completed"
TRANSFER_EVENT: Final = "transfer.completed"
CHARGEBACK_EVENT: Final = "chargeback"
# The status of a chargeback that has no response of ours.
AWAITING_STATUS: Final = "initiated"
KNOWN_EVENTS: Final = frozenset({CHARGE_EVENT, REFUND_EVENT, TRANSFER_EVENT, CHARGEBACK_EVENT})

_CHARGE_STATUSES: Final[Mapping[str, ChargeStatus]] = {"successful": "success", "failed": "failed"}
# `completed` alone is accepted: the customer does not have the money yet.
_REFUND_STATUSES: Final[Mapping[str, str]] = {
    "completed-bank-transfer": "processed",
    "completed-momo": "processed",
    "completed-mpgs": "processed",
    "completed-offline": "processed",
    "completed-preauth": "processed",
    "successful": "processed",
    "failed": "failed",
}
_TRANSFER_OUTCOMES: Final[Mapping[str, TransferOutcome]] = {"SUCCESSFUL": "success", "FAILED": "failed"}
_SETTLEMENT_STATUSES: Final[Mapping[str, SettlementStatus]] = {"completed": "settled", "failed": "failed"}
# The destinations of a settlement that stays at the gateway; any other one is a bank account.
_WALLETS: Final = ("autowallet", "wallet")
_CHARGEBACK_OUTCOMES: Final[Mapping[str, Outcome | None]] = {
    "initiated": None,
    "pending": None,
    # We declined the claim; the bank has not decided.
    "declined": None,
    "accepted": "lost",
    "lost": "lost",
    "won": "won",
}


def read_body(raw: bytes) -> Value:
    """Return the body's JSON value with exact decimals; None for a body that is not JSON."""
    try:
        return read_json(raw)
    except ValueError:
        return None


def dump(event_type: str, data: Fields) -> bytes:
    """Return the object as the body of an event. Decimals are written as text, which `read_amount` reads too."""
    return json.dumps({"event": event_type, "data": data}, default=str).encode()


def identify(raw: bytes) -> Arrival:
    """`flutterwave:<event>:<data.id>:<data.status>`, because each status of an object is an event of its own.

    Else the SHA-256 of the bytes.
    """
    body = read_body(raw)
    event, data = text_of(fields_of(body).get("event")), data_of(body)
    key = identifier_of(data.get("id"))
    if event and key:
        return Arrival(f"{FLUTTERWAVE}:{event}:{key}:{text_of(data.get('status')) or ''}", event_type_of(event))
    return Arrival(f"{FLUTTERWAVE}:{hashlib.sha256(raw).hexdigest()}", event_type_of(event or UNKNOWN_EVENT))


def event_type_of(event: str) -> str:
    """Return the event's name. The names of chargeback events are not documented, and all count as one."""
    return CHARGEBACK_EVENT if event.startswith(CHARGEBACK_EVENT) else event


def subject_of(event_type: str, raw: bytes) -> GatewaySubject | None:
    """Return the subject to query for a webhook, whose content is not trusted; None for an event of another kind."""
    data = data_of(read_body(raw))
    identifier, flw_ref = identifier_of(data.get("id")), text_of(data.get("flw_ref"))
    if event_type == CHARGE_EVENT and identifier is not None:
        return GatewaySubject("charge", PREFIX + identifier)
    if event_type == REFUND_EVENT and identifier is not None:
        return GatewaySubject("refund", PREFIX + identifier)
    if event_type == TRANSFER_EVENT and (reference := text_of(data.get("reference"))) is not None:
        return GatewaySubject("transfer", reference)
    if event_type == CHARGEBACK_EVENT and identifier is not None and flw_ref is not None:
        return GatewaySubject("dispute", identity_of_chargeback(data))
    return None


def identity_of_chargeback(data: Fields) -> str:
    """`flw:<id>@<flw_ref>`: chargebacks are queried by the reference of their transaction. Raises MalformedEvent."""
    identifier, flw_ref = identifier_of(data.get("id")), text_of(data.get("flw_ref"))
    if identifier is None or flw_ref is None:
        raise MalformedEvent("chargeback without an id or a flw_ref")
    return f"{PREFIX}{identifier}@{flw_ref}"


def event_type_of_state(kind: SubjectKind, data: Fields) -> str | None:
    """Return the event type of an object's present state; None while it is undecided. A chargeback has one in every
    state.
    """
    status = text_of(data.get("status")) or ""
    if kind == "charge":
        return CHARGE_EVENT if status in _CHARGE_STATUSES else None
    if kind == "refund":
        return REFUND_EVENT if status in _REFUND_STATUSES else None
    if kind == "transfer":
        return TRANSFER_EVENT if status in _TRANSFER_OUTCOMES else None
    return CHARGEBACK_EVENT


def moved_money(event_type: str, data: Fields) -> bool:
    """Return whether the event is a paid charge or a refund that was paid out."""
    status = text_of(data.get("status")) or ""
    if event_type == REFUND_EVENT:
        return _REFUND_STATUSES.get(status) == "processed"
    return event_type == CHARGE_EVENT and status == "successful"


def read_event(webhook_id: str, event_type: str, raw: bytes) -> GatewayReport | None:
    """Return the content of a response that was fetched from the gateway. A webhook's own content is never read.

    Raises MalformedEvent.
    """
    if not is_gateway_response(webhook_id):
        return None
    data = data_of(read_body(raw))
    if event_type == CHARGE_EVENT:
        return read_charge(data)
    if event_type == REFUND_EVENT:
        return read_refund(data)
    if event_type == TRANSFER_EVENT:
        return read_transfer(data)
    return read_chargeback(data) if event_type == CHARGEBACK_EVENT else None


def read_charge(data: Fields) -> Charge:
    """Read a transaction. The customer paid `charged_amount`; we received `amount_settled` of it.

    Raises MalformedEvent for a paid one without a usable amount.
    """
    status = _CHARGE_STATUSES.get(text_of(data.get("status")) or "", "pending")
    identifier = identifier_of(data.get("id"))
    amount_minor = kobo_of_naira(data.get("charged_amount")) or kobo_of_naira(data.get("amount"))
    if not amount_minor and status == "success":
        raise MalformedEvent("paid transaction without a usable amount")
    metadata = fields_of(data.get("meta"))
    named, settlement = metadata.get("orderId"), metadata.get("settlement")
    currency = data.get("currency")
    is_code = isinstance(currency, str) and len(currency) == 3 and currency.isascii() and currency.isalpha()
    return Charge(
        reference=text_of(data.get("tx_ref")) or f"{FLUTTERWAVE}:{identifier}",
        gateway_id=None if identifier is None else PREFIX + identifier,
        amount_minor=amount_minor or 0,
        currency=str(currency).upper() if is_code else NO_CURRENCY,
        is_currency_literal=is_code and str(currency).isupper(),
        order_named=str(named) if named else None,
        settlement=settlement if isinstance(settlement, str) else None,
        channel=text_of(data.get("payment_type")),
        fee_minor=_fee_minor(data, amount_minor or 0) if status == "success" else 0,
        status=status,
        paid_at=instant_of(data.get("created_at")),
        failure_reason=phrase_of(data.get("processor_response")),
        gateway=FLUTTERWAVE,
    )


def _fee_minor(data: Fields, amount_minor: int) -> int:
    """Return the part of the charge that we did not receive: fee and tax. A response without `amount_settled` has the
    fee alone.
    """
    settled_minor = kobo_of_naira(data.get("amount_settled"))
    if settled_minor is not None:
        return max(amount_minor - settled_minor, 0)
    return min(rounded_kobo_of_naira(data.get("app_fee")) or 0, amount_minor)


def read_refund(data: Fields) -> RefundUpdate:
    """Read a refund, of the API or of a webhook, whose names differ. Raises MalformedEvent.

    No shape of it has a currency: we open payments in naira only.
    """
    amount = data.get("amount_refunded") if "amount_refunded" in data else data.get("AmountRefunded")
    status, identifier = text_of(data.get("status")) or "", identifier_of(data.get("id"))
    transaction = identifier_of(data.get("tx_id"))
    return RefundUpdate(
        gateway_refund_id=None if identifier is None else PREFIX + identifier,
        note=text_of(data.get("comments")),
        status=_REFUND_STATUSES.get(status, status or "pending"),
        amount_minor=read_amount(amount, "refund"),
        currency=text_of(data.get("currency")) or HOME_CURRENCY,
        failure=status if status == "failed" else None,
        updated_at=instant_of(data.get("updated_at")) or instant_of(data.get("updatedAt")),
        is_anonymous="comments" not in data,
        transaction_id=None if transaction is None else PREFIX + transaction,
    )


def unreadable_row(data: Fields, reason: str) -> UnreadableRow:
    """Return a listed object that cannot be read, by its id, else by the hash of its content."""
    raw = json.dumps(data, sort_keys=True, default=str).encode()
    key = PREFIX + (identifier_of(data.get("id")) or hashlib.sha256(raw).hexdigest())
    return UnreadableRow(key, text_of(data.get("tx_ref")), text_of(data.get("comments")), reason)


def read_transfer(data: Fields) -> TransferUpdate:
    """Read a transfer. `complete_message` is the bank's text; `narration` is our own. Raises MalformedEvent."""
    transfer = flutterwave.read_transfer(data)
    if transfer.reference is None or transfer.currency is None:
        raise MalformedEvent("transfer without a reference or a currency")
    if not transfer.amount_minor:
        raise MalformedEvent("transfer without a usable amount")
    outcome = _TRANSFER_OUTCOMES.get(transfer.status or "", "pending")
    return TransferUpdate(
        reference=transfer.reference,
        transfer_code=transfer.code or "",
        amount_minor=transfer.amount_minor,
        currency=transfer.currency,
        outcome=outcome,
        status=outcome,
        reason=transfer.cause,
        account_last4=transfer.account_number[-4:] if transfer.account_number else None,
        bank_code=transfer.bank_code,
        occurred_at=None,
        fee_minor=transfer.fee_minor,
    )


def read_chargeback(data: Fields) -> ChargebackUpdate:
    """Read a chargeback, whatever it lacks: an odd one freezes its charge (section 7.7). Raises MalformedEvent without
    an id.
    """
    status, identity = text_of(data.get("status")) or "", identity_of_chargeback(data)
    transaction, reference = identifier_of(data.get("transaction_id")), text_of(data.get("tx_ref"))
    return ChargebackUpdate(
        identity=identity,
        reference=reference,
        gateway_id=None if transaction is None else PREFIX + transaction,
        amount_minor=kobo_of_naira(data.get("amount")),
        currency=None,
        outcome=_CHARGEBACK_OUTCOMES.get(status),
        reason=phrase_of(data.get("comment")),
        due_at=instant_of(data.get("due_date")),
        awaits_response=status == AWAITING_STATUS,
        is_unclear=status not in _CHARGEBACK_OUTCOMES,
    )


def read_settlement(data: Fields) -> Settlement | None:
    """Read a settlement to our bank account; None for one to the wallet that transfers use, which stays in our balance.

    Raises MalformedEvent without an id, and for a settled one without a usable amount.
    """
    identifier = identifier_of(data.get("id"))
    if identifier is None:
        raise MalformedEvent("settlement without an id")
    if data.get("destination") in _WALLETS:
        return None
    status = _SETTLEMENT_STATUSES.get(text_of(data.get("status")) or "", "pending")
    amount_minor = kobo_of_naira(data.get("net_amount"))
    if not amount_minor and status == "settled":
        raise MalformedEvent(f"settlement {identifier} without a usable amount")
    currency = text_of(data.get("currency"))
    return Settlement(
        id=PREFIX + identifier,
        status=status,
        amount_minor=amount_minor or 0,
        currency=currency.upper() if currency and len(currency) == 3 and currency.isalpha() else NO_CURRENCY,
        created_at=instant_of(data.get("created_at")),
    )


def read_amount(value: Value, noun: str) -> int:
    """Naira as a number or text, in kobo. Raises MalformedEvent for more than two decimals and for no amount."""
    amount_minor = kobo_of_naira(value)
    if not amount_minor:
        raise MalformedEvent(f"{noun} without a usable amount")
    return amount_minor
