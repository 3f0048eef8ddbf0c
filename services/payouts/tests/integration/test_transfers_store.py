"""The store of transfers: each statement finds and changes the attempt that it names, in the states that it names."""

from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from common.database.state_changes import StateChanged
from payouts.domain.attempts import AttemptUpdate
from payouts.domain.dispatch import LEASE
from payouts.domain.transfer_updates import TransferUpdate
from payouts.store import transfers
from testkit.sandbox import Sandbox

from .conftest import Scenario
from .staff import AMOUNT
from .stored import Sent, append_line, observe, sent_pair


@pytest.fixture
async def pair(scenario: Scenario, sandbox: Sandbox) -> tuple[Sent, Sent]:
    return await sent_pair(scenario, sandbox)


async def row_of(uow: Any, sent: Sent) -> Any:
    return await uow.fetch_row("SELECT * FROM payout_transfers WHERE id = $1", sent.transfer_id)


async def set_row(uow: Any, sent: Sent, status: str, due_at: Any = None) -> None:
    await uow.execute(
        "UPDATE payout_transfers SET status = $2, due_at = $3 WHERE id = $1", sent.transfer_id, status, due_at
    )


async def process(uow: Any, sent: Sent, at: datetime) -> None:
    """Record a success of the transfer, which completes its payout."""
    transfer = await transfers.read_transfer(uow, sent.transfer_id)
    update = TransferUpdate("webhook", "success", AMOUNT, "NGN")
    record = transfers.RecordedUpdate(update, "advanced", sets_status=True, processes=True)
    await transfers.record_observation(uow, transfer, record, at)


async def test_a_locked_transfer_has_its_own_history(scenario: Scenario, pair: tuple[Sent, Sent]) -> None:
    own, other = pair
    now = scenario.clock.now()
    async with scenario.unit_of_work() as uow:
        await observe(uow, scenario, other.transfer_id, "webhook", "success", "advanced")
        await append_line(uow, scenario, other, "reversal")
        locked = await transfers.read_transfer(uow, own.transfer_id)
        assert (locked.id, locked.payout_id, locked.reference) == (own.transfer_id, own.payout_id, own.reference)
        assert (locked.payout_status, locked.effective_status) == ("pending", "pending")
        assert (locked.ended_at, locked.returned, locked.has_other_attempts) == (None, False, False)
        assert locked == await transfers.lock_transfer(uow, own.reference)
        # Only a report with an effect is the effective one; any end counts as the first one.
        await observe(uow, scenario, own.transfer_id, "webhook", "failed", "stale")
        await observe(uow, scenario, own.transfer_id, "webhook", "success", "contradiction")
        locked = await transfers.read_transfer(uow, own.transfer_id)
        assert (locked.effective_status, locked.ended_at) == ("pending", now)
        await observe(uow, scenario, own.transfer_id, "query", "failed", "confirmed")
        # A payout that is not processed was not returned by a reversal.
        await append_line(uow, scenario, own, "reversal")
        locked = await transfers.read_transfer(uow, own.transfer_id)
        assert (locked.effective_status, locked.returned) == ("failed", False)


@pytest.mark.parametrize(("kind", "returned"), [("reversal", True), ("payout", False), (None, False)])
async def test_a_processed_payout_is_returned_by_its_own_reversal(
    scenario: Scenario, pair: tuple[Sent, Sent], kind: str | None, returned: bool
) -> None:
    own, other = pair
    async with scenario.unit_of_work() as uow:
        await process(uow, own, scenario.clock.now())
        await append_line(uow, scenario, other, "reversal")
        if kind:
            await append_line(uow, scenario, own, kind, source_key=f"{kind}:{uuid4()}")
        locked = await transfers.read_transfer(uow, own.transfer_id)
        assert (locked.payout_status, locked.returned) == ("processed", returned)


async def test_a_payout_is_processed_once_by_the_attempt_that_was_paid(
    scenario: Scenario, pair: tuple[Sent, Sent]
) -> None:
    own, other = pair
    now = scenario.clock.now()
    async with scenario.unit_of_work() as uow:
        await process(uow, own, now)
        with pytest.raises(StateChanged):
            await process(uow, own, now + timedelta(days=1))
        rows = await uow.fetch("SELECT id, status, processed_at FROM payout_requests")
    assert {row["id"]: (row["status"], row["processed_at"]) for row in rows} == {
        own.payout_id: ("processed", now),
        other.payout_id: ("pending", None),
    }


