"""The store of returns and exceptions: each statement reads and changes the payout, attempt or exception that it
names.
"""

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from common.database.state_changes import StateChanged
from common.primitives.ids import new_id
from payouts.domain.exceptions import ExceptionAction, Finding
from payouts.domain.returns import Attempt
from payouts.domain.severity import ExceptionContext
from payouts.store import exceptions, reconciliations, returns
from payouts.store.exceptions import REJECTIONS_COUNT_FOR, OpeningException
from payouts.store.reconciliations import Reconciliation
from testkit.sandbox import Sandbox

from .conftest import Scenario
from .staff import AMOUNT
from .stored import Sent, append_line, observe, sent_pair


@pytest.fixture
async def pair(scenario: Scenario, sandbox: Sandbox) -> tuple[Sent, Sent]:
    return await sent_pair(scenario, sandbox)


async def rows_of(uow: Any, sent: Sent) -> list[Any]:
    return list(
        await uow.fetch(
            "SELECT p.status AS payout_status, p.transfer_failure, p.retry_count, t.* FROM payout_requests AS p "
            "JOIN payout_transfers AS t ON t.payout_id = p.id WHERE p.id = $1 ORDER BY t.attempt",
            sent.payout_id,
        )
    )


async def attempt_of(uow: Any, sent: Sent) -> Attempt:
    locked = await returns.lock_payout_with_attempts(uow, sent.payout_id)
    assert locked is not None
    assert (locked.vendor_id, locked.amount_minor) == (sent.vendor.id, AMOUNT)
    [attempt] = locked.attempts
    assert (attempt.id, attempt.reference) == (sent.transfer_id, sent.reference)
    return attempt


async def test_an_attempt_is_contradicted_by_its_last_report(scenario: Scenario, pair: tuple[Sent, Sent]) -> None:
    own, other = pair
    async with scenario.unit_of_work() as uow:

        async def contradicted(*report: Any) -> bool:
            await observe(uow, scenario, own.transfer_id, *report)
            await observe(uow, scenario, other.transfer_id, "webhook", "success", "advanced")
            return (await attempt_of(uow, own)).contradicted

        assert not (await attempt_of(uow, own)).contradicted
        assert await contradicted("webhook", "success", "contradiction")
        assert not await contradicted("query", "failed", "confirmed")
        # A query of the right amount decides; one of another amount does not.
        assert not await contradicted("query", "success", "contradiction")
        assert await contradicted("query", "success", "contradiction", AMOUNT - 1)
        assert (await attempt_of(uow, other)).contradicted is False


async def test_a_recovery_counts_for_its_own_attempt_until_it_is_returned(
    scenario: Scenario, pair: tuple[Sent, Sent]
) -> None:
    own, other = pair
    async with scenario.unit_of_work() as uow:

        async def recovered() -> list[bool]:
            return [(await attempt_of(uow, sent)).recovered for sent in (own, other)]

        await append_line(
            uow, scenario, other, "recovery", source_key=f"recovery:{other.transfer_id}", net_minor=-AMOUNT
        )
        assert await recovered() == [False, True]
        await append_line(uow, scenario, own, "payout", source_key=f"recovery:{own.transfer_id}", net_minor=-AMOUNT)
        assert await recovered() == [False, True]
        await append_line(uow, scenario, own, "recovery", source_key=f"recovery:{own.transfer_id}", net_minor=-AMOUNT)
        await append_line(uow, scenario, own, "payout", source_key=f"recovery_returned:{own.transfer_id}")
        assert await recovered() == [True, True]
        await append_line(uow, scenario, own, "recovery_returned", source_key=f"recovery_returned:{own.transfer_id}")
        assert await recovered() == [False, True]
        assert (await attempt_of(uow, own)).recovery == (own.transfer_id, 2)
        await append_line(uow, scenario, own, "recovery", source_key=f"recovery:{own.transfer_id}:2", net_minor=-AMOUNT)
        assert await recovered() == [True, True]
        assert (await attempt_of(uow, own)).recovery == (own.transfer_id, 2)
        assert (await attempt_of(uow, other)).recovery == (other.transfer_id, 1)


