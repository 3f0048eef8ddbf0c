"""Responses of payouts."""

from typing import Annotated
from uuid import UUID

from msgspec import Meta

from common.web.response_models import ResponseModel, Timestamp
from contracts.severities import Severity
from payouts.domain.arrivals import ArrivalObstacle
from payouts.domain.payout_transitions import PayoutStatus
from payouts.domain.severity import Cause
from payouts.domain.transitions import State


class Transfer(ResponseModel):
    id: UUID
    attempt: int
    reference: str
    status: State
    transfer_code: str | None
    failure: str | None
    created_at: Timestamp
    updated_at: Timestamp


class OpenPayoutException(ResponseModel):
    id: UUID
    cause: Cause
    detail: Annotated[str, Meta(description="What was reported, such as the bank's reason; may be empty.")]
    severity: Severity
    respond_by: Timestamp
    opened_at: Timestamp


class PayoutHold(ResponseModel):
    reason: Annotated[str, Meta(description="Why finance holds it; the vendor reads it too.")]
    held_at: Annotated[Timestamp, Meta(description="When finance held it.")]


class PayoutReversal(ResponseModel):
    at: Annotated[
        Timestamp,
        Meta(
            description="When the gateway reported that the bank sent the money back; without such a report, "
            "when the amount was credited."
        ),
    ]
    credited_at: Annotated[
        Timestamp | None,
        Meta(description="When two people of finance returned the amount to the wallet; null until then."),
    ]


class BankArrival(ResponseModel):
    """When money reaches the vendor's bank account at the latest, or why no day is named."""

    day: Annotated[
        str | None,
        Meta(description="The latest day in Africa/Lagos, such as `2026-12-01`; null while something holds the money."),
    ]
    obstacle: Annotated[ArrivalObstacle | None, Meta(description="Why no day is named; null with a day.")]


class Payout(ResponseModel):
    id: UUID
    number: Annotated[str, Meta(description="The number for people: `PO-XXXX-XXXX`.")]
    vendor_id: UUID
    vendor_name: Annotated[
        str | None, Meta(description="The vendor's legal name; null after its erasure, and where it may not be read.")
    ]
    amount_minor: int
    currency: str
    status: PayoutStatus
    bank_code: str
    bank_name: Annotated[str | None, Meta(description="The bank's name; null for a code that no list has.")]
    account_last4: str
    account_name: Annotated[
        str | None, Meta(description="The holder of the account as the bank named them; null while that is unknown.")
    ]
    retry_count: Annotated[int, Meta(description="The number of resets so far.")]
    transfer_reference: Annotated[str | None, Meta(description="The reference of the latest transfer.")]
    transfer_code: str | None
    transfer_failure: Annotated[str | None, Meta(description="Why the latest transfer failed; null otherwise.")]
    transfer: Transfer | None
    open_exception: Annotated[
        OpenPayoutException | None, Meta(description="The exception that holds it; null without one.")
    ]
    hold: Annotated[
        PayoutHold | None, Meta(description="The hold of finance: dispatch skips the payout; null without one.")
    ]
    reversal: Annotated[
        PayoutReversal | None,
        Meta(description="The return of a processed payout's money by the bank; null while the bank keeps it paid."),
    ]
    arrival: Annotated[
        BankArrival | None, Meta(description="When a pending payout reaches the bank; null for any other.")
    ]
    created_at: Timestamp
    updated_at: Timestamp
    processed_at: Annotated[
        Timestamp | None, Meta(description="The time at which the bank transfer succeeded; null before.")
    ]