async def test_a_submission_starts_with_a_lease_and_ends_unknown_once(
    scenario: Scenario, pair: tuple[Sent, Sent]
) -> None:
    own, other = pair
    now = scenario.clock.now()
    async with scenario.unit_of_work() as uow:
        before = await row_of(uow, other)
        locked = await transfers.read_transfer(uow, own.transfer_id)
        await set_row(uow, own, "reserved")
        submission = await transfers.start_submission(uow, locked, may_send=True, at=now)
        with pytest.raises(StateChanged):
            await transfers.start_submission(uow, locked, may_send=True, at=now)
        row = await row_of(uow, own)
        assert (row["status"], row["submissions"], row["due_at"], row["called_at"]) == (
            "submitting",
            2,
            now + LEASE,
            now,
        )
        assert (submission.reference, submission.amount_minor) == (own.reference, AMOUNT)
        later = now + timedelta(minutes=1)
        unknown = AttemptUpdate(is_unknown=True, reason="no response", poll_at=later)
        assert await transfers.mark_unknown(uow, own.transfer_id, unknown, later)
        assert not await transfers.mark_unknown(uow, own.transfer_id, unknown, later)
        row = await row_of(uow, own)
        assert (row["status"], row["failure"], row["due_at"], row["called_at"]) == (
            "unknown",
            "no response",
            later,
            None,
        )
        submission = await transfers.start_submission(uow, locked, may_send=False, at=later)
        assert (await row_of(uow, own))["called_at"] is None
        assert await row_of(uow, other) == before


async def test_only_an_unsent_attempt_is_held_or_queued_again(scenario: Scenario, pair: tuple[Sent, Sent]) -> None:
    own, other = pair
    now = scenario.clock.now()
    later = now + timedelta(minutes=1)
    async with scenario.unit_of_work() as uow:
        for sent in pair:
            await set_row(uow, sent, "reserved", now)
        await transfers.hold_transfer(uow, own.transfer_id, "no money", now)
        assert [(await row_of(uow, sent))["due_at"] for sent in (own, other)] == [None, now]
        # One that is held waits for the next dispatch.
        await transfers.requeue_unsent(uow, own.batch_id, later)
        assert (await row_of(uow, own))["due_at"] is None
        await set_row(uow, own, "reserved", now)
        await transfers.requeue_unsent(uow, own.batch_id, later)
        assert [(await row_of(uow, sent))["due_at"] for sent in (own, other)] == [later, now]
        await set_row(uow, own, "pending", now)
        await transfers.requeue_unsent(uow, own.batch_id, later)
        await transfers.hold_transfer(uow, own.transfer_id, "another reason", now)
        row = await row_of(uow, own)
        assert (row["due_at"], row["failure"]) == (now, "no money")


async def test_a_report_is_saved_on_its_own_attempt_and_payout(scenario: Scenario, pair: tuple[Sent, Sent]) -> None:
    own, other = pair
    now = scenario.clock.now()
    later = now + timedelta(minutes=1)
    async with scenario.unit_of_work() as uow:
        before = await row_of(uow, other)
        locked = await transfers.read_transfer(uow, own.transfer_id)
        update = TransferUpdate("webhook", "failed", AMOUNT, "NGN", "TRF_own", "closed")
        await transfers.save_transfer_status(uow, locked, update, later)
        row = await row_of(uow, own)
        assert (row["status"], row["transfer_code"], row["failure"]) == ("failed", "TRF_own", "closed")
        codes = {row["id"]: row["transfer_code"] for row in await uow.fetch("SELECT * FROM payout_requests")}
        assert codes[own.payout_id] == "TRF_own"
        assert codes[other.payout_id] != "TRF_own"
        await transfers.save_recipient_code(uow, own.transfer_id, "RCP_own")
        await transfers.schedule_poll(uow, own.transfer_id, later, polled=False)
        row = await row_of(uow, own)
        assert (row["recipient_code"], row["due_at"], row["poll_count"]) == ("RCP_own", later, locked.poll_count)
        await transfers.claim_transfer(uow, transfers.DueTransfer(own.transfer_id, "failed"), "unknown", later)
        found = await transfers.find_transfer(uow, own.transfer_id)
        assert found == (own.payout_id, 1, own.reference, "unknown", "paystack")
        assert await transfers.find_transfer(uow, uuid4()) is None
        assert await row_of(uow, other) == before


