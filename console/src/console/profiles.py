"""Who is signed in and what they may do, remembered for a short time."""

import time
from typing import Final

import msgspec

from console.visit import Me, Visit

REMEMBERED_SECONDS: Final = 30.0
"""The API applies the removal of a role within 60 s, and refuses every act itself."""
REMEMBERED_MAX: Final = 10_000


class Profiles:
    """The profiles of the last signed-in people, by access token: a page costs one call less."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[float, Me]] = {}

    async def of(self, visit: Visit) -> Me:
        """Return the person of the visit. Raises ApiProblem and SessionEnded."""
        until, me = self._known.get(visit.session.access_token, (0.0, None))
        if me is not None and until > time.monotonic():
            return me
        me = msgspec.convert(await visit.api.get("/api/profiles/current"), Me)
        if len(self._known) >= REMEMBERED_MAX:
            self._known.clear()
        self._known[visit.session.access_token] = (time.monotonic() + REMEMBERED_SECONDS, me)
        return me
