"""Request bodies and responses of releases of quarantined accounts (contract section 8.2)."""

from datetime import datetime
from uuid import UUID

from pydantic import Field

from common.web.schemas import RequestBody, ResponseShape
from payouts.domain.quarantines import ReleaseStatus
from payouts.schemas.reconciliations import Reason


class PrepareBankDetailReleaseRequest(RequestBody):
    reason: Reason


class RejectBankDetailReleaseRequest(RequestBody):
    reason: Reason


class BankDetailRelease(ResponseShape):
    id: UUID
    vendor_id: UUID
    account_last4: str
    bank_code: str
    status: ReleaseStatus
    reason: str
    quarantine_ids: list[UUID] = Field(description="The quarantines of the account, of all vendors, that it ends.")
    hash: str = Field(
        description="SHA-256, in hex, of vendor and quarantines; `/approve` must repeat it, calculated again before the release."
    )
    prepared_by: UUID = Field(description="The maker.")
    prepared_at: datetime
    decided_by: UUID | None = Field(description="The checker.")
    decided_at: datetime | None
    rejection_reason: str | None


class BankDetailQuarantine(ResponseShape):
    id: UUID
    vendor_id: UUID
    payout_id: UUID | None
    reason: str
    quarantined_by: UUID = Field(description="The member of finance who quarantined the account.")
    quarantined_at: datetime = Field(description="The time of the quarantine.")


class BankDetailReleaseDetail(BankDetailRelease):
    quarantines: list[BankDetailQuarantine] = Field(description="The quarantines that the release ends.")
