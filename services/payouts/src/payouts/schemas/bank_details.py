"""Request bodies of bank details."""

from typing import Annotated
from uuid import UUID

from pydantic import Field, StringConstraints

from common.web.schemas import RequestBody


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