async def test_an_attempt_without_a_submission_was_not_sent(scenario: Scenario, pair: tuple[Sent, Sent]) -> None:
    own, other = pair
    async with scenario.unit_of_work() as uow:
        assert (await attempt_of(uow, own)).sent
        assert [attempt.id for attempt in await returns.list_sent_attempts(uow, own.payout_id)] == [own.transfer_id]
        await uow.execute("UPDATE payout_transfers SET submissions = 0 WHERE id = $1", own.transfer_id)
        assert not (await attempt_of(uow, own)).sent
        assert await returns.list_sent_attempts(uow, own.payout_id) == []
        assert (await attempt_of(uow, other)).sent
        assert await returns.lock_payout_with_attempts(uow, uuid4()) is None


async def test_a_contradiction_counts_after_a_position_of_its_own_attempt(
    scenario: Scenario, pair: tuple[Sent, Sent]
) -> None:
    own, other = pair
    async with scenario.unit_of_work() as uow:

        async def last() -> int:
            [attempt] = await returns.list_sent_attempts(uow, own.payout_id)
            return attempt.last_position

        before = await last()
        await observe(uow, scenario, other.transfer_id, "webhook", "success", "contradiction")
        await observe(uow, scenario, own.transfer_id, "webhook", "failed", "advanced")
        assert await last() > before
        assert not await returns.was_contradicted_since(uow, own.transfer_id, before)
        await observe(uow, scenario, own.transfer_id, "webhook", "success", "contradiction")
        await observe(uow, scenario, other.transfer_id, "webhook", "success", "stale")
        [row] = await uow.fetch(
            "SELECT max(position) AS at FROM transfer_observations WHERE transfer_id = $1", own.transfer_id
        )
        assert await last() == row["at"]
        assert await returns.was_contradicted_since(uow, own.transfer_id, before)
        assert not await returns.was_contradicted_since(uow, own.transfer_id, await last())


async def test_a_reset_reserves_one_more_attempt_of_its_own_payout(scenario: Scenario, pair: tuple[Sent, Sent]) -> None:
    own, other = pair
    now, second, reference = scenario.clock.now(), new_id(), f"po-{new_id().hex}"
    later = now + timedelta(minutes=1)
    async with scenario.unit_of_work() as uow:
        before = await rows_of(uow, other)
        await returns.mark_failed(uow, own.payout_id, "closed", now)
        with pytest.raises(StateChanged):
            await returns.mark_failed(uow, own.payout_id, "closed again", now)
        assert (await rows_of(uow, own))[0]["payout_status"] == "failed"
        await uow.execute("UPDATE payout_requests SET status = 'pending' WHERE id = $1", own.payout_id)
        attempt = returns.Retry(second, reference, "paystack", later)
        await returns.save_reset(uow, own.payout_id, attempt, "again", now)
        first, retry = await rows_of(uow, own)
        assert (retry["id"], retry["attempt"], retry["status"], retry["reference"]) == (
            second,
            2,
            "reserved",
            reference,
        )
        assert (retry["retry_count"], retry["due_at"], retry["transfer_failure"]) == (1, later, "again")
        assert [await returns.is_retry(uow, attempt) for attempt in (second, own.transfer_id)] == [True, False]
        await uow.execute(
            "UPDATE payout_transfers SET status = 'failed', transfer_code = NULL WHERE id = $1", own.transfer_id
        )
        assert [await returns.was_accepted(uow, sent.transfer_id) for sent in (own, other)] == [False, True]
        # Only a reserved attempt with a time is postponed.
        delay = returns.delay_retry
        await uow.execute(
            "UPDATE payout_transfers SET status = 'reserved', due_at = $2 WHERE id = $1", other.transfer_id, now
        )
        await delay(uow, second, "no money", later + timedelta(minutes=1), now)
        assert [row["due_at"] for row in await rows_of(uow, own)] == [first["due_at"], later + timedelta(minutes=1)]
        assert [row["due_at"] for row in await rows_of(uow, other)] == [now]
        for change in ("due_at = NULL", "status = 'unknown', due_at = now()"):
            await uow.execute(f"UPDATE payout_transfers SET failure = NULL, {change} WHERE id = $1", second)
            await delay(uow, second, "no money", later, now)
            assert (await rows_of(uow, own))[1]["failure"] is None
        await uow.execute(
            "UPDATE payout_transfers SET status = 'reserved' WHERE id = ANY ($1)", [second, other.transfer_id]
        )
        await returns.withdraw_unsent_attempts(uow, own.payout_id, "returned", now)
        withdrawn = (await rows_of(uow, own))[1]
        assert (withdrawn["status"], withdrawn["failure"], withdrawn["due_at"]) == ("failed", "returned", None)
        restore = "UPDATE payout_transfers SET status = 'pending', due_at = $2 WHERE id = $1"
        await uow.execute(restore, other.transfer_id, before[0]["due_at"])
        assert await rows_of(uow, other) == before


