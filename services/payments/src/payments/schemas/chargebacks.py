"""Chargebacks, and responses of staff to them."""

import base64
import binascii
from datetime import date
from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from common.web.schemas import PositiveKobo, RequestBody
from payments.domain.chargeback_responses import (
    ATTACHMENT_BYTES_MAX,
    Resolution,
    media_type_of,
)

Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2_000)]


def _file(text: str) -> str:
    try:
        content = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("must be base64") from None
    if len(content) > ATTACHMENT_BYTES_MAX:
        raise ValueError(f"must be a file of at most {ATTACHMENT_BYTES_MAX} bytes")
    if media_type_of(content) is None:
        raise ValueError("must be a PDF, PNG or JPEG file")
    return text


class SubmitChargebackEvidenceRequest(RequestBody):
    """`POST /api/chargebacks/:id/evidence`: the data of buyer and delivery for the payer's bank."""

    customer_email: Annotated[
        str,
        StringConstraints(pattern=r"^[^@\s]+@[^@\s]+\.[^@\s]+$", max_length=200),
        Field(examples=["ngozi@campus.example"]),
    ]
    customer_name: Line
    customer_phone: Annotated[str, StringConstraints(pattern=r"^\+?[0-9]{7,15}$"), Field(examples=["+2348012345678"])]
    service_details: Text
    delivery_address: Line | None = None
    delivery_date: date | None = None


class ResolveChargebackRequest(RequestBody):
    """`POST /api/chargebacks/:id/resolve`."""

    resolution: Resolution = Field(description="`accept` returns money to the payer; `contest` leaves it to the bank.")
    message: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]
    amount_minor: Annotated[
        PositiveKobo | None, Field(description="With `accept` only; by default all that is disputed.")
    ] = None
    attachment: Annotated[
        str,
        AfterValidator(_file),
        Field(description="A PDF, PNG or JPEG file in base64, which the gateway requires.", examples=["JVBERi0xLjQ="]),
    ]

    @model_validator(mode="after")
    def amount_belongs_to_acceptance(self) -> "ResolveChargebackRequest":
        if self.resolution == "contest" and self.amount_minor is not None:
            raise ValueError("an amount is given with accept only")
        return self
