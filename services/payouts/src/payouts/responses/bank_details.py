"""Responses of bank details."""

from typing import Annotated, Literal
from uuid import UUID

from msgspec import Meta

from common.web.response_models import ResponseModel, Timestamp
from payouts.domain.bank_accounts import Change
from payouts.domain.payout_transitions import PayoutStatus


class BankAccountFields(ResponseModel):
    vendor_id: UUID
    account_last4: str
    bank_code: str
    bank_name: str | None
    account_name: str | None
    verified: bool
    reason: str | None
    warning: str | None


class BankDetails(BankAccountFields):
    is_present: Annotated[
        bool,
        Meta(
            description="False in the response to an account that is not verified, while an earlier verified one stays "
            "the present account."
        ),
    ]
    quarantined: bool
    quarantine_reason: str | None
    payouts_from: Annotated[
        Timestamp | None, Meta(description="From when payouts to this account are sent; null while it is not verified.")
    ]
    updated_at: Timestamp


class BankDetailsChange(BankAccountFields):
    id: UUID
    change: Annotated[Change, Meta(description="What changed.")]
    changed_by: Annotated[UUID | None, Meta(description="Null when the vendor's legal name changed.")]
    changed_at: Annotated[Timestamp, Meta(description="The time of the change.")]


class QuarantinedPayout(ResponseModel):
    id: UUID
    status: PayoutStatus
    restitution: Annotated[
        Literal["done", "awaited"] | None,
        Meta(
            description="done: its amount is the wallet's again. awaited: it goes back as soon as the gateway has "
            "settled "
            "that the transfer failed or came back. null: its money left."
        ),
    ]


class QuarantinedBankDetails(BankDetails):
    payout: Annotated[QuarantinedPayout | None, Meta(description="The payout that it was about; null without one.")]
