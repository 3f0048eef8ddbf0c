"""The limit of concurrent requests. An immediate 503 costs less than a late response.

**More than `REQUESTS_IN_FLIGHT_MAX` concurrent requests are 503** before a token is verified, a request counted or a
key claimed. While responses take longer than `SLOW_SECONDS`, an eighth of them is the limit (decision 139). Webhooks
and functions have a quarter more than the configured limit, always. Health always responds. Event streams have their
own limit. `gateway_shed_total` and `gateway_requests_in_flight` show the load.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from common.primitives.problems import Unavailable

# Webhooks of payment and telephone providers must not wait for users: a quarter more is reserved for them.
_RESERVE_PARTS: Final = 4
# A number of requests is no measure of the wait for them: a machine that serves fifty in a second has 1,024 after 20 s.
# A response this late is hardly awaited any more.
SLOW_SECONDS: Final = 2.0
# Concurrent requests of users while responses are slow: enough to keep the services busy.
_SLOW_PARTS: Final = 8
# The mean covers some fifty responses: half a second of a busy system.
_MEAN_SHARE: Final = 0.02


class Overloaded(Unavailable):
    """503 with `Retry-After`: the request was neither counted nor forwarded."""

    detail = "Too many requests are in progress. Try again after Retry-After."


@dataclass(slots=True)
class Load:
    """The concurrent requests of this process. While it drains, each response closes its connection."""

    limit: int
    running: int = 0
    is_draining: bool = False
    _mean_seconds: float = 0.0

    def is_exceeded(self, *, of_machines: bool) -> bool:
        """Return whether the request that was counted last exceeds the limit."""
        if of_machines:
            return self.running > self.limit + self.limit // _RESERVE_PARTS
        is_slow = self._mean_seconds > SLOW_SECONDS
        return self.running > (max(1, self.limit // _SLOW_PARTS) if is_slow else self.limit)

    def record(self, seconds: float) -> None:
        """Record the time of a response. One that takes long by its nature counts as twice `SLOW_SECONDS` at most."""
        self._mean_seconds += _MEAN_SHARE * (min(seconds, 2 * SLOW_SECONDS) - self._mean_seconds)

    @contextmanager
    def exclude_stream(self) -> Iterator[None]:
        """Exclude an event stream from the count: `upstream.STREAMS_MAX` bounds streams."""
        self.running -= 1
        try:
            yield
        finally:
            self.running += 1
