"""The body and the shape of bank details."""

from typing import Annotated
from uuid import UUID

from pydantic import Field

from common.schemas import RequestBody, ResponseShape


class BankDetailsRequest(RequestBody):
    account_number: Annotated[str, Field(pattern=r"^[0-9]{10}$", description="NUBAN, ten digits")]
    bank_code: Annotated[str, Field(pattern=r"^[0-9A-Z]{3,6}$")]


class BankDetails(ResponseShape):
    vendor_id: UUID
    account_last4: str
    bank_code: str
    bank_name: str | None
    account_name: str | None
    verified: bool
    reason: str | None
    warning: str | None
    updated_at: str
