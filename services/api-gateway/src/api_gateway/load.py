"""How many requests are answered at once, and when more are refused: 503 at once costs less than an answer that comes too late."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from common.primitives.problems import Unavailable

# What a payment company or a telephone network tells us must not wait for people: a quarter more is kept for them.
_RESERVE_PARTS: Final = 4


class Overloaded(Unavailable):
    """503 with `Retry-After`: the request was neither counted nor passed on."""

    detail = "More requests are under way than are answered in time. Try again."


@dataclass(slots=True)
class Load:
    """The requests of this process that are under way. `is_draining`: the process shuts down, and each response closes its connection."""

    limit: int
    running: int = 0
    is_draining: bool = False

    def is_too_much(self, *, of_machines: bool) -> bool:
        """Whether the request that was counted last is one too many."""
        if self.running <= self.limit:
            return False
        return not of_machines or self.running > self.limit + self.limit // _RESERVE_PARTS

    @contextmanager
    def set_apart(self) -> Iterator[None]:
        """A stream of events asks for nothing between them: it is bounded by itself (`upstream.STREAMS_MAX`) and not counted here."""
        self.running -= 1
        try:
            yield
        finally:
            self.running += 1
