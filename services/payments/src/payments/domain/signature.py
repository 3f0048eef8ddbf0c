"""The webhook's signature: lowercase hex HMAC SHA-512 over the raw bytes (specification: Authentication 6)."""

import hmac
import re
from collections.abc import Sequence
from typing import Final

_FORM: Final = re.compile(r"[0-9a-f]{128}", re.ASCII)


def signed_by(raw: bytes, offered: str | None, secrets: Sequence[str]) -> int | None:
    """The index of the secret whose signature of these bytes `offered` is; None for no secret."""
    if offered is None or _FORM.fullmatch(offered) is None:
        return None
    # Tries every secret, so that the time does not reveal the matching one.
    matches = [hmac.compare_digest(hmac.digest(secret.encode(), raw, "sha512").hex(), offered) for secret in secrets]
    return matches.index(True) if any(matches) else None
