"""Account numbers at rest: encrypted under `ACCOUNT_NUMBER_KEY`, compared by a keyed fingerprint."""

import hashlib
import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from uuid import UUID

import asyncpg

from common.database.hash_keys import hash_key_rows
from common.database.reencryption import EncryptedRows, stale_text
from common.primitives.encryption import Encryptor

# An account number in plain text, written by the previous release.
_PLAIN: Final = re.compile(r"[0-9]{10}")


@dataclass(frozen=True, slots=True)
class EncryptedNumber:
    """An encrypted account number. The fingerprint is the same for the same account of the same bank."""

    ciphertext: str
    fingerprint: str


class AccountNumbers:
    """AES-256-GCM, bound to the vendor. The fingerprint is an HMAC-SHA-256 under the hash key
    (`common.database.hash_keys`).

    A key rotation changes no fingerprint: SQL compares the fingerprints of a vendor's accounts, quarantined ones
    included.
    """

    def __init__(self, encryptor: Encryptor, fingerprint_key: bytes) -> None:
        self._encryptor = encryptor
        self._fingerprint_key = fingerprint_key

    def encrypt(self, vendor_id: UUID, bank_code: str, account_number: str) -> EncryptedNumber:
        """Return a new ciphertext each time, and always the same fingerprint."""
        return EncryptedNumber(
            self._encryptor.encrypt(account_number, _context(vendor_id)), self.fingerprint(bank_code, account_number)
        )

    def fingerprint(self, bank_code: str, account_number: str) -> str:
        """Return the key by which SQL compares accounts."""
        return hmac.new(self._fingerprint_key, f"{bank_code}:{account_number}".encode(), hashlib.sha256).hexdigest()

    def plain_number(self, vendor_id: UUID, stored: str) -> str:
        """Return the ten digits. Raises DecryptionFailed for another vendor's ciphertext or another key's."""
        return stored if _PLAIN.fullmatch(stored) else self._encryptor.decrypt(stored, _context(vendor_id))

    def encrypted_rows(self, hash_key: Encryptor) -> list[EncryptedRows]:
        """Return the encrypted columns for re-encryption: the numbers and the hash key."""
        tables = (("vendor_bank_details", "vendor_id", ()), ("bank_detail_versions", "id", ("vendor_id",)))
        return [
            *(
                EncryptedRows(
                    table=table,
                    key=key,
                    read=("account_sealed", *more),
                    stale=stale_text("account_sealed"),
                    encryptor=self._encryptor,
                    renew=self._renew,
                )
                for table, key, more in tables
            ),
            hash_key_rows(hash_key),
        ]

    def _renew(self, row: asyncpg.Record) -> Mapping[str, object]:
        context = _context(row["vendor_id"])
        return {
            "account_sealed": self._encryptor.encrypt(self._encryptor.decrypt(row["account_sealed"], context), context)
        }


def previous_release_fingerprint_key(sealing_key: str) -> bytes:
    """Return the key that earlier releases derived from `SEALING_KEY`: their fingerprints stay valid."""
    return hashlib.sha256(b"account-fingerprints:" + sealing_key.encode()).digest()


def _context(vendor_id: UUID) -> str:
    return f"account-number:{vendor_id}"
