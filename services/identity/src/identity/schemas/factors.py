"""Request and response models of second factors."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field, StringConstraints

from common.web.schemas import A_CODE, A_NAME, RequestBody

FactorName = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100), A_NAME]
# Base64url without padding, as WebAuthn's JSON encodes bytes. The bounds are a few times the usual sizes.
_CredentialId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]+\z", max_length=1364)]
_Bytes = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]+\z", max_length=16_384)]
_Word = Annotated[str, StringConstraints(max_length=40)]


class EnrollFactorRequest(RequestBody):
    """Enrol a TOTP factor. The name distinguishes several."""

    name: FactorName | None = None


class VerifyFactorRequest(RequestBody):
    """Six digits, or a recovery code such as `K7QF-2XNA-PD4M-WZ3T`. Its case and hyphens do not matter."""

    code: Annotated[str, StringConstraints(pattern=r"^(?:[0-9]{6}|[A-Za-z2-7]{4}(?:-?[A-Za-z2-7]{4}){3})\z"), A_CODE]
    factor_id: UUID | None = None


class _Credential(RequestBody):
    """The result of `PublicKeyCredential.toJSON()`. Extensions are not requested and are ignored."""

    id: _CredentialId
    raw_id: _CredentialId
    type: Literal["public-key"]
    authenticator_attachment: _Word | None = None
    client_extension_results: dict[str, object] = Field(default_factory=dict)


class AuthenticatorAttestationResponse(RequestBody):
    client_data_json: Annotated[_Bytes, Field(alias="clientDataJSON")]
    attestation_object: _Bytes
    authenticator_data: _Bytes | None = None
    public_key: _Bytes | None = None
    public_key_algorithm: Annotated[int, Field(strict=True, ge=-(2**31), le=2**31 - 1)] | None = None
    transports: Annotated[list[_Word], Field(max_length=10)] = Field(default_factory=list)


class PasskeyRegistration(_Credential):
    response: AuthenticatorAttestationResponse


class AuthenticatorAssertionResponse(RequestBody):
    client_data_json: Annotated[_Bytes, Field(alias="clientDataJSON")]
    authenticator_data: _Bytes
    signature: _Bytes
    user_handle: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]*\z", max_length=100)] | None = None


class PasskeyAssertion(_Credential):
    response: AuthenticatorAssertionResponse


class RegisterPasskeyRequest(RequestBody):
    challenge_id: UUID
    name: FactorName
    credential: PasskeyRegistration


class VerifyPasskeyRequest(RequestBody):
    challenge_id: UUID
    credential: PasskeyAssertion
