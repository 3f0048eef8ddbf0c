"""Declined payments: a safe reason to show, and the times of queries to the gateway (contract section 7.6)."""

import re
import unicodedata
from datetime import datetime, timedelta
from typing import Final

REASON_CHARACTERS_MAX: Final = 200
# For a failure without a usable reason.
REASON_DEFAULT: Final = "Declined"
# The webhook usually arrives within this time.
FIRST_QUERY_AFTER: Final = timedelta(seconds=30)
LAST_QUERY_AFTER: Final = timedelta(minutes=10)
# A payment that starts at the end of its window may finish later.
QUERIED_AFTER_EXPIRY: Final = timedelta(hours=1)

_ADDRESS: Final = re.compile(r"\S*(?:://|www\.|@)\S*", re.IGNORECASE)
# Card, account and telephone numbers; a short code of a bank stays.
_LONG_NUMBER: Final = re.compile(r"\d(?:[\s.\-]?\d){4,}")
_UNSAFE: Final = re.compile(r"[<>{}\[\]\\`|]")


def safe_reason(reported: str | None) -> str:
    """Return the gateway's reason on one line, without addresses, long numbers, mark-up and control characters."""
    return _safe(reported or "") or REASON_DEFAULT


def next_query_at(now: datetime, queries: int, expires_at: datetime) -> datetime | None:
    """Return the time of the next query about an unpaid attempt, with growing delays; None after its last."""
    doublings: int = 2 ** min(queries, 10)
    due_at = now + min(FIRST_QUERY_AFTER * doublings, LAST_QUERY_AFTER)
    return due_at if due_at <= expires_at + QUERIED_AFTER_EXPIRY else None


def _safe(text: str) -> str:
    normal = unicodedata.normalize("NFKC", text[: 4 * REASON_CHARACTERS_MAX])
    printable = "".join(character if character.isprintable() else " " for character in normal)
    plain = _UNSAFE.sub(" ", _LONG_NUMBER.sub("...", _ADDRESS.sub(" ", printable)))
    return " ".join(plain.split())[:REASON_CHARACTERS_MAX].strip()
