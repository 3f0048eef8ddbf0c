"""Responses of releases of quarantined accounts (contract section 8.2)."""

from typing import Annotated
from uuid import UUID

from msgspec import Meta

from common.primitives.decisions import StaffDecisionStatus
from common.web.response_models import ResponseModel, Timestamp


class BankDetailRelease(ResponseModel):
    id: UUID
    vendor_id: UUID
    vendor_name: Annotated[str | None, Meta(description="The vendor's legal name; null after its erasure.")]
    account_last4: str
    bank_code: str
    bank_name: Annotated[str | None, Meta(description="The bank's name; null for a code that no list has.")]
    status: StaffDecisionStatus
    reason: str
    quarantine_ids: Annotated[
        list[UUID], Meta(description="The quarantines of the account, of all vendors, that it ends.")
    ]
    hash: Annotated[
        str,
        Meta(
            description=(
                "SHA-256, in hex, of vendor and quarantines; `/approve` must repeat it, calculated again "
                "before the release."
            )
        ),
    ]
    prepared_by: Annotated[UUID, Meta(description="The maker.")]
    prepared_at: Timestamp
    decided_by: Annotated[UUID | None, Meta(description="The checker.")]
    decided_at: Timestamp | None
    rejection_reason: str | None


class BankDetailQuarantine(ResponseModel):
    id: UUID
    vendor_id: UUID
    vendor_name: Annotated[str | None, Meta(description="The vendor's legal name; null after its erasure.")]
    payout_id: UUID | None
    payout_number: Annotated[
        str | None, Meta(description="The number for people of the payout that it was about; null without one.")
    ]
    reason: str
    quarantined_by: Annotated[UUID, Meta(description="The member of finance who quarantined the account.")]
    quarantined_at: Annotated[Timestamp, Meta(description="The time of the quarantine.")]


class BankDetailReleaseDetail(BankDetailRelease):
    quarantines: Annotated[list[BankDetailQuarantine], Meta(description="The quarantines that the release ends.")]
