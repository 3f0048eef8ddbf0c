"""Recovery codes, which a user writes down in case the second factor is lost."""

import base64
import re
from typing import Final
from uuid import UUID

from common.primitives.ids import new_secret
from identity.credentials.keyed_hashes import KeyedHashes

# 80 random bits cannot be guessed, and are four groups of four letters to write down.
_BYTES: Final = 10
_FORM: Final = re.compile(r"[A-Za-z2-7]{4}(?:-?[A-Za-z2-7]{4}){3}", re.ASCII)


class RecoveryCodes:
    """Create codes and their keyed hashes. Only the hashes are stored."""

    def __init__(self, hashes: KeyedHashes) -> None:
        self._hashes = hashes

    def new_code(self) -> str:
        """Return a code such as `K7QF-2XNA-PD4M-WZ3T`."""
        encoded = base64.b32encode(base64.urlsafe_b64decode(new_secret(_BYTES) + "==")).decode()
        return "-".join(encoded[at : at + 4] for at in range(0, 16, 4))

    def hash_of(self, user_id: UUID, code: str) -> bytes:
        """Return the stored hash. Groups and case do not matter."""
        return self._hashes.of("recovery code", str(user_id), code.replace("-", "").upper())


def is_recovery_code(text: str) -> bool:
    """Return whether the text has the form of a recovery code, which differs from every TOTP code."""
    return _FORM.fullmatch(text) is not None
