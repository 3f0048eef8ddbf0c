"""The store of withdrawals: each statement finds and changes the row that it names, in a state before its own."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from common.auth.caller import THE_SERVICE
from common.database.state_changes import StateChanged
from common.primitives.ids import new_id
from payments.domain.balances import Parts
from payments.domain.destinations import Recipient
from payments.domain.transitions import WithdrawalStatus
from payments.domain.withdrawals import NewWithdrawal
from payments.store import balances, withdrawals

from .conftest import PaymentsApp

RECIPIENT = Recipient("RCP_1", "6789", "058", "OKAFOR CHIDI", None)
Change = Callable[[PaymentsApp, Any, UUID], Awaitable[None]]


async def _two(app: PaymentsApp, status: WithdrawalStatus) -> list[UUID]:
    """Return two withdrawals of two users in this state; the second is a row that no statement names."""
    found = [new_id() for _ in range(2)]
    async with app.unit_of_work() as uow:
        for withdrawal_id in found:
            user_id, now = uuid4(), app.clock.now()
            await balances.record_credit(uow, user_id, "refund", Parts(0, 1_000), now)
            new = NewWithdrawal(withdrawal_id, user_id, 1_000, status, "paystack", RECIPIENT)
            await withdrawals.record_withdrawal(uow, new, now)
    return found


async def _rows(app: PaymentsApp, ids: Sequence[UUID]) -> list[dict[str, Any]]:
    rows = {row["id"]: dict(row) for row in await app.fetch("SELECT * FROM withdrawals")}
    return [rows[one] for one in ids]


async def _submitting(app: PaymentsApp, uow: Any, own: UUID) -> None:
    await withdrawals.save_submitting(uow, own, app.clock.now(), app.clock.now())


async def _submitted(app: PaymentsApp, uow: Any, own: UUID) -> None:
    await withdrawals.save_submitted(uow, own, app.clock.now())


async def _paid(app: PaymentsApp, uow: Any, own: UUID) -> None:
    await withdrawals.save_paid(uow, own, app.clock.now(), 1, 0, 0, None)


async def _failed(app: PaymentsApp, uow: Any, own: UUID) -> None:
    await withdrawals.save_ended(uow, own, "failed", "returned", app.clock.now(), None)


async def _prepared(app: PaymentsApp, uow: Any, own: UUID) -> None:
    await withdrawals.save_status(uow, own, "prepared")


@pytest.mark.parametrize(
    ("before", "change", "after", "other_state"),
    [
        ("pending", _submitting, "submitting", "waiting"),
        ("submitting", _submitted, "submitted", "pending"),
        ("submitted", _paid, "paid", "pending"),
        ("submitted", _failed, "failed", "pending"),
        ("waiting", _prepared, "prepared", "pending"),
    ],
)
async def test_a_change_of_state_is_that_of_one_withdrawal_in_the_state_before(
    app: PaymentsApp, before: WithdrawalStatus, change: Change, after: WithdrawalStatus, other_state: WithdrawalStatus
) -> None:
    own, other = await _two(app, before)
    async with app.unit_of_work() as uow:
        await change(app, uow, own)
    assert [row["status"] for row in await _rows(app, (own, other))] == [after, before]
    own, _ = await _two(app, other_state)
    with pytest.raises(StateChanged):
        async with app.unit_of_work() as uow:
            await change(app, uow, own)


async def test_a_transfer_is_sent_again_in_place_of_its_own_last_call(app: PaymentsApp) -> None:
    ids = await _two(app, "pending")
    for withdrawal_id in ids:
        async with app.unit_of_work() as uow:
            await _submitting(app, uow, withdrawal_id)
    first_at, now = app.clock.now(), app.clock.now() + timedelta(minutes=1)
    async with app.unit_of_work() as uow:
        sent = await withdrawals.lock_withdrawal(uow, ids[0])
        assert sent is not None
        assert await withdrawals.save_sent_again(uow, sent, now, now)
    assert [row["submitted_at"] for row in await _rows(app, ids)] == [now, first_at]
    async with app.unit_of_work() as uow:
        assert not await withdrawals.save_sent_again(uow, sent, now, now)
        await withdrawals.save_submitted(uow, ids[0], now)
        assert not await withdrawals.save_sent_again(uow, sent._replace(submitted_at=now), now, now)


async def test_polls_and_fees_are_those_of_one_withdrawal(app: PaymentsApp) -> None:
    ids, now = await _two(app, "pending"), app.clock.now()
    for _ in range(2):
        async with app.unit_of_work() as uow:
            await withdrawals.save_poll(uow, ids[0], now)
            await withdrawals.save_fee(uow, ids[0], 2_500)
    shown = [(row["poll_count"], row["due_at"], row["transfer_fee_minor"]) for row in await _rows(app, ids)]
    assert shown == [(2, now, 2_500), (0, None, None)]
    reads = app.dependencies.database.reads_for(THE_SERVICE)
    assert await withdrawals.list_due_withdrawals(reads, now) == ids[:1]
    assert await withdrawals.list_due_withdrawals(reads, now - timedelta(seconds=1)) == []


async def test_the_balance_bears_what_is_no_loss(app: PaymentsApp) -> None:
    own, _ = await _two(app, "submitted")
    async with app.unit_of_work() as uow:
        await withdrawals.save_paid(uow, own, app.clock.now(), 2, 300, 100, None)
        paid = await withdrawals.lock_withdrawal(uow, own)
    assert paid is not None
    assert (paid.round, paid.parts) == (2, Parts(300, 600))


async def test_a_decision_is_that_of_its_own_withdrawal(app: PaymentsApp) -> None:
    ids, now = await _two(app, "prepared"), app.clock.now()
    decisions = [new_id() for _ in ids]
    async with app.unit_of_work() as uow:
        for decision_id, withdrawal_id in zip(decisions, ids, strict=True):
            await withdrawals.record_decision(uow, decision_id, withdrawal_id, "pay", "as planned", uuid4(), now)
        await withdrawals.DECISIONS.table.save_verdict(uow, decisions[0], "approved", uuid4(), now)
    async with app.unit_of_work() as uow:
        found = [await withdrawals.DECISIONS.find(uow, withdrawal_id) for withdrawal_id in (*ids, uuid4())]
    assert [each and (each[0], each[1].id) for each in found] == [
        ("approved", decisions[0]),
        ("prepared", decisions[1]),
        None,
    ]
    with pytest.raises(StateChanged):
        async with app.unit_of_work() as uow:
            await withdrawals.DECISIONS.table.save_verdict(uow, decisions[0], "rejected", uuid4(), now)


async def test_an_account_is_released_by_its_vendor_bank_and_digits(app: PaymentsApp) -> None:
    own, other = uuid4(), uuid4()
    accounts = [(own, "058", "6789"), (own, "058", "6789"), (own, "058", "0001"), (own, "011", "6789")]
    async with app.unit_of_work() as uow:
        for account in (*accounts, (other, "058", "6789")):
            await withdrawals.record_quarantined_account(uow, *account)
        await withdrawals.delete_quarantined_account(uow, own, "058", "6789")
    rows = await app.fetch("SELECT vendor_id, bank_code, account_last4 FROM quarantined_accounts")
    assert {tuple(row) for row in rows} == {(own, "058", "0001"), (own, "011", "6789"), (other, "058", "6789")}
    async with app.unit_of_work() as uow:
        checked = [("058", "6789"), ("058", "0001"), ("011", "6789"), ("011", "0001"), ("044", "6789")]
        assert [await withdrawals.is_quarantined(uow, *account) for account in checked] == [
            True,
            True,
            True,
            False,
            False,
        ]
