"""Request bodies and responses of bank details."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field, StringConstraints

from common.web.schemas import RequestBody, ResponseShape


class ReplaceBankDetailsRequest(RequestBody):
    account_number: Annotated[str, Field(pattern=r"^[0-9]{10}$", description="NUBAN, ten digits")]
    bank_code: Annotated[str, Field(pattern=r"^[0-9A-Z]{3,6}$")]


class QuarantineBankDetailsRequest(RequestBody):
    reason: Annotated[
        str,
        StringConstraints(strip_whitespace=True, min_length=1, max_length=500),
        Field(description="Shown to the vendor."),
    ]
    payout_id: Annotated[
        UUID | None, Field(description="The payout that it is about: what did not leave goes back to the wallet.")
    ] = None


class BankAccountFields(ResponseShape):
    vendor_id: UUID
    account_last4: str
    bank_code: str
    bank_name: str | None
    account_name: str | None
    verified: bool
    reason: str | None
    warning: str | None


class BankDetails(BankAccountFields):
    quarantined: bool
    quarantine_reason: str | None
    payouts_from: Annotated[
        datetime | None, Field(description="From when payouts to this account are sent; null while it is not verified.")
    ]
    updated_at: datetime


class BankDetailsChange(BankAccountFields):
    id: UUID
    change: Literal["set", "legal_name_changed", "quarantined", "released"]
    changed_by: Annotated[UUID | None, Field(description="Null when the vendor's legal name changed.")]
    changed_at: datetime


class QuarantinedPayout(ResponseShape):
    id: UUID
    status: Literal["pending", "processed", "failed"]
    restitution: Annotated[
        Literal["done", "awaited"] | None,
        Field(
            description="done: its amount is the wallet's again. awaited: it goes back as soon as the gateway has settled that the "
            "transfer failed or came back. null: its money left."
        ),
    ]


class QuarantinedBankDetails(BankDetails):
    payout: QuarantinedPayout | None
