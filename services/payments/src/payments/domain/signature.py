"""The webhook's signature: lowercase hex HMAC SHA-512 over the raw bytes (specification: Authentication 6)."""

import hmac
import re
from collections.abc import Sequence
from typing import Final

_FORM: Final = re.compile(r"[0-9a-f]{128}", re.ASCII)


def is_signed(raw: bytes, offered: str | None, secrets: Sequence[str]) -> bool:
    """Whether `offered` is the signature of these bytes under one of the secrets. Without a secret: never."""
    if offered is None or _FORM.fullmatch(offered) is None:
        return False
    # Every secret is tried, so that the time tells nothing about which one matched.
    matches = [hmac.compare_digest(hmac.digest(secret.encode(), raw, "sha512").hex(), offered) for secret in secrets]
    return any(matches)
