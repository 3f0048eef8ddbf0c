"""A declined payment: what the gateway says about it, in words that are safe to show, and when it is queried (section 7.6)."""

import re
import unicodedata
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

REASON_CHARACTERS_MAX: Final = 200
# Where the gateway gives no usable words.
REASON_DEFAULT: Final = "Declined"
# The payer is usually back within this time, and the webhook has arrived.
FIRST_QUERY_AFTER: Final = timedelta(seconds=30)
LAST_QUERY_AFTER: Final = timedelta(minutes=10)
# A payment that is begun at the end of its window may end later.
QUERIED_AFTER_EXPIRY: Final = timedelta(hours=1)

_ADDRESS: Final = re.compile(r"\S*(?:://|www\.|@)\S*", re.IGNORECASE)
# Card, account and telephone numbers; a short code of a bank stays.
_LONG_NUMBER: Final = re.compile(r"\d(?:[\s.\-]?\d){4,}")
_UNSAFE: Final = re.compile(r"[<>{}\[\]\\`|]")


def failure_reason_of(told: Mapping[str, Any]) -> str:
    """The gateway's words without addresses, long numbers, mark-up and control characters, on one line."""
    for name in ("gateway_response", "message"):
        words = told.get(name)
        if isinstance(words, str) and (safe := _safe(words)):
            return safe
    return REASON_DEFAULT


def next_query_at(now: datetime, queries: int, expires_at: datetime) -> datetime | None:
    """When the gateway is queried again about an unpaid attempt, seldomer each time; None once its time is over."""
    doublings: int = 2 ** min(queries, 10)
    due_at = now + min(FIRST_QUERY_AFTER * doublings, LAST_QUERY_AFTER)
    return due_at if due_at <= expires_at + QUERIED_AFTER_EXPIRY else None


def _safe(words: str) -> str:
    normal = unicodedata.normalize("NFKC", words[: 4 * REASON_CHARACTERS_MAX])
    printable = "".join(dead_letter if dead_letter.isprintable() else " " for dead_letter in normal)
    plain = _UNSAFE.sub(" ", _LONG_NUMBER.sub("...", _ADDRESS.sub(" ", printable)))
    return " ".join(plain.split())[:REASON_CHARACTERS_MAX].strip()
