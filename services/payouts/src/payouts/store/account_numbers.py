"""Account numbers at rest: sealed under the deployment's `SEALING_KEY`, and compared by a keyed fingerprint."""

import hashlib
import hmac
import re
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from common.sealing import Sealer

# What a row of the release before sealing still holds.
_PLAIN: Final = re.compile(r"[0-9]{10}")


@dataclass(frozen=True, slots=True)
class SealedNumber:
    """An account number that only the key opens. The fingerprint is the same for the same account of the same bank."""

    sealed: str
    fingerprint: str


class AccountNumbers:
    """AES-256-GCM, bound to the vendor; the fingerprint is an HMAC-SHA-256 under a key of its own."""

    def __init__(self, key: str) -> None:
        self._sealer = Sealer(key)
        self._fingerprint_key = hashlib.sha256(b"account-fingerprints:" + key.encode()).digest()

    def seal(self, vendor_id: UUID, bank_code: str, account_number: str) -> SealedNumber:
        """Another text each time, and always the same fingerprint."""
        return SealedNumber(
            self._sealer.seal(account_number, _context(vendor_id)), self.fingerprint(bank_code, account_number)
        )

    def fingerprint(self, bank_code: str, account_number: str) -> str:
        """By which the same account is found among the sealed ones."""
        return hmac.new(self._fingerprint_key, f"{bank_code}:{account_number}".encode(), hashlib.sha256).hexdigest()

    def open(self, vendor_id: UUID, kept: str) -> str:
        """The ten digits; raises SealBroken for another vendor's text or another key's."""
        return kept if _PLAIN.fullmatch(kept) else self._sealer.unseal(kept, _context(vendor_id))


def _context(vendor_id: UUID) -> str:
    return f"account-number:{vendor_id}"
