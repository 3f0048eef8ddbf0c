"""Bodies and answers of second factors."""

from typing import Annotated
from uuid import UUID

from pydantic import StringConstraints

from common.schemas import RequestBody, ResponseShape


class EnrollRequest(RequestBody):
    """Nothing: there is one kind of factor to enrol this way."""


class VerifyRequest(RequestBody):
    code: Annotated[str, StringConstraints(pattern=r"^[0-9]{6}\z")]
    factor_id: UUID | None = None


class EnrolledFactor(ResponseShape):
    factor_id: UUID
    secret: str
    otpauth_uri: str
