"""The counts of waiting work: as text in an address or cookie, and their changes since the person's last visit."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from starlette.responses import Response

from console.session import values_of

VISIT_ENDS_AFTER_SECONDS: Final = 1_800
"""Who opens the first page again within half an hour is on the same visit."""
COOKIE: Final = "console-last-visit"
_KEEP_SECONDS: Final = 60 * 86_400
_COUNT: Final = re.compile(r"([a-z_]{1,60})\.([0-9]{1,4})", re.ASCII)
_COOKIE: Final = re.compile(r"(?P<user>[^:]{0,64}):(?P<at>[0-9]{1,12}):(?P<before>[a-z_.0-9-]*):(?P<last>[a-z_.0-9-]*)")

Counts = Mapping[str, int]


def write_counts(counts: Counts) -> str:
    """Return counts as text: `alerts.3-refunds_to_approve.1`."""
    return "-".join(f"{kind}.{count}" for kind, count in counts.items())


def read_counts(text: str) -> dict[str, int]:
    """Return the counts of a text; what is no count is left out."""
    found = (_COUNT.fullmatch(part) for part in text.split("-"))
    return {one[1]: int(one[2]) for one in found if one}


def rises(counts: Counts, before: Counts) -> dict[str, int]:
    """Return by how much each count is above that of another time."""
    return {kind: count - before.get(kind, 0) for kind, count in counts.items() if count > before.get(kind, 0)}


class LastVisit:
    """The counts at the end of the person's last visit, and those of this one, in a cookie of the browser."""

    def __init__(self, cookies: Sequence[str], user_id: str, now: int) -> None:
        """`now` is in seconds. A cookie of another person counts for nothing."""
        self._user, self._now = user_id, now
        found = _COOKIE.fullmatch(next(iter(values_of(cookies, COOKIE)), ""))
        if found is None or found["user"] != user_id:
            self.before: dict[str, int] | None = None
            return
        has_ended = now - int(found["at"]) > VISIT_ENDS_AFTER_SECONDS
        self.before = read_counts(found["last"] if has_ended else found["before"])

    def changes(self, counts: Counts) -> dict[str, int]:
        """Return how many more there are of each kind than at the end of the last visit; none at the first one."""
        return {} if self.before is None else rises(counts, self.before)

    def keep(self, response: Response, counts: Counts, *, is_secure: bool) -> None:
        """Write the cookie of this visit."""
        before = counts if self.before is None else self.before
        value = f"{self._user}:{self._now}:{write_counts(before)}:{write_counts(counts)}"
        response.set_cookie(COOKIE, value, _KEEP_SECONDS, httponly=True, samesite="lax", secure=is_secure)
