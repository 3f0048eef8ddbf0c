"""Check that the transactions of a service lock their rows in one order: all pairs of them run at once, without a
deadlock.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import combinations_with_replacement
from unittest.mock import patch

import asyncpg
import msgspec

from common.messaging.consumers import HandlerFailed
from common.messaging.messages import Received
from common.primitives.ids import new_id
from contracts.event import Event
from testkit.service_kit import OpenService

Transaction = Callable[[], Awaitable[object]]
"""Runs one transaction. It may be called many times."""


async def handle_batch(app: OpenService, events: Sequence[Event]) -> None:
    """Handle the events as a worker does: together in one transaction, those that must be alone afterwards."""
    apart = {line.event.TYPE for line in app.service.subscriptions if line.alone}
    together = [event for event in events if event.TYPE not in apart]
    alone = [event for event in events if event.TYPE in apart]
    while together:
        try:
            await app.consumers.handle(f"{app.service.name}.events", [_message(app, event) for event in together])
        except HandlerFailed as failure:
            if _is_deadlock(failure):
                raise
            alone.append(together.pop(failure.position))
        else:
            break
    for event in alone:
        await app.consumers.handle(f"{app.service.name}.events", [_message(app, event)])


async def assert_no_deadlock(transactions: Mapping[str, Transaction], rounds: int) -> None:
    """Run each pair at once, a transaction with itself too, `rounds` times. Errors other than deadlocks are raised.

    Deadlocks that the service repeats by itself count as well.
    """
    deadlocks = dict[tuple[str, str], int]()
    for pair in combinations_with_replacement(transactions, 2):
        with _counted_deadlocks() as found:
            for _ in range(rounds):
                results = await asyncio.gather(*(transactions[name]() for name in pair), return_exceptions=True)
                for error in (each for each in results if isinstance(each, BaseException)):
                    if not _is_deadlock(error):
                        raise error
        if found:
            deadlocks[pair] = len(found)
    assert deadlocks == {}


@contextmanager
def _counted_deadlocks() -> Iterator[list[object]]:
    """Yield the messages of all deadlocks that the database reports to this process."""
    found: list[object] = []

    def record(error: Exception, *messages: object) -> None:
        found.append(messages)
        Exception.__init__(error, *messages)

    with patch.object(asyncpg.DeadlockDetectedError, "__init__", record):
        yield found


def _is_deadlock(error: BaseException | None) -> bool:
    while error is not None and not isinstance(error, asyncpg.DeadlockDetectedError):
        error = error.__cause__
    return error is not None


def _message(app: OpenService, event: Event) -> tuple[Received, msgspec.Raw]:
    received = Received(
        event_id=new_id(),
        type=event.TYPE,
        source=f"/services/{event.publisher()}",
        subject=event.subject,
        sequence=1,
        time=app.runtime.clock.now().isoformat(),
        attempt=1,
        is_last_attempt=False,
    )
    return received, msgspec.Raw(msgspec.json.encode(event))
