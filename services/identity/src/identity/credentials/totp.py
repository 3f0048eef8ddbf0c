"""Time-based one-time codes (RFC 6238: SHA-1, six digits, thirty seconds). The secret is stored encrypted."""

import hmac
from datetime import datetime
from typing import Final
from uuid import UUID

import pyotp

from common.primitives.encryption import Encryptor

PERIOD_SECONDS: Final = 30
# One step to either side tolerates a clock that is half a minute off.
STEPS_OFF_MAX: Final = 1
ISSUER_SHOWN: Final = "Campus Marketplace"


class Totp:
    """Create TOTP secrets, and find the time step of a code."""

    def __init__(self, encryptor: Encryptor) -> None:
        self._encryptor = encryptor

    def new_secret(self) -> str:
        """Return a secret of 160 bits in base32, the form that authenticator apps read."""
        return pyotp.random_base32()

    def encrypt(self, factor_id: UUID, secret: str) -> str:
        return self._encryptor.encrypt(secret, _context(factor_id))

    def decrypt(self, factor_id: UUID, encrypted_secret: str) -> str:
        """Raise DecryptionFailed when CREDENTIALS_KEY does not match."""
        return self._encryptor.decrypt(encrypted_secret, _context(factor_id))

    def reencrypt(self, factor_id: UUID, encrypted_secret: str) -> str:
        """Encrypt the secret with the current key. Raises DecryptionFailed."""
        return self.encrypt(factor_id, self.decrypt(factor_id, encrypted_secret))

    def otpauth_uri(self, secret: str, email: str) -> str:
        """Return the URI for the QR code of an authenticator app."""
        return pyotp.TOTP(secret).provisioning_uri(email, issuer_name=ISSUER_SHOWN)

    def counter_of(self, secret: str, code: str, now: datetime, *, after: int) -> int | None:
        """Return the time step of the code if it is later than `after`; None for a wrong or used code."""
        codes = pyotp.TOTP(secret)
        present = int(now.timestamp()) // PERIOD_SECONDS
        steps = range(present - STEPS_OFF_MAX, present + STEPS_OFF_MAX + 1)
        matching = [step for step in steps if hmac.compare_digest(codes.generate_otp(step), code)]
        return next((step for step in matching if step > after), None)


def _context(factor_id: UUID) -> str:
    return f"totp:{factor_id}"
