"""The keys that sign access tokens: Ed25519, in the service's database, the private half encrypted."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from jwt.algorithms import OKPAlgorithm

from common.primitives.encryption import Encryptor
from common.primitives.ids import new_id
from common.primitives.json_records import Json

ALGORITHM = "EdDSA"


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A decrypted key, ready to sign."""

    kid: str
    private_key: Ed25519PrivateKey


@dataclass(frozen=True, slots=True)
class EncryptedKey:
    """A key as stored: the public half as a JWK, the private half encrypted."""

    kid: str
    public_key: Mapping[str, Json]
    encrypted_private_key: str


class SigningKeys:
    """Create signing keys and decrypt stored ones. Decrypted keys are cached: decrypting costs more than signing."""

    def __init__(self, encryptor: Encryptor) -> None:
        self._encryptor = encryptor
        self._opened: dict[str, SigningKey] = {}

    def make(self) -> EncryptedKey:
        """Return a new key pair with its own `kid`."""
        kid = str(new_id())
        private_key = Ed25519PrivateKey.generate()
        raw = private_key.private_bytes(Encoding.Raw, PrivateFormat.Raw, NoEncryption())
        public_key = {
            **OKPAlgorithm.to_jwk(private_key.public_key(), as_dict=True),
            "kid": kid,
            "alg": ALGORITHM,
            "use": "sig",
        }
        return EncryptedKey(kid, public_key, self._encryptor.encrypt(base64.b64encode(raw).decode(), _context(kid)))

    def open(self, kid: str, encrypted_private_key: str) -> SigningKey:
        """Return the decrypted key. Raises DecryptionFailed when CREDENTIALS_KEY does not match."""
        opened = self._opened.get(kid)
        if opened is None:
            raw = base64.b64decode(self._encryptor.decrypt(encrypted_private_key, _context(kid)))
            opened = self._opened[kid] = SigningKey(kid, Ed25519PrivateKey.from_private_bytes(raw))
        return opened

    def reencrypt(self, kid: str, encrypted_private_key: str) -> str:
        """Encrypt the private key with the current key. Raises DecryptionFailed."""
        context = _context(kid)
        return self._encryptor.encrypt(self._encryptor.decrypt(encrypted_private_key, context), context)


def _context(kid: str) -> str:
    return f"signing-key:{kid}"
