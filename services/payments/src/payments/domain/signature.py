"""The signatures of webhooks.

Of the first gateway: lowercase hex HMAC SHA-512 over the raw bytes (specification: Authentication 6). Of Flutterwave:
the secret hash itself, which does not cover the body, or a base64 HMAC SHA-256 with it.
"""

import base64
import hmac
import re
from collections.abc import Sequence
from typing import Final

_FORM: Final = re.compile(r"[0-9a-f]{128}", re.ASCII)


def signed_by(raw: bytes, offered: str | None, secrets: Sequence[str]) -> int | None:
    """Return the index of the secret whose signature of these bytes `offered` is; None for no secret."""
    if offered is None or _FORM.fullmatch(offered) is None:
        return None
    # Tries every secret, so that the time does not reveal the matching one.
    matches = [hmac.compare_digest(hmac.digest(secret.encode(), raw, "sha512").hex(), offered) for secret in secrets]
    return matches.index(True) if any(matches) else None


def flutterwave_hash_of(raw: bytes, verif_hash: str | None, signature: str | None, hashes: Sequence[str]) -> int | None:
    """Return the index of the secret hash of the webhook; None for no hash. A signature that is present must be
    right.
    """
    if signature is not None:
        digests = [base64.b64encode(hmac.digest(secret.encode(), raw, "sha256")) for secret in hashes]
        offered = signature
    elif verif_hash is not None:
        digests, offered = [secret.encode() for secret in hashes], verif_hash
    else:
        return None
    # Tries every secret, so that the time does not reveal the matching one.
    matches = [hmac.compare_digest(digest, offered.encode()) for digest in digests]
    return matches.index(True) if any(matches) else None
