"""Passkeys (WebAuthn Level 2): options for the browser, and the judgement of what an authenticator answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from webauthn import (
    generate_authentication_options,
    generate_registration_options,
    verify_authentication_response,
    verify_registration_response,
)
from webauthn.helpers import (
    decode_credential_public_key,
    decoded_public_key_to_cryptography,
    options_to_json_dict,
    parse_attestation_object,
    parse_authentication_credential_json,
    parse_client_data_json,
    parse_registration_credential_json,
)
from webauthn.helpers.cose import COSEAlgorithmIdentifier
from webauthn.helpers.structs import (
    AttestationFormat,
    AuthenticatorSelectionCriteria,
    PublicKeyCredentialDescriptor,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)

from common.observability.logging import get_logger
from common.primitives.ids import new_secret
from identity.domain.errors import PasskeyRejected
from identity.domain.second_factors import CHALLENGE_LIFE

log = get_logger(__name__)

NAME_SHOWN: Final = "Campus Marketplace"
ALGORITHMS: Final = [COSEAlgorithmIdentifier.EDDSA, COSEAlgorithmIdentifier.ECDSA_SHA_256]
# We ask for no attestation; some browsers pass on a self-attestation nevertheless. Other formats are code that strangers
# could feed for nothing.
FORMATS: Final = (AttestationFormat.NONE, AttestationFormat.PACKED)
# WebAuthn, section 4: a credential id has 16 bytes at least and 1023 at most.
CREDENTIAL_ID_BYTES_MIN: Final = 16
CREDENTIAL_ID_BYTES_MAX: Final = 1023
_TIMEOUT_MILLISECONDS: Final = int(CHALLENGE_LIFE.total_seconds() * 1000)


@dataclass(frozen=True, slots=True)
class RelyingParty:
    """Who we are to an authenticator: the domain that passkeys are bound to, and the origins they may be used on."""

    id: str
    origins: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NewPasskey:
    """What an authenticator made: the id of the credential, its public key (COSE), and its counter."""

    credential_id: bytes
    public_key: bytes
    sign_count: int


@dataclass(frozen=True, slots=True)
class ShownPasskey:
    """An authenticator's answer to a challenge, not judged yet."""

    credential_id: bytes
    response: Mapping[str, Any]


class InvalidCredential(Exception):
    """A check of ours beside the library's; its text goes to the log only."""


class Passkeys:
    """Asks authenticators, and judges their answers. Whatever is wrong with an answer is PasskeyRefused."""

    def __init__(self, relying_party: RelyingParty) -> None:
        self._party = relying_party

    def new_challenge(self) -> bytes:
        """256 random bits, as text."""
        return new_secret().encode()

    def creation_options(self, user_id: UUID, email: str, challenge: bytes, held: Sequence[bytes]) -> dict[str, Any]:
        """PublicKeyCredentialCreationOptionsJSON; `held` are the credentials that are not to be made a second time."""
        options = generate_registration_options(
            rp_id=self._party.id,
            rp_name=NAME_SHOWN,
            user_id=user_id.bytes,
            user_name=email,
            challenge=challenge,
            timeout=_TIMEOUT_MILLISECONDS,
            authenticator_selection=AuthenticatorSelectionCriteria(
                resident_key=ResidentKeyRequirement.PREFERRED,
                user_verification=UserVerificationRequirement.REQUIRED,
            ),
            exclude_credentials=[PublicKeyCredentialDescriptor(id=held_id) for held_id in held],
            supported_pub_key_algs=ALGORITHMS,
        )
        return options_to_json_dict(options)

    def request_options(self, challenge: bytes, held: Sequence[bytes]) -> dict[str, Any]:
        """PublicKeyCredentialRequestOptionsJSON for any of the credentials `held`."""
        options = generate_authentication_options(
            rp_id=self._party.id,
            challenge=challenge,
            timeout=_TIMEOUT_MILLISECONDS,
            allow_credentials=[PublicKeyCredentialDescriptor(id=held_id) for held_id in held],
            user_verification=UserVerificationRequirement.REQUIRED,
        )
        return options_to_json_dict(options)

    def read_new(self, response: Mapping[str, Any], challenge: bytes) -> NewPasskey:
        """The passkey that was made for this challenge; raises PasskeyRefused."""
        try:
            credential = parse_registration_credential_json(dict(response))
            _check_frame(credential.response.client_data_json)
            if parse_attestation_object(credential.response.attestation_object).fmt not in FORMATS:
                raise InvalidCredential("an attestation nobody asked for")
            verified = verify_registration_response(
                credential=credential,
                expected_challenge=challenge,
                expected_rp_id=self._party.id,
                expected_origin=list(self._party.origins),
                require_user_verification=True,
                supported_pub_key_algs=ALGORITHMS,
            )
            _check_made(verified.credential_id, credential.raw_id, verified.credential_public_key)
        except Exception as error:
            raise _rejected(error) from error
        return NewPasskey(verified.credential_id, verified.credential_public_key, verified.sign_count)

    def read_shown(self, response: Mapping[str, Any], user_id: UUID) -> ShownPasskey:
        """The credential that an answer is of; raises PasskeyRefused for one that names another person."""
        try:
            credential = parse_authentication_credential_json(dict(response))
            _check_frame(credential.response.client_data_json)
            if credential.response.user_handle not in (None, user_id.bytes):
                raise InvalidCredential("a passkey of another person")
        except Exception as error:
            raise _rejected(error) from error
        return ShownPasskey(credential.raw_id, response)

    def sign_count_of(self, shown: ShownPasskey, challenge: bytes, public_key: bytes) -> int:
        """The counter of an answer that this key gave to this challenge; raises PasskeyRefused.

        The counter is for the caller to judge, once the signature holds: a stranger's number says nothing.
        """
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


def _check_frame(client_data_json: bytes) -> None:
    # A page of another site that shows us in a frame could have its visitors confirm what they do not see.
    if parse_client_data_json(client_data_json).cross_origin:
        raise InvalidCredential("asked from within a page of another site")


def _check_made(credential_id: bytes, named_id: bytes, public_key: bytes) -> None:
    """Without attestation nobody has used the key yet: one that cannot verify anything would lock its owner out."""
    if credential_id != named_id:
        raise InvalidCredential("the credential is not the one that is named")
    if not CREDENTIAL_ID_BYTES_MIN <= len(credential_id) <= CREDENTIAL_ID_BYTES_MAX:
        raise InvalidCredential("an id of this length identifies nothing")
    decoded = decode_credential_public_key(public_key)
    key = decoded_public_key_to_cryptography(decoded)
    is_es256 = isinstance(key, EllipticCurvePublicKey) and isinstance(key.curve, SECP256R1)
    wanted = is_es256 if decoded.alg == COSEAlgorithmIdentifier.ECDSA_SHA_256 else isinstance(key, Ed25519PublicKey)
    if not wanted:
        raise InvalidCredential("the key is not of its algorithm")


def _rejected(error: Exception) -> PasskeyRejected:
    """The library answers bytes of strangers with errors of many kinds, its own and Python's: each is a refusal."""
    log.info("passkey refused", reason=type(error).__name__, explanation=str(error)[:200])
    return PasskeyRejected()
