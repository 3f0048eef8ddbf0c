"""The random codes that the gateway hands out."""

import secrets
import string

ALPHABET = string.ascii_lowercase + string.digits

# The merchant number in every response; the real gateway has one per business.
INTEGRATION = 100043


def new_code(prefix: str = "", length: int = 15) -> str:
    """Return a code such as `TRF_1ptvuv321ahaa7q`."""
    return prefix + "".join(secrets.choice(ALPHABET) for _ in range(length))
