"""The encryption key of each purpose (decision 36)."""

from dataclasses import dataclass

from common.primitives.encryption import Encryptor
from contracts.identity import CODE_DELIVERY


@dataclass(frozen=True, slots=True)
class Encryption:
    """`codes` encrypts one-time codes for notifications. The others encrypt data at rest and stay inside identity."""

    totp_secrets: Encryptor
    signing_keys: Encryptor
    hash_key: Encryptor
    codes: Encryptor


def encryption_of(credentials: tuple[str, str], code_delivery: tuple[str, str], shared: tuple[str, str]) -> Encryption:
    """Build the encryptors from pairs of current and previous key.

    With a shared key, texts are still written in the format of the previous release.
    """
    current, previous = credentials
    writes_old_format = bool(shared[0])

    def at_rest(purpose: str) -> Encryptor:
        return Encryptor(
            f"identity: {purpose}", current, previous, old_keys=shared, writes_old_format=writes_old_format
        )

    return Encryption(
        totp_secrets=at_rest("TOTP secrets"),
        signing_keys=at_rest("signing keys"),
        hash_key=at_rest("hash key"),
        codes=Encryptor(CODE_DELIVERY, *code_delivery, old_keys=shared, writes_old_format=writes_old_format),
    )
