"""Logging of outages: at the start, each minute, and at the end, instead of at every attempt."""

import time
from typing import Final, Protocol

LOG_AGAIN_AFTER_SECONDS: Final = 60.0
# Short, repeated outages are logged at most this often.
LOG_NEW_AFTER_SECONDS: Final = 10.0


class OutageLog(Protocol):
    """The methods of a logger that an outage needs."""

    def warning(self, event: str, **facts: object) -> object: ...

    def info(self, event: str, **facts: object) -> object: ...


class Outage:
    """Logs the outages of one dependency: `started` with the error and failed tries, `recovered` with the duration."""

    def __init__(self, log: OutageLog, started: str, recovered: str, **about: object) -> None:
        self._log, self._started, self._recovered, self._about = log, started, recovered, about
        self._since: float | None = None
        self._is_logged = False
        self._logged_at = float("-inf")
        self._tries = 0

    def failed(self, error: BaseException, *, is_bug: bool = False) -> None:
        """Record a failed try. A bug is logged with its traceback, an unavailable dependency with its error only."""
        now = time.monotonic()
        self._since = now if self._since is None else self._since
        self._tries += 1
        if now - self._logged_at < (LOG_AGAIN_AFTER_SECONDS if self._is_logged else LOG_NEW_AFTER_SECONDS):
            return
        self._is_logged, self._logged_at = True, now
        where = {"exc_info": error} if is_bug else {}
        self._log.warning(self._started, error=repr(error), tries=self._tries, **self._about, **where)

    def ended(self) -> None:
        """Record a success, and logs the recovery if the outage was logged."""
        if self._since is None:
            return
        if self._is_logged:
            lasted = round(time.monotonic() - self._since, 1)
            self._log.info(self._recovered, after_seconds=lasted, tries=self._tries, **self._about)
        self._since, self._is_logged, self._tries = None, False, 0