NAMED = TransferUpdate("query", "success", AMOUNT, "NGN", "TRF_new", "late")


@pytest.mark.parametrize(
    ("record", "changed"),
    [
        (transfers.RecordedUpdate(NAMED, "stale"), {}),
        (
            transfers.RecordedUpdate(NAMED, "repeated", sets_status=True),
            {"status": "success", "transfer_code": "TRF_new", "failure": None, "updated_at": "later"},
        ),
        (transfers.RecordedUpdate(NAMED, "repeated", fee_minor=100), {"fee": 100, "updated_at": "later"}),
        (transfers.RecordedUpdate(NAMED, "repeated", recipient_code="RCP_own"), {"recipient_code": "RCP_own"}),
        (
            transfers.RecordedUpdate(NAMED, "repeated", poll=transfers.Poll(None, polled=True)),
            {"due_at": None, "poll_count": 1, "asks": 1},
        ),
    ],
    ids=["nothing", "status", "fee", "recipient", "poll"],
)
async def test_a_recorded_update_changes_only_the_columns_that_it_names(
    scenario: Scenario, pair: tuple[Sent, Sent], record: transfers.RecordedUpdate, changed: dict[str, Any]
) -> None:
    own, other = pair
    later = scenario.clock.now() + timedelta(minutes=1)
    async with scenario.unit_of_work() as uow:
        before, before_other = dict(await row_of(uow, own)), await row_of(uow, other)
        transfer = await transfers.read_transfer(uow, own.transfer_id)
        await transfers.record_observation(uow, transfer, record, later)
        expected = {name: later if value == "later" else value for name, value in changed.items()}
        assert dict(await row_of(uow, own)) == before | expected
        assert await row_of(uow, other) == before_other


async def test_an_update_of_a_transfer_that_has_changed_is_not_recorded(
    scenario: Scenario, pair: tuple[Sent, Sent]
) -> None:
    own, _ = pair
    async with scenario.unit_of_work() as uow:
        transfer = await transfers.read_transfer(uow, own.transfer_id)
        await set_row(uow, own, "unknown")
        with pytest.raises(StateChanged):
            record = transfers.RecordedUpdate(NAMED, "repeated", fee_minor=100)
            await transfers.record_observation(uow, transfer, record, scenario.clock.now())


async def test_due_transfers_are_those_of_the_named_gateways(scenario: Scenario, pair: tuple[Sent, Sent]) -> None:
    own, other = pair
    now = scenario.clock.now()
    async with scenario.unit_of_work() as uow:
        await set_row(uow, own, "pending", now)
        await set_row(uow, other, "pending", now + timedelta(seconds=1))
        lock = transfers.lock_due_transfers
        assert await lock(uow, now, 10, ["paystack"]) == [(own.transfer_id, "pending")]
        assert await lock(uow, now, 10, ["flutterwave"]) == []
        assert await lock(uow, now - timedelta(seconds=1), 10, ["paystack"]) == []
        assert len(await lock(uow, now + timedelta(seconds=1), 10, ["paystack", "flutterwave"])) == 2
        assert len(await lock(uow, now + timedelta(seconds=1), 1, ["paystack"])) == 1
        # Checks of paid transfers come last.
        await set_row(uow, own, "success", now)
        due = await lock(uow, now + timedelta(seconds=1), 10, ["paystack"])
        assert [transfer.id for transfer in due] == [other.transfer_id, own.transfer_id]
        assert await transfers.list_gateways_with_open_transfers(uow) == ["paystack"]
        for sent in pair:
            await transfers.schedule_poll(uow, sent.transfer_id, None, polled=False)
        assert await transfers.list_gateways_with_open_transfers(uow) == []
