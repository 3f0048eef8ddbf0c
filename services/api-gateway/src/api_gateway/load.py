"""The limit of concurrent requests. An immediate 503 costs less than a late response.

**More than `REQUESTS_IN_FLIGHT_MAX` concurrent requests are 503** before a token is verified, a request counted or a
key claimed. Webhooks and functions have a quarter more. Health always responds. Event streams have their own limit.
`gateway_shed_total` and `gateway_requests_in_flight` show the load.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from common.primitives.problems import Unavailable

# Webhooks of payment and telephone providers must not wait for users: a quarter more is reserved for them.
_RESERVE_PARTS: Final = 4


class Overloaded(Unavailable):
    """503 with `Retry-After`: the request was neither counted nor forwarded."""

    detail = "Too many requests are in progress. Try again after Retry-After."


@dataclass(slots=True)
class Load:
    """The concurrent requests of this process. While it drains, each response closes its connection."""

    limit: int
    running: int = 0
    is_draining: bool = False

    def is_exceeded(self, *, of_machines: bool) -> bool:
        """Return whether the request that was counted last exceeds the limit."""
        if self.running <= self.limit:
            return False
        return not of_machines or self.running > self.limit + self.limit // _RESERVE_PARTS

    @contextmanager
    def exclude_stream(self) -> Iterator[None]:
        """Exclude an event stream from the count: `upstream.STREAMS_MAX` bounds streams."""
        self.running -= 1
        try:
            yield
        finally:
            self.running += 1
