"""Passkeys (WebAuthn Level 2): options for the browser, and verification of authenticator responses.

The library is imported with the first passkey: with its formats of attestation it is 5 MiB.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from uuid import UUID

from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from common.observability.logging import get_logger
from common.primitives.ids import new_secret
from common.primitives.json_records import Json, JsonObject
from identity.domain.errors import PasskeyRejected
from identity.domain.second_factors import CHALLENGE_LIFE

if TYPE_CHECKING:
    from webauthn.helpers.cose import COSEAlgorithmIdentifier

log = get_logger(__name__)

NAME_SHOWN: Final = "Campus Marketplace"
# No attestation is requested, but some browsers pass on a self-attestation. Parsers of other formats would be attack
# surface.
FORMATS: Final = ("none", "packed")
# WebAuthn, section 4: a credential id has at least 16 and at most 1023 bytes.
CREDENTIAL_ID_BYTES_MIN: Final = 16
CREDENTIAL_ID_BYTES_MAX: Final = 1023
_TIMEOUT_MILLISECONDS: Final = int(CHALLENGE_LIFE.total_seconds() * 1000)


@dataclass(frozen=True, slots=True)
class RelyingParty:
    """The domain that passkeys are bound to, and the origins on which they may be used."""

    id: str
    origins: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NewPasskey:
    """A created credential: its id, its public key (COSE), and its signature counter."""

    credential_id: bytes
    public_key: bytes
    sign_count: int


@dataclass(frozen=True, slots=True)
class ShownPasskey:
    """An unverified assertion of an authenticator."""

    credential_id: bytes
    response: Mapping[str, Json]


class InvalidCredential(Exception):
    """A failed check beyond those of the library. Its text is only logged."""


class Passkeys:
    """Create options and verify authenticator responses. Every invalid response raises PasskeyRejected."""

    def __init__(self, relying_party: RelyingParty) -> None:
        self._party = relying_party

    def new_challenge(self) -> bytes:
        """Return 256 random bits, as text."""
        return new_secret().encode()

    def creation_options(self, user_id: UUID, email: str, challenge: bytes, held: Sequence[bytes]) -> JsonObject:
        """Return PublicKeyCredentialCreationOptionsJSON; `held` are the credentials to exclude."""
        from webauthn import generate_registration_options
        from webauthn.helpers import options_to_json_dict, structs

        options = generate_registration_options(
            rp_id=self._party.id,
            rp_name=NAME_SHOWN,
            user_id=user_id.bytes,
            user_name=email,
            challenge=challenge,
            timeout=_TIMEOUT_MILLISECONDS,
            authenticator_selection=structs.AuthenticatorSelectionCriteria(
                resident_key=structs.ResidentKeyRequirement.PREFERRED,
                user_verification=structs.UserVerificationRequirement.REQUIRED,
            ),
            exclude_credentials=[structs.PublicKeyCredentialDescriptor(id=held_id) for held_id in held],
            supported_pub_key_algs=_algorithms(),
        )
        return options_to_json_dict(options)

    def request_options(self, challenge: bytes, held: Sequence[bytes]) -> JsonObject:
        """Return PublicKeyCredentialRequestOptionsJSON for any of the credentials `held`."""
        from webauthn import generate_authentication_options
        from webauthn.helpers import options_to_json_dict, structs

        options = generate_authentication_options(
            rp_id=self._party.id,
            challenge=challenge,
            timeout=_TIMEOUT_MILLISECONDS,
            allow_credentials=[structs.PublicKeyCredentialDescriptor(id=held_id) for held_id in held],
            user_verification=structs.UserVerificationRequirement.REQUIRED,
        )
        return options_to_json_dict(options)

    def read_new(self, response: Mapping[str, Json], challenge: bytes) -> NewPasskey:
        """Return the passkey created for this challenge. Raises PasskeyRejected."""
        from webauthn import verify_registration_response
        from webauthn.helpers import parse_attestation_object, parse_registration_credential_json

        try:
            credential = parse_registration_credential_json(dict(response))
            _check_frame(credential.response.client_data_json)
            if parse_attestation_object(credential.response.attestation_object).fmt not in FORMATS:
                raise InvalidCredential("unsupported attestation format")
            verified = verify_registration_response(
                credential=credential,
                expected_challenge=challenge,
                expected_rp_id=self._party.id,
                expected_origin=list(self._party.origins),
                require_user_verification=True,
                supported_pub_key_algs=_algorithms(),
            )
            _check_made(verified.credential_id, credential.raw_id, verified.credential_public_key)
        except Exception as error:
            raise _rejected(error) from error
        return NewPasskey(verified.credential_id, verified.credential_public_key, verified.sign_count)

    def read_shown(self, response: Mapping[str, Json], user_id: UUID) -> ShownPasskey:
        """Return the credential of an assertion. Raises PasskeyRejected when it names another user."""
        from webauthn.helpers import parse_authentication_credential_json

        try:
            credential = parse_authentication_credential_json(dict(response))
            _check_frame(credential.response.client_data_json)
            if credential.response.user_handle not in (None, user_id.bytes):
                raise InvalidCredential("a passkey of another user")
        except Exception as error:
            raise _rejected(error) from error
        return ShownPasskey(credential.raw_id, response)

    def sign_count_of(self, shown: ShownPasskey, challenge: bytes, public_key: bytes) -> int:
        """Return the signature counter of a verified assertion. Raises PasskeyRejected.

        The caller checks the counter: before the signature is verified the number proves nothing.
        """
        from webauthn import verify_authentication_response

        try:
            verified = verify_authentication_response(
                credential=dict(shown.response),
                expected_challenge=challenge,
                expected_rp_id=self._party.id,
                expected_origin=list(self._party.origins),
                credential_public_key=public_key,
                credential_current_sign_count=0,
                require_user_verification=True,
            )
        except Exception as error:
            raise _rejected(error) from error
        return verified.new_sign_count


def _algorithms() -> "list[COSEAlgorithmIdentifier]":
    from webauthn.helpers.cose import COSEAlgorithmIdentifier

    return [COSEAlgorithmIdentifier.EDDSA, COSEAlgorithmIdentifier.ECDSA_SHA_256]


def _check_frame(client_data_json: bytes) -> None:
    from webauthn.helpers import parse_client_data_json

    # A page that embeds this site in a frame could make its visitors confirm a prompt that they cannot see.
    if parse_client_data_json(client_data_json).cross_origin:
        raise InvalidCredential("embedded in a page of another site")


def _check_made(credential_id: bytes, named_id: bytes, public_key: bytes) -> None:
    """Check a new key without attestation: a key that cannot verify anything would lock its owner out."""
    from webauthn.helpers import decode_credential_public_key, decoded_public_key_to_cryptography
    from webauthn.helpers.cose import COSEAlgorithmIdentifier

    if credential_id != named_id:
        raise InvalidCredential("the credential differs from the named one")
    if not CREDENTIAL_ID_BYTES_MIN <= len(credential_id) <= CREDENTIAL_ID_BYTES_MAX:
        raise InvalidCredential("invalid length of the credential id")
    decoded = decode_credential_public_key(public_key)
    key = decoded_public_key_to_cryptography(decoded)
    is_es256 = isinstance(key, EllipticCurvePublicKey) and isinstance(key.curve, SECP256R1)
    fits_algorithm = (
        is_es256 if decoded.alg == COSEAlgorithmIdentifier.ECDSA_SHA_256 else isinstance(key, Ed25519PublicKey)
    )
    if not fits_algorithm:
        raise InvalidCredential("the key does not fit its algorithm")


def _rejected(error: Exception) -> PasskeyRejected:
    """Map every error to PasskeyRejected. For malformed input the library raises its own and Python's errors."""
    log.info("passkey rejected", reason=type(error).__name__, explanation=str(error)[:200])
    return PasskeyRejected()
