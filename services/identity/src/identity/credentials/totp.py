"""Time-based one-time codes (RFC 6238: SHA-1, six digits, thirty seconds), the secret stored sealed."""

import hmac
from datetime import datetime
from typing import Final
from uuid import UUID

import pyotp

from common.primitives.encryption import Encryptor

PERIOD_SECONDS: Final = 30
# One step to either side: a phone's clock that is half a minute off still works.
STEPS_OFF_MAX: Final = 1
ISSUER_SHOWN: Final = "Campus Marketplace"


class Totp:
    """Makes secrets, and finds the time step that a code stands for."""

    def __init__(self, encryptor: Encryptor) -> None:
        self._encryptor = encryptor

    def new_secret(self) -> str:
        """A secret of 160 bits in base32, as authenticator programs read it."""
        return pyotp.random_base32()

    def encrypt(self, factor_id: UUID, secret: str) -> str:
        return self._encryptor.encrypt(secret, _context(factor_id))

    def decrypt(self, factor_id: UUID, encrypted_secret: str) -> str:
        """Raises DecryptionFailed when CREDENTIALS_KEY does not open it."""
        return self._encryptor.decrypt(encrypted_secret, _context(factor_id))

    def reencrypt(self, factor_id: UUID, encrypted_secret: str) -> str:
        """The same secret under the current key; raises DecryptionFailed."""
        return self.encrypt(factor_id, self.decrypt(factor_id, encrypted_secret))

    def otpauth_uri(self, secret: str, email: str) -> str:
        """What an authenticator program scans."""
        return pyotp.TOTP(secret).provisioning_uri(email, issuer_name=ISSUER_SHOWN)

    def counter_of(self, secret: str, code: str, now: datetime, *, after: int) -> int | None:
        """The time step whose code this is, later than `after`; None for a wrong code and for one used before."""
        codes = pyotp.TOTP(secret)
        present = int(now.timestamp()) // PERIOD_SECONDS
        steps = range(present - STEPS_OFF_MAX, present + STEPS_OFF_MAX + 1)
        matching = [step for step in steps if hmac.compare_digest(codes.generate_otp(step), code)]
        return next((step for step in matching if step > after), None)


def _context(factor_id: UUID) -> str:
    return f"totp:{factor_id}"
