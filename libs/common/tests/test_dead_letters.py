"""Staff resolve a dead letter once: by a replay, or by a closure, of two people where money is concerned."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import UnitOfWork
from common.messaging.bus import Bus
from common.messaging.dead_letters import (
    RETENTION_ID,
    AlreadyClosed,
    AlreadyReplayed,
    AlreadyRequested,
    Closure,
    ClosureRequest,
    DeadLetter,
    close_dead_letter,
    close_expired_dead_letters,
    concerns_money,
    replay_dead_letter,
    store_dead_letter,
)
from common.primitives.ids import new_id
from common.primitives.problems import Conflict, NotFound
from testkit.locks import waits_for

from .conftest import Mechanisms
from .notebook import rows

Resolution = Callable[[UnitOfWork], Awaitable[Any]]
STAFF, REASON = new_id(), "the order is a test's"


async def stored(mechanisms: Mechanisms, *, is_unproven: bool = False, queue: str = "tests.orders") -> UUID:
    dead = DeadLetter(queue, "orders.order_completed.v1", None, b"{}", {}, "boom", 6, is_unproven)
    async with mechanisms.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        return await store_dead_letter(uow, "tests", dead)


async def close(
    mechanisms: Mechanisms, dead_letter_id: UUID, reason: str = REASON, by: UUID = STAFF
) -> Closure | ClosureRequest:
    async with mechanisms.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        closed_id, result = await close_dead_letter(uow, dead_letter_id, by, reason)
    assert closed_id == dead_letter_id
    return result


async def test_a_closure_is_recorded_once_and_keeps_the_message(mechanisms: Mechanisms) -> None:
    dead_letter_id = await stored(mechanisms)
    closure = await close(mechanisms, dead_letter_id)
    assert isinstance(closure, Closure)
    assert await close(mechanisms, dead_letter_id, by=new_id()) == closure
    [kept] = await rows(mechanisms, "SELECT body, closed_at, resolved_at, replayed_at FROM dead_letters")
    assert tuple(kept) == (b"{}", closure.closed_at, closure.closed_at, None)
    [recorded] = await rows(mechanisms, "SELECT * FROM dead_letter_closures")
    trail = (dead_letter_id, "tests.orders", "orders.order_completed.v1", STAFF, REASON, closure.closed_at)
    assert tuple(recorded) == trail
    assert len(await rows(mechanisms, "SELECT FROM outbox WHERE type = 'operations.alert_cleared.v1'")) == 1


async def test_a_closed_dead_letter_is_neither_replayed_nor_closed_for_another_reason(
    mechanisms: Mechanisms, bus: Bus
) -> None:
    dead_letter_id = await stored(mechanisms)
    await close(mechanisms, dead_letter_id)
    with pytest.raises(AlreadyClosed):
        await close(mechanisms, dead_letter_id, "another")
    with pytest.raises(AlreadyClosed):
        async with mechanisms.database.unit_of_work(acting_as=THE_SERVICE) as uow:
            await replay_dead_letter(uow, bus, dead_letter_id, STAFF)


async def test_a_replayed_or_unknown_dead_letter_is_not_closed(mechanisms: Mechanisms, bus: Bus) -> None:
    dead_letter_id = await stored(mechanisms)
    async with mechanisms.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await replay_dead_letter(uow, bus, dead_letter_id, STAFF)
    with pytest.raises(AlreadyReplayed):
        await close(mechanisms, dead_letter_id)
    with pytest.raises(NotFound):
        await close(mechanisms, new_id())
    assert await rows(mechanisms, "SELECT FROM dead_letter_closures") == []


async def test_a_forged_message_that_cannot_be_replayed_is_closed(mechanisms: Mechanisms) -> None:
    dead_letter_id = await stored(mechanisms, is_unproven=True)
    await close(mechanisms, dead_letter_id)
    assert await rows(mechanisms, "SELECT FROM dead_letters WHERE resolved_at IS NULL") == []


@pytest.mark.parametrize("is_closed_first", [True, False])
async def test_of_a_concurrent_closure_and_replay_one_succeeds(
    mechanisms: Mechanisms, bus: Bus, is_closed_first: bool
) -> None:
    dead_letter_id = await stored(mechanisms)

    async def closing(uow: UnitOfWork) -> None:
        await close_dead_letter(uow, dead_letter_id, STAFF, REASON)

    async def replaying(uow: UnitOfWork) -> None:
        await replay_dead_letter(uow, bus, dead_letter_id, STAFF)

    async def conflicts(uow: UnitOfWork) -> None:
        with pytest.raises(Conflict):
            await (replaying if is_closed_first else closing)(uow)

    assert await waits_for(mechanisms.database, closing if is_closed_first else replaying, conflicts)
    [found] = await rows(
        mechanisms, "SELECT closed_at IS NOT NULL AS closed, replayed_at IS NULL AS kept FROM dead_letters"
    )
    assert tuple(found) == (is_closed_first, is_closed_first)


async def test_two_concurrent_closures_are_one(mechanisms: Mechanisms) -> None:
    dead_letter_id = await stored(mechanisms)

    def closing(by: UUID) -> Resolution:
        return lambda uow: close_dead_letter(uow, dead_letter_id, by, REASON)

    assert await waits_for(mechanisms.database, closing(STAFF), closing(new_id()))
    assert [row["closed_by"] for row in await rows(mechanisms, "SELECT closed_by FROM dead_letter_closures")] == [STAFF]


@pytest.mark.parametrize(
    ("queue", "expected"),
    [
        ("payments.webhooks", True),
        ("payments.identity", True),
        ("payouts.orders", True),
        ("orders.payments", True),
        ("orders.payouts", True),
        ("orders.identity", False),
        ("notifications.payments", False),
        ("identity.payments", False),
    ],
)
def test_money_is_concerned_where_it_is_moved_or_decided(queue: str, expected: bool) -> None:
    assert concerns_money(queue) is expected


async def test_a_dead_letter_about_money_is_closed_by_two(mechanisms: Mechanisms) -> None:
    dead_letter_id, second = await stored(mechanisms, queue="orders.payments"), new_id()
    request = await close(mechanisms, dead_letter_id)
    assert isinstance(request, ClosureRequest)
    assert (request.requested_by, request.reason) == (STAFF, REASON)
    assert await close(mechanisms, dead_letter_id) == request
    with pytest.raises(AlreadyRequested):
        await close(mechanisms, dead_letter_id, "another")
    assert await rows(mechanisms, "SELECT FROM dead_letters WHERE resolved_at IS NOT NULL") == []
    assert await rows(mechanisms, "SELECT FROM outbox WHERE type = 'operations.alert_cleared.v1'") == []
    closure = await close(mechanisms, dead_letter_id, "the order is refunded", by=second)
    assert isinstance(closure, Closure)
    assert (closure.closed_by, closure.reason) == (second, "the order is refunded")
    assert len(await rows(mechanisms, "SELECT FROM dead_letters WHERE closed_at IS NOT NULL")) == 1
    [kept] = await rows(mechanisms, "SELECT action, acted_by, reason FROM dead_letter_actions")
    assert tuple(kept) == ("closure_requested", STAFF, REASON)


async def test_an_unresolved_dead_letter_expires_unless_it_is_evidence_or_concerns_money(
    mechanisms: Mechanisms, bus: Bus
) -> None:
    """It is closed without a person, its message is removed, and its alert is cleared with that reason."""
    life = timedelta(days=180)
    old = await stored(mechanisms)
    kept = {await stored(mechanisms, queue="payments.orders"), await stored(mechanisms, is_unproven=True)}
    replayed = await stored(mechanisms)
    async with mechanisms.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await uow.execute("UPDATE dead_letters SET failed_at = now() - interval '180 days'")
        await replay_dead_letter(uow, bus, replayed, STAFF)
    young = await stored(mechanisms)
    assert [await close_expired_dead_letters(mechanisms.database, life) for _ in range(2)] == [1, 0]
    open_ones = await rows(mechanisms, "SELECT id FROM dead_letters WHERE resolved_at IS NULL AND body = '{}'")
    assert {row["id"] for row in open_ones} == {*kept, young}
    [closure] = await rows(mechanisms, "SELECT dead_letter_id, closed_by, reason FROM dead_letter_closures")
    reason = "Not resolved within 180 days: the message was removed without its effect."
    assert tuple(closure) == (old, RETENTION_ID, reason)
    [closed] = await rows(mechanisms, f"SELECT body FROM dead_letters WHERE id = '{old}'")
    assert closed["body"] == b""
    [cleared] = await rows(mechanisms, "SELECT payload FROM outbox WHERE type = 'operations.alert_cleared.v1'")
    assert reason.encode() in bytes(cleared["payload"])
