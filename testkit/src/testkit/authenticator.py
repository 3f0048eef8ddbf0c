"""An authenticator in software: makes passkeys and shows them as a browser with a security key would, or wrongly on
purpose.
"""

import base64
import hashlib
import json
import os
from dataclasses import dataclass, field
from typing import Any, Final

import cbor2
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ec import (
    ECDSA,
    SECP256R1,
    EllipticCurvePrivateKey,
    generate_private_key,
)
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

USER_PRESENT: Final = 0x01
USER_VERIFIED: Final = 0x04
HAS_CREDENTIAL: Final = 0x40
CREDENTIAL_ID_BYTES: Final = 32


@dataclass(slots=True)
class Authenticator:
    """One security key with one passkey. The fields are its claims; a test changes them to make them false."""

    origin: str
    rp_id: str = "localhost"
    key: EllipticCurvePrivateKey | Ed25519PrivateKey = field(default_factory=lambda: generate_private_key(SECP256R1()))
    credential_id: bytes = field(default_factory=lambda: os.urandom(CREDENTIAL_ID_BYTES))
    counter: int = 0
    counts: bool = True
    flags: int = USER_PRESENT | USER_VERIFIED
    client_fields: dict[str, Any] = field(default_factory=dict)
    """Replaces or adds fields of the client data, before it is signed."""

    def make(self, options: dict[str, Any]) -> dict[str, Any]:
        """`navigator.credentials.create` with these options, in the form of `toJSON()`, without attestation."""
        client = self._client("webauthn.create", options)
        key = cbor2.dumps(self.public_key())
        named = len(self.credential_id).to_bytes(2, "big") + self.credential_id
        authenticator_data = self._authenticator_data(self.flags | HAS_CREDENTIAL) + bytes(16) + named + key
        attestation = cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": authenticator_data})
        response = {"clientDataJSON": b64(client), "attestationObject": b64(attestation), "transports": ["internal"]}
        return self._credential(response)

    def show(self, options: dict[str, Any], *, user_handle: bytes | None = None) -> dict[str, Any]:
        """`navigator.credentials.get` with these options, in the form of `toJSON()`."""
        if self.counts:
            self.counter += 1
        client = self._client("webauthn.get", options)
        authenticator_data = self._authenticator_data(self.flags)
        signature = self._sign(authenticator_data + hashlib.sha256(client).digest())
        response = {
            "clientDataJSON": b64(client),
            "authenticatorData": b64(authenticator_data),
            "signature": b64(signature),
        }
        if user_handle is not None:
            response["userHandle"] = b64(user_handle)
        return self._credential(response)

    def public_key(self) -> dict[int, Any]:
        """Return the public key as COSE writes it."""
        if isinstance(self.key, Ed25519PrivateKey):
            return {1: 1, 3: -8, -1: 6, -2: self.key.public_key().public_bytes_raw()}
        point = self.key.public_key().public_numbers()
        return {1: 2, 3: -7, -1: 1, -2: point.x.to_bytes(32, "big"), -3: point.y.to_bytes(32, "big")}

    def _client(self, kind: str, options: dict[str, Any]) -> bytes:
        fields = {"type": kind, "challenge": options["challenge"], "origin": self.origin, "crossOrigin": False}
        return json.dumps(fields | self.client_fields).encode()

    def _authenticator_data(self, flags: int) -> bytes:
        return hashlib.sha256(self.rp_id.encode()).digest() + bytes([flags]) + self.counter.to_bytes(4, "big")

    def _sign(self, content: bytes) -> bytes:
        if isinstance(self.key, Ed25519PrivateKey):
            return self.key.sign(content)
        return self.key.sign(content, ECDSA(hashes.SHA256()))

    def _credential(self, response: dict[str, Any]) -> dict[str, Any]:
        return {
            "id": b64(self.credential_id),
            "rawId": b64(self.credential_id),
            "type": "public-key",
            "authenticatorAttachment": "platform",
            "clientExtensionResults": {},
            "response": response,
        }


def b64(raw: bytes) -> str:
    """Base64url without padding, as WebAuthn writes bytes."""
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")
