"""Request and response models of campuses and hubs."""

from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints

from common.web.schemas import A_NAME, RequestBody
from identity.domain.addresses import domain_of
from identity.domain.campuses import DELIVERY_FEE_MINOR_MAX
from identity.schemas.vendors import OpeningHours


def _domain(text: str) -> str:
    domain = domain_of(f"student@{text.lower()}") if text.isascii() else None
    if domain is None:
        raise ValueError("is not a mail domain such as unilag.edu.ng")
    return domain


DisplayName = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=120), A_NAME]
Address = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=300)]
DeliveryFee = Annotated[int, Field(strict=True, ge=0, le=DELIVERY_FEE_MINOR_MAX)]
Flag = Annotated[bool, Field(strict=True)]
Revision = Annotated[int, Field(strict=True, ge=1, le=2**31 - 1)]


class CreateCampusRequest(RequestBody):
    name: DisplayName
    domain: Annotated[str, StringConstraints(max_length=253), AfterValidator(_domain)] | None = None


class UpdateCampusRequest(RequestBody):
    """Absent fields stay. A null is rejected."""

    name: DisplayName = ""
    active: Flag = True
    revision: Revision | None = None


class CreateHubRequest(RequestBody):
    name: DisplayName
    address: Address
    delivery_fee_minor: DeliveryFee
    opening_hours: OpeningHours


class UpdateHubRequest(RequestBody):
    """Absent fields stay. A null is rejected."""

    name: DisplayName = ""
    address: Address = ""
    delivery_fee_minor: DeliveryFee = 0
    opening_hours: OpeningHours
    active: Flag = True
    revision: Revision | None = None
