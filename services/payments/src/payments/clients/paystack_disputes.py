"""Read and write Paystack's disputes, and read its settlements."""

from collections.abc import Mapping
from typing import Final

from common.primitives.money import AMOUNT_MINOR_MAX
from payments.domain.accounts import NO_CURRENCY
from payments.domain.chargeback_responses import DisputeEvidence, DisputeResolution
from payments.domain.chargebacks import ChargebackUpdate, Outcome
from payments.domain.errors import MalformedEvent
from payments.domain.settlements import Settlement, SettlementStatus
from providers.wire import Fields, Value, fields_of, identifier_of, instant_of, phrase_of, text_of, whole_of

OPENED_EVENT: Final = "charge.dispute.create"
REMINDED_EVENT: Final = "charge.dispute.remind"
RESOLVED_EVENT: Final = "charge.dispute.resolve"
EVENTS: Final = (OPENED_EVENT, REMINDED_EVENT, RESOLVED_EVENT)
AWAITING_STATUS: Final = "awaiting-merchant-feedback"
_AWAITING_STATUSES: Final = frozenset({None, AWAITING_STATUS, "pending"})
# `declined` means that the merchant declined the claim, and the bank agreed: we keep the money.
_OUTCOMES: Final[Mapping[str, Outcome]] = {
    "declined": "won",
    "won": "won",
    "merchant-accepted": "lost",
    "auto-accepted": "lost",
    "accepted": "lost",
    "lost": "lost",
}
_RESOLUTIONS: Final = {"accept": "merchant-accepted", "contest": "declined"}
# `processing` and any unknown status are not in the bank yet.
_SETTLEMENT_STATUSES: Final[Mapping[str | None, SettlementStatus]] = {"success": "settled", "failed": "failed"}


def event_of(data: Fields) -> str:
    """Return the event type of a dispute's present state. A resolution before the status `resolved` is ours, and not
    the bank's.
    """
    is_resolved = text_of(data.get("status")) in (None, "resolved") and text_of(data.get("resolution")) is not None
    return RESOLVED_EVENT if is_resolved else OPENED_EVENT


def read_dispute(event_type: str, data: Fields) -> ChargebackUpdate:
    """Read a dispute, whatever it lacks: an odd one freezes its charge (section 7.7).

    The transaction is an object, or its id; times have two spellings.
    """
    transaction = fields_of(data.get("transaction"))
    reference = next(
        filter(
            None,
            (
                text_of(transaction.get("reference")),
                text_of(data.get("transaction_reference")),
                text_of(data.get("merchant_transaction_reference")),
            ),
        ),
        None,
    )
    gateway_id = identifier_of(transaction.get("id")) or identifier_of(data.get("transaction"))
    outcome = _OUTCOMES.get(text_of(data.get("resolution")) or "") if event_type == RESOLVED_EVENT else None
    return ChargebackUpdate(
        identity=identifier_of(data.get("id")) or f"transaction:{reference or gateway_id}",
        reference=reference,
        gateway_id=gateway_id,
        amount_minor=whole_of(data.get("refund_amount")),
        currency=text_of(data.get("currency")),
        outcome=outcome,
        reason=phrase_of(data.get("category")),
        due_at=instant_of(data.get("dueAt")) or instant_of(data.get("due_at")),
        awaits_response=event_type != RESOLVED_EVENT and text_of(data.get("status")) in _AWAITING_STATUSES,
        is_unclear=event_type == RESOLVED_EVENT and outcome is None,
    )


def evidence_body(evidence: DisputeEvidence) -> dict[str, str]:
    """Return the body of `POST /dispute/:id/evidence`."""
    body = {
        "customer_email": evidence.customer_email,
        "customer_name": evidence.customer_name,
        "customer_phone": evidence.customer_phone,
        "service_details": evidence.service_details,
    }
    if evidence.delivery_address is not None:
        body["delivery_address"] = evidence.delivery_address
    if evidence.delivery_date is not None:
        body["delivery_date"] = evidence.delivery_date
    return body


def resolution_body(resolution: DisputeResolution, file_name: str) -> dict[str, Value]:
    """Return the body of `PUT /dispute/:id/resolve`. The gateway's id of evidence is a number."""
    body: dict[str, Value] = {
        "resolution": _RESOLUTIONS[resolution.resolution],
        "message": resolution.message,
        "refund_amount": resolution.amount_minor,
        "uploaded_filename": file_name,
    }
    if resolution.evidence_id is not None and resolution.evidence_id.isdigit():
        body["evidence"] = int(resolution.evidence_id)
    return body


def read_settlement(data: Fields) -> Settlement:
    """Read a settlement. Raises MalformedEvent without an id, and for a settled one without a usable amount."""
    settlement_id = identifier_of(data.get("id"))
    if settlement_id is None:
        raise MalformedEvent("settlement without an id")
    status = _SETTLEMENT_STATUSES.get(text_of(data.get("status")), "pending")
    # `total_amount` is before deductions, which are refunds and lost disputes.
    reported = data.get("effective_amount")
    amount_minor = whole_of(data.get("total_amount") if reported is None else reported)
    if amount_minor is None or not 0 < amount_minor <= AMOUNT_MINOR_MAX:
        if status == "settled":
            raise MalformedEvent(f"settlement {settlement_id} without a usable amount")
        amount_minor = 0
    currency = text_of(data.get("currency"))
    return Settlement(
        id=settlement_id,
        status=status,
        amount_minor=amount_minor,
        currency=currency.upper()
        if currency is not None and len(currency) == 3 and currency.isalpha()
        else NO_CURRENCY,
        created_at=instant_of(data.get("createdAt")) or instant_of(data.get("created_at")),
    )