async def test_a_payout_has_one_prepared_reconciliation_that_is_decided_once(
    scenario: Scenario, pair: tuple[Sent, Sent]
) -> None:
    now, by = scenario.clock.now(), new_id()
    made = [Reconciliation(new_id(), sent.payout_id, "restitution", "prepared", "0" * 64, by) for sent in pair]
    own, other = made
    async with scenario.unit_of_work() as uow:
        for reconciliation in (other, own):
            assert await reconciliations.save_reconciliation_if_new(uow, reconciliation, None, [], "x", now)
        second = Reconciliation(new_id(), own.payout_id, "restitution", "prepared", "0" * 64, by)
        assert not await reconciliations.save_reconciliation_if_new(uow, second, None, [], "x", now)
        find = reconciliations.find_reconciliation
        assert await find(uow, own.id) == await find(uow, own.id, lock=True) == own
        assert await find(uow, second.id) is None
        await reconciliations.TABLE.save_verdict(uow, own.id, "rejected", new_id(), now, "no")
        with pytest.raises(StateChanged):
            await reconciliations.TABLE.save_verdict(uow, own.id, "approved", new_id(), now)
        states = {row["id"]: row["status"] for row in await uow.fetch("SELECT * FROM reconciliations")}
        assert states == {own.id: "rejected", other.id: "prepared"}
        await returns.record_payout_action(uow, own.payout_id, None, "reset", by, "why", now)
        [action] = await uow.fetch("SELECT * FROM payout_acts WHERE payout_id = $1", own.payout_id)
        assert (action["act"], action["acted_by"], action["reason"]) == ("reset", by, "why")


async def opened(
    uow: Any, scenario: Scenario, sent: Sent, cause: Any = "name_mismatch", at: Any = None, **changes: Any
) -> UUID:
    """Return an open exception of a payout's attempt."""
    exception_id = new_id()
    now = at or scenario.clock.now()
    values = {"payout_id": sent.payout_id, "vendor_id": sent.vendor.id, "transfer_id": sent.transfer_id, **changes}
    opening = OpeningException(exception_id, ExceptionContext(cause, AMOUNT), "SEV-3", "x", now, **values)
    assert await exceptions.open_exception_if_new(uow, opening, now)
    return exception_id


async def test_related_exceptions_are_those_of_the_batch_and_of_the_vendors_last_days(
    scenario: Scenario, sandbox: Sandbox, pair: tuple[Sent, Sent]
) -> None:
    own, other = pair
    now = scenario.clock.now()
    moment = timedelta(microseconds=1)
    async with scenario.unit_of_work() as uow:

        async def related(batch_id: UUID | None = own.batch_id, transfer_id: UUID = own.transfer_id) -> tuple[int, int]:
            return await exceptions.count_related_exceptions(uow, batch_id, own.vendor.id, transfer_id, now)

        assert await related() == (1, 0)
        assert await related(None) == (1, 0)
        theirs = await opened(uow, scenario, other)
        assert await related() == (1, 0), "of another batch"
        await uow.execute("UPDATE payout_transfers SET batch_id = $2 WHERE id = $1", other.transfer_id, own.batch_id)
        assert await related() == (2, 0)
        assert await related(None) == (1, 0)
        mine = await opened(uow, scenario, own)
        assert await related() == (2, 0), "the vendor itself, and the attempt itself, are counted once"
        assert await related(transfer_id=new_id()) == (2, 1)
        for cause, counted in (("bank_switch_error", 0), ("reversed", 1), ("unclassified", 1)):
            await exceptions.save_finding(uow, mine, Finding(cause, "SEV-3"), now)
            assert await related(transfer_id=new_id()) == (2, counted)
        for later, counted in ((REJECTIONS_COUNT_FOR, 0), (REJECTIONS_COUNT_FOR - moment, 1)):
            found = await exceptions.count_related_exceptions(uow, None, own.vendor.id, new_id(), now + later)
            assert found.earlier_rejections == counted
        assert timedelta(days=30) == REJECTIONS_COUNT_FOR
        causes = {row["id"]: row["cause"] for row in await uow.fetch("SELECT * FROM payout_exceptions")}
        assert causes == {mine: "unclassified", theirs: "name_mismatch"}


