"""Response models of second factors."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal
from uuid import UUID

from msgspec import Meta

from common.web.response_models import ResponseModel, Timestamp


class EnrolledFactor(ResponseModel):
    factor_id: UUID
    secret: str
    otpauth_uri: Annotated[str, Meta(description="The address of the QR code for authenticator apps.")]


class Factor(ResponseModel):
    id: UUID
    kind: Literal["totp", "passkey"]
    name: Annotated[str | None, Meta(description="The name that distinguishes several factors.")]
    created_at: Timestamp
    last_used_at: Timestamp | None
    confirmed: Annotated[bool, Meta(description="Whether its first code was verified; other factors do not count.")]


class RemovedFactor(ResponseModel):
    id: UUID


class RecoveryCodes(ResponseModel):
    codes: Annotated[list[str], Meta(description="The new recovery codes, each for one use. They are not shown again.")]


class RecoveryCodeCount(ResponseModel):
    remaining: Annotated[int, Meta(description="The number of unused codes.")]
    created_at: Timestamp | None


class PasskeyChallenge(ResponseModel):
    """Pass `publicKey` to the browser's `parseCreationOptionsFromJSON` or `parseRequestOptionsFromJSON` unchanged."""

    challenge_id: UUID
    expires_at: Timestamp
    public_key: Annotated[Mapping[str, Any], Meta(description="The options for the browser, as JSON.")]
