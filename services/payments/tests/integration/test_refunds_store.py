"""The store of refunds and their attempts: each statement finds and changes the refund that it names."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
import pytest_asyncio

from common.database.state_changes import StateChanged
from common.database.unit_of_work import UnitOfWork
from payments.domain.transitions import REFUND, RefundStatus, RefundTrigger
from payments.store import decisions, refund_attempts, refunds

from .conftest import PaymentsApp
from .disputes import paid

AMOUNT_MINOR = 200_000


async def row_of(app: PaymentsApp, refund_id: UUID) -> Any:
    [row] = await app.fetch("SELECT * FROM refunds WHERE id = $1", refund_id)
    return row


@pytest_asyncio.fixture(loop_scope="session")
async def pair(app: PaymentsApp) -> tuple[UUID, UUID]:
    """Two pending refunds of two orders. The other one is the older one."""
    ids = []
    for _ in range(2):
        placed, _ = await paid(app)
        event = app.refund_requested(placed, AMOUNT_MINOR)
        await app.receive(event)
        ids.append(event.refund_id)
    return ids[1], ids[0]


async def _fail(uow: UnitOfWork, refund_id: UUID) -> None:
    """Fail a refund, and prepare the decision about it."""
    await refunds.save_refund_failed(uow, refund_id, "closed", None)
    await decisions.save_refund_prepared(uow, refund_id)


async def test_each_change_is_one_of_its_own_refund(app: PaymentsApp, pair: tuple[UUID, UUID]) -> None:
    own, other = pair
    now = app.clock.now()
    due_at, later = now + timedelta(minutes=2), now + timedelta(minutes=3)
    attempts = {own: uuid4(), other: uuid4()}
    # Each step with the fields that it leaves behind.
    steps: list[tuple[Callable[[Any, UUID], Awaitable[None]], dict[str, Any]]] = [
        (
            lambda uow, refund_id: refunds.save_refund_submitting(uow, refund_id, now),
            {"status": "submitting", "submitted_at": now},
        ),
        (
            lambda uow, refund_id: refunds.save_attempt_adopted(uow, refund_id, attempts[refund_id]),
            {"attempt_id": attempts[own]},
        ),
        (
            lambda uow, refund_id: refunds.save_refund_unsent(uow, refund_id),
            {"status": "pending", "submitted_at": None},
        ),
        # Only a submitting refund takes over an attempt.
        (lambda uow, refund_id: refunds.save_attempt_adopted(uow, refund_id, uuid4()), {"attempt_id": attempts[own]}),
        (
            lambda uow, refund_id: refunds.save_refund_submitted(uow, refund_id, f"7-{refund_id}", due_at),
            {"status": "submitted", "gateway_refund_id": f"7-{own}", "due_at": due_at},
        ),
        (lambda uow, refund_id: refunds.save_refund_poll(uow, refund_id, later), {"poll_count": 1, "due_at": later}),
        (lambda uow, refund_id: refunds.save_polls_finished(uow, refund_id), {"due_at": None}),
        (
            lambda uow, refund_id: refunds.save_refund_failed(uow, refund_id, "closed", f"9-{refund_id}", now),
            {"status": "failed", "failure": "closed", "gateway_refund_id": f"7-{own}", "needs_account_at": now},
        ),
        (lambda uow, refund_id: decisions.save_refund_prepared(uow, refund_id), {"status": "prepared"}),
        (
            lambda uow, refund_id: refunds.save_account_approved(uow, refund_id, "RCP_1", now),
            {"status": "submitting", "retry_recipient_code": "RCP_1", "failure": None},
        ),
        (
            lambda uow, refund_id: refunds.save_refund_retried(uow, refund_id, due_at),
            {"status": "submitted", "needs_account_at": None, "poll_count": 0, "due_at": due_at},
        ),
        (
            lambda uow, refund_id: refunds.save_refund_failed(uow, refund_id, "closed", None, now),
            {"needs_account_at": now},
        ),
        (lambda uow, refund_id: refunds.save_refund_needs_no_account(uow, refund_id), {"needs_account_at": None}),
        (
            lambda uow, refund_id: refunds.save_refund_settled(uow, refund_id, now, None),
            {"status": "settled", "settled_at": now},
        ),
    ]
    for number, (step, expected) in enumerate(steps, 1):
        before = await row_of(app, other)
        async with app.unit_of_work() as uow:
            await step(uow, own)
        row = await row_of(app, own)
        assert {name: row[name] for name in expected} == expected, number
        assert await row_of(app, other) == before, number
        async with app.unit_of_work() as uow:
            await step(uow, other)


# Each statement that writes a state, with the triggers that it records.
CHANGES: list[tuple[Callable[[Any, UUID, Any], Awaitable[None]], tuple[RefundTrigger, ...]]] = [
    (lambda uow, refund_id, now: refunds.save_refund_submitting(uow, refund_id, now), ("sent",)),
    (lambda uow, refund_id, now: refunds.save_refund_unsent(uow, refund_id), ("not_sent",)),
    (lambda uow, refund_id, now: refunds.save_refund_submitted(uow, refund_id, "7", now), ("accepted",)),
    (
        lambda uow, refund_id, now: refunds.save_refund_settled(uow, refund_id, now, "7"),
        ("paid", "offset", "outside_paid", "replaced_attempt_paid"),
    ),
    (lambda uow, refund_id, now: refunds.save_refund_failed(uow, refund_id, "closed", None), ("failed", "reversed")),
    (lambda uow, refund_id, now: refunds.save_account_approved(uow, refund_id, "RCP_1", now), ("account_approved",)),
    (
        lambda uow, refund_id, now: refund_attempts.replace_attempt(uow, refund_id, uuid4(), None, now),
        ("attempt_approved",),
    ),
    (lambda uow, refund_id, now: decisions.save_refund_prepared(uow, refund_id), ("decision_prepared",)),
    (lambda uow, refund_id, now: decisions.save_refund_unprepared(uow, refund_id), ("decision_rejected",)),
]


@pytest.mark.parametrize("status", REFUND.states)
async def test_a_statement_changes_only_the_states_of_its_rule(
    app: PaymentsApp, pair: tuple[UUID, UUID], status: RefundStatus
) -> None:
    own, _ = pair
    await app.fetch("UPDATE refunds SET status = $2 WHERE id = $1 RETURNING 1", own, status)
    before = await row_of(app, own)
    for change, triggers in CHANGES:
        expected = {REFUND.next_state(status, trigger) for trigger in triggers if REFUND.allows(status, trigger)}
        try:
            async with app.unit_of_work() as uow:
                await change(uow, own, app.clock.now())
                locked = await refunds.lock_refund(uow, own)
                assert locked is not None
                assert {locked.status} == expected, triggers
                raise _RolledBackError
        except StateChanged:
            assert not expected, triggers
        except _RolledBackError:
            pass
    assert await row_of(app, own) == before


class _RolledBackError(Exception):
    """End the unit of work without its changes."""


async def test_a_refund_is_due_from_its_time_on(app: PaymentsApp, pair: tuple[UUID, UUID]) -> None:
    own, other = pair
    due_at = app.clock.now() + timedelta(minutes=2)
    async with app.unit_of_work() as uow:
        await refunds.save_refund_submitted(uow, own, "7", due_at)
        await refunds.save_refund_submitted(uow, other, "8", due_at + timedelta(seconds=1))
        assert await refunds.list_due_refunds(uow, due_at - timedelta(seconds=1)) == []
        assert await refunds.list_due_refunds(uow, due_at) == [own]
        assert await refunds.list_due_refunds(uow, due_at + timedelta(seconds=1)) == [own, other]


async def test_a_failed_attempt_is_replaced_and_still_found(app: PaymentsApp, pair: tuple[UUID, UUID]) -> None:
    own, other = pair
    now = app.clock.now()
    async with app.unit_of_work() as uow:
        for number, refund_id in (("other-1", other), ("own-1", own)):
            await refunds.save_refund_submitted(uow, refund_id, number, now)
            await _fail(uow, refund_id)
            await refund_attempts.replace_attempt(uow, refund_id, uuid4(), None, now)
        locked = await refunds.lock_refund(uow, own)
        assert locked is not None
        assert (locked.id, locked.status, locked.gateway_refund_id) == (own, "pending", None)
        assert locked.attempt_id != own
        [first] = await refund_attempts.list_unconfirmed_attempts(uow, own)
        assert (first.id, first.gateway_refund_id) == (own, "own-1")
        for lookup in (
            refunds.lock_refund_of_attempt(uow, own),
            refunds.lock_refund_of_attempt(uow, locked.attempt_id),
            refunds.lock_refund_of_gateway(uow, "own-1"),
        ):
            assert await lookup == locked
        assert await refund_attempts.find_attempt_of_gateway(uow, "own-1") == own
        assert await refund_attempts.find_attempt_of_gateway(uow, "unknown") is None
        assert await refunds.lock_refund_of_gateway(uow, "unknown") is None
        await refunds.save_refund_submitted(uow, own, "own-2", now)
        current = await refunds.lock_refund_of_gateway(uow, "own-2")
        assert current is not None
        assert current.attempt_id == locked.attempt_id
        await refund_attempts.save_attempt_confirmed(uow, own, now)
        assert await refund_attempts.list_unconfirmed_attempts(uow, own) == []
        assert len(await refund_attempts.list_unconfirmed_attempts(uow, other)) == 1


async def test_the_fee_of_a_transfer_belongs_to_its_attempt(app: PaymentsApp, pair: tuple[UUID, UUID]) -> None:
    own, other = pair
    now, second = app.clock.now(), uuid4()
    async with app.unit_of_work() as uow:
        await _fail(uow, own)
        await refund_attempts.replace_attempt(uow, own, second, "RCP_1", now)
        for attempt_id, fee_minor in ((own, 100), (second, 200)):
            assert await refund_attempts.find_transfer_fee(uow, attempt_id) is None
            await refund_attempts.save_transfer_fee(uow, attempt_id, fee_minor)
        fees = [await refund_attempts.find_transfer_fee(uow, attempt_id) for attempt_id in (own, second, other)]
        assert fees == [100, 200, None]
        assert await refund_attempts.find_transfer_fee(uow, uuid4()) is None


async def test_an_event_about_a_refund_may_mean_these_attempts(app: PaymentsApp) -> None:
    now = app.clock.now()
    placed, reference = await paid(app)
    elsewhere, _ = await paid(app)
    made: dict[str, UUID] = {}
    for name, order, amount_minor in (
        ("submitted", placed, 1_000),
        ("failed", placed, 1_000),
        ("another amount", placed, 2_000),
        ("to an account", placed, 1_000),
        ("settled", placed, 1_000),
        ("pending", placed, 1_000),
        ("of another order", elsewhere, 1_000),
        ("submitted, of another order", elsewhere, 1_000),
        ("submitted, another amount", placed, 3_000),
    ):
        event = app.refund_requested(order, amount_minor)
        await app.receive(event)
        made[name] = event.refund_id
    async with app.unit_of_work() as uow:
        for name, refund_id in made.items():
            if name != "pending":
                await refunds.save_refund_submitted(uow, refund_id, name, now)
        await refunds.save_refund_failed(uow, made["failed"], "closed", None)
        await refunds.save_refund_settled(uow, made["settled"], now, None)
        account, elsewhere_again, never_sent = uuid4(), uuid4(), uuid4()
        # Failed attempts count whatever their amount was; those to an account are transfers.
        for refund_id, attempt_id, recipient in (
            (made["to an account"], account, "RCP_1"),
            (made["another amount"], uuid4(), None),
            (made["of another order"], elsewhere_again, None),
            (made["pending"], never_sent, None),
        ):
            await _fail(uow, refund_id)
            await refund_attempts.replace_attempt(uow, refund_id, attempt_id, recipient, now)
        await refunds.save_refund_submitted(uow, made["to an account"], "transfer", now)
        await _fail(uow, made["to an account"])
        await refund_attempts.replace_attempt(uow, made["to an account"], uuid4(), "RCP_2", now)
        await refunds.save_refund_submitted(uow, made["to an account"], "transfer-2", now)
        found = await refund_attempts.list_reported_attempts(uow, reference, 1_000)
    assert {attempt.gateway_refund_id for attempt in found} == {
        "submitted", "failed", "to an account", "another amount"
    }  # fmt: skip


def test_a_transaction_is_named_by_the_id_that_its_gateway_accepts() -> None:
    def transaction(gateway_id: str | None, gateway: Any) -> str:
        return refund_attempts.RefundAttempt(uuid4(), None, None, "ch-1", gateway_id, gateway).transaction

    assert transaction("4711", "paystack") == "4711"
    assert transaction("trf-1", "paystack") == "ch-1"
    assert transaction(None, "paystack") == "ch-1"
    assert transaction("flw-1", "flutterwave") == "flw-1"
    assert transaction(None, "flutterwave") == "ch-1"


async def test_the_polls_of_both_versions_are_counted_together(app: PaymentsApp, pair: tuple[UUID, UUID]) -> None:
    own, other = pair
    now = app.clock.now()
    async with app.unit_of_work() as uow:
        await refunds.save_refund_poll(uow, own, now)
        # The previous version writes the old name of the column during an upgrade (decision 109).
        await uow.execute("UPDATE refunds SET questions = questions + 1 WHERE id = $1", own)
        await refunds.save_refund_poll(uow, own, now)
    counts = [(row["poll_count"], row["questions"]) for row in (await row_of(app, own), await row_of(app, other))]
    assert counts == [(3, 3), (0, 0)]
    async with app.unit_of_work() as uow:
        await uow.execute("UPDATE refunds SET questions = 0 WHERE id = $1", own)
    assert (await row_of(app, own))["poll_count"] == 0