async def test_an_exception_has_its_own_history(scenario: Scenario, pair: tuple[Sent, Sent]) -> None:
    own, other = pair
    now = scenario.clock.now()
    finding = Finding("name_mismatch", "SEV-3")
    async with scenario.unit_of_work() as uow:
        theirs, mine = await opened(uow, scenario, other), await opened(uow, scenario, own)

        async def act(exception_id: UUID, kind: Any, note: str) -> None:
            action = ExceptionAction(kind, new_id(), finding, finding, note)
            await exceptions.record_exception_action(uow, exception_id, action, now)

        async def classified() -> bool:
            locked = await exceptions.lock_exception(uow, mine)
            assert locked is not None
            assert (locked.id, locked.payout_id, locked.is_open) == (mine, own.payout_id, True)
            assert locked == await exceptions.lock_open_exception(uow, own.payout_id)
            return locked.classified

        await act(theirs, "classified", "theirs")
        await act(mine, "noted", "mine")
        assert not await classified()
        assert await exceptions.has_note(uow, mine, "mine")
        assert not await exceptions.has_note(uow, mine, "theirs")
        await act(mine, "classified", "we know")
        assert await classified()
        await exceptions.save_closed(uow, mine, "done", now)
        with pytest.raises(StateChanged):
            await exceptions.save_closed(uow, mine, "done again", now)
        assert await exceptions.lock_open_exception(uow, own.payout_id) is None
        assert await exceptions.lock_open_exception(uow, other.payout_id) is not None
        assert await exceptions.find_payout_of_exception(uow, mine) == own.payout_id
        # The exception of a vendor is one without a payout and without a batch.
        assert await exceptions.lock_open_exception_of_vendor(uow, own.vendor.id) is None
        alone = {"payout_id": None, "transfer_id": None}
        vendor = await opened(uow, scenario, own, "credit_not_released", **alone)
        locked = await exceptions.lock_open_exception_of_vendor(uow, own.vendor.id)
        assert locked is not None
        assert locked.id == vendor
        assert await exceptions.lock_open_exception_of_vendor(uow, other.vendor.id) is None


async def test_where_the_money_of_a_payout_is(scenario: Scenario, pair: tuple[Sent, Sent]) -> None:
    own, other = pair
    async with scenario.unit_of_work() as uow:

        async def reversed_after_success(*report: Any, of: Sent = own) -> bool:
            if report:
                await observe(uow, scenario, of.transfer_id, *report)
            settlement = await exceptions.read_settlement(uow, own.payout_id)
            assert (settlement.payout_status, settlement.returned) == ("pending", False)
            return settlement.reversed_after_success

        assert not await reversed_after_success()
        assert not await reversed_after_success("webhook", "reversed", "advanced")
        assert not await reversed_after_success("webhook", "success", "advanced", of=other)
        assert not await reversed_after_success("webhook", "success", "contradiction"), "a success without an effect"
        assert not await reversed_after_success("webhook", "failed", "advanced"), "no success"
        assert await reversed_after_success("webhook", "success", "late_success")
        # What the gateway says to a query after the reversal decides, unless it contradicts the ledger.
        assert await reversed_after_success("query", "success", "confirmed", of=other)
        assert await reversed_after_success("query", "failed", "confirmed")
        assert await reversed_after_success("query", "success", "contradiction")
        assert await reversed_after_success("webhook", "success", "confirmed")
        assert not await reversed_after_success("query", "success", "confirmed")
        assert await reversed_after_success("webhook", "reversed", "advanced"), "reversed once more"
        await append_line(uow, scenario, other, "restitution")
        assert await reversed_after_success()
        await append_line(uow, scenario, own, "payout", source_key=f"payout:{new_id()}")
        assert await reversed_after_success()
        await append_line(uow, scenario, own, "restitution")
        assert (await exceptions.read_settlement(uow, own.payout_id)).returned
