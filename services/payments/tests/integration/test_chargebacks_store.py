"""The store of chargebacks and of the responses to them: each statement finds and changes what it names."""

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest_asyncio

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from payments.domain.chargeback_responses import DisputeEvidence, DisputeResolution
from payments.domain.chargebacks import ChargebackAllocation, UnsentRefund
from payments.domain.escrow import Parts
from payments.store import chargeback_responses, chargebacks, refunds

from .conftest import PaymentsApp
from .disputes import CREATE, dispute, numbers, paid

EVIDENCE = DisputeEvidence("buyer@unilag.edu.ng", "Chidi Okafor", "+2348012345678", "Two textbooks", None, None)
NO_LOSS = ChargebackAllocation()


class Disputed:
    """A paid order with an open dispute of a part."""

    def __init__(self, placed: Any, row: Any) -> None:
        self.order_id: UUID = placed.order_id
        self.placed = placed
        self.id, self.identity, self.charge_id = row["id"], row["identity"], row["charge_id"]


@pytest_asyncio.fixture(loop_scope="session")
async def pair(app: PaymentsApp) -> tuple[Disputed, Disputed]:
    """Make two, of which the other one is the older one."""
    made = []
    for _ in range(2):
        placed, reference = await paid(app)
        await app.process_webhook(dispute(next(numbers), CREATE, reference, 200_000))
        [row] = await app.fetch("SELECT * FROM chargebacks WHERE order_id = $1", placed.order_id)
        made.append(Disputed(placed, row))
    return made[1], made[0]


async def row_of(app: PaymentsApp, chargeback: Disputed) -> Any:
    [row] = await app.fetch("SELECT * FROM chargebacks WHERE id = $1", chargeback.id)
    return row


async def locked(uow: UnitOfWork, disputed: Disputed) -> chargebacks.Chargeback:
    [found] = await chargebacks.lock_chargebacks(uow, disputed.identity)
    return found


async def test_the_date_of_a_dispute_is_alerted_once_while_it_is_open_and_unanswered(
    app: PaymentsApp, pair: tuple[Disputed, Disputed]
) -> None:
    own, other = pair
    now = app.clock.now()
    due_at, early = now + timedelta(days=1), now + timedelta(days=1) - timedelta(seconds=1)
    async with app.unit_of_work() as uow:
        claim = chargebacks.claim_due_alert

        async def due() -> list[UUID]:
            return [chargeback.id for chargeback in await chargebacks.list_due_chargebacks(uow, due_at)]

        await uow.execute("UPDATE chargebacks SET due_at = NULL")
        assert await due() == []
        await chargebacks.save_due(uow, own.id, due_at)
        assert await due() == [own.id]
        assert await chargebacks.list_due_chargebacks(uow, early) == []
        assert not await claim(uow, own.id, now, early)
        assert await claim(uow, own.id, now, due_at)
        assert not await claim(uow, own.id, now, due_at)
        assert await due() == []
        # The same date stays alerted; another one is alerted again.
        await chargebacks.save_due(uow, own.id, due_at)
        assert await due() == []
        await chargebacks.save_due(uow, own.id, early)
        assert await due() == [own.id]
        # The first response ends it, and shows whether the date had been alerted.
        assert not await chargebacks.save_responded(uow, own.id, now)
        assert await due() == []
        assert not await claim(uow, own.id, now, due_at)
        await chargebacks.save_due(uow, other.id, due_at)
        assert await claim(uow, other.id, now, due_at)
        assert await chargebacks.save_responded(uow, other.id, now)
        assert not await chargebacks.save_responded(uow, other.id, now)
        await uow.execute("UPDATE chargebacks SET responded_at = NULL, due_alerted_at = NULL, due_at = $1", due_at)
        await chargebacks.save_decision(uow, await locked(uow, own), "won", 200_000, NO_LOSS, now)
        assert await due() == [other.id]
        assert not await claim(uow, own.id, now, due_at)


async def test_a_dispute_is_known_by_its_identity_and_open_until_it_is_decided(
    app: PaymentsApp, pair: tuple[Disputed, Disputed]
) -> None:
    own, other = pair
    now = app.clock.now()
    # One without an id of its own cannot be queried.
    _, reference = await paid(app)
    await app.process_webhook(dispute(0, CREATE, reference, 1_000, id=None))
    async with app.unit_of_work() as uow:
        assert await chargebacks.list_unknown_identities(uow, [own.identity, "unknown"]) == ["unknown"]
        assert await chargebacks.list_opened_identities(uow, "flutterwave") == []
        assert set(await chargebacks.list_opened_identities(uow, "paystack")) == {own.identity, other.identity}
        assert await chargebacks.chargeback_is_open(uow, own.order_id)
        assert await chargebacks.charge_is_disputed(uow, own.charge_id)
        assert not await chargebacks.chargeback_is_open(uow, uuid4())
        await chargebacks.save_decision(uow, await locked(uow, own), "won", 200_000, NO_LOSS, now)
        assert not await chargebacks.chargeback_is_open(uow, own.order_id)
        assert not await chargebacks.charge_is_disputed(uow, own.charge_id)
        assert await chargebacks.charge_is_disputed(uow, other.charge_id)
        assert await chargebacks.list_opened_identities(uow, "paystack") == [other.identity]
        assert not await chargebacks.was_charged_back(uow, own.order_id)
        await uow.execute(
            (
                "UPDATE escrows SET charged_back_minor = 1, locked_vendor_minor = locked_vendor_minor - 1 WHERE "
                "order_id = $1"
            ),
            other.order_id,
        )
        assert not await chargebacks.was_charged_back(uow, own.order_id)
        assert await chargebacks.was_charged_back(uow, other.order_id)


async def test_a_loss_is_allocated_and_a_refund_is_counted_against_it(
    app: PaymentsApp, pair: tuple[Disputed, Disputed]
) -> None:
    own, other = pair
    now = app.clock.now()
    events = []
    for disputed in (other, own):
        event = app.refund_requested(disputed.placed, 300_000)
        await app.receive(event)
        events.append(event)
    refund = UnsentRefund(events[1].refund_id, 100_000)
    before = await row_of(app, other)
    async with app.unit_of_work() as uow:
        assert await chargebacks.lock_lost_chargebacks(uow, own.charge_id) == []
        assert await chargebacks.refund_is_held(uow, refund.id)
        lost = ChargebackAllocation((refund,), Parts(1, 2, 3), Parts(4, 5, 6), 7)
        await chargebacks.save_decision(uow, await locked(uow, own), "lost", 200_000, lost, now)
        assert not await chargebacks.refund_is_held(uow, refund.id)
        assert await chargebacks.refund_is_held(uow, events[0].refund_id)
        [chargeback] = await chargebacks.lock_lost_chargebacks(uow, own.charge_id)
        assert [chargeback] == await chargebacks.lock_chargebacks(uow, own.identity)
        kept = ChargebackAllocation((), Parts(1, 2, 3), Parts(4, 5, 6), 7)
        assert (chargeback.id, chargeback.status, chargeback.allocation) == (own.id, "lost", kept)
        less = ChargebackAllocation((), Parts(1, 2, 3), Parts(3, 5, 6), 7)
        await chargebacks.save_allocation(uow, own.id, less, UnsentRefund(refund.id, 1))
        [chargeback] = await chargebacks.lock_lost_chargebacks(uow, own.charge_id)
        assert chargeback.allocation == less
        await chargebacks.reduce_refund(uow, refund)
        assert await chargebacks.lock_unsent_refunds(uow, own.charge_id) == [
            UnsentRefund(refund.id, 200_000, own.order_id)
        ]
        assert await chargebacks.list_waiting_refunds(uow, own.charge_id) == [refund.id]
        # The parts of one refund are added, and given back once.
        assert await chargebacks.claim_refund_parts(uow, own.id) == [UnsentRefund(refund.id, 100_001)]
        assert await chargebacks.claim_refund_parts(uow, own.id) == []
        await refunds.save_refund_submitted(uow, refund.id, "7", now)
        assert await chargebacks.list_waiting_refunds(uow, own.charge_id) == []
        assert await chargebacks.lock_unsent_refunds(uow, own.charge_id) == []
        await refunds.save_refund_failed(uow, refund.id, "closed", None, now)
        assert await chargebacks.lock_unsent_refunds(uow, own.charge_id) == [], "the gateway asks for an account"
    assert await row_of(app, other) == before


async def test_the_final_release_has_the_cause_that_ended_the_order(app: PaymentsApp) -> None:
    own, other = (await paid(app))[0], (await paid(app))[0]
    await app.receive(app.delivered(other))
    path = f"/api/orders/{own.order_id}/release"
    assert (await app.post_as(path, {"amountMinor": 1_000}, "finance_checker")).status_code == 200
    async with app.unit_of_work() as uow:
        assert await chargebacks.find_final_release_cause(uow, own.order_id) is None
    await app.receive(app.delivered(own))
    async with app.unit_of_work() as uow:
        assert await chargebacks.find_final_release_cause(uow, own.order_id) == "delivery"
        [row] = await uow.fetch("SELECT id FROM releases LIMIT 1")
        assert await chargebacks.release_exists(uow, row["id"])
        assert not await chargebacks.release_exists(uow, uuid4())


async def recorded(uow: Any, app: PaymentsApp, chargeback: Disputed, content: Any) -> UUID:
    response_id, now = new_id(), app.clock.now()
    record = (
        chargeback_responses.record_evidence
        if isinstance(content, DisputeEvidence)
        else chargeback_responses.record_resolution
    )
    await record(uow, response_id, chargeback.id, content, "hash", app.buyer, now)
    return response_id


async def test_a_response_is_sent_from_its_time_on_by_one_worker_and_finished_once(
    app: PaymentsApp, pair: tuple[Disputed, Disputed]
) -> None:
    own, other = pair
    now = app.clock.now()
    late = now + timedelta(minutes=1)
    async with app.unit_of_work() as uow:
        others = await recorded(uow, app, other, EVIDENCE)
        evidence = await recorded(uow, app, own, EVIDENCE)
        for response_id in (others, evidence):
            await chargeback_responses.save_attempt(uow, response_id, 1, late)
        assert await chargeback_responses.list_due_responses(uow, late - timedelta(seconds=1)) == []
        assert set(await chargeback_responses.list_due_responses(uow, late)) == {others, evidence}
        await chargeback_responses.save_attempt(uow, others, 2, late + timedelta(minutes=1))
        assert await chargeback_responses.list_due_responses(uow, late) == [evidence]
    async with app.unit_of_work() as uow, app.unit_of_work() as second:
        lock = chargeback_responses.lock_due_response
        assert await lock(uow, evidence, late - timedelta(seconds=1)) is None
        found = await lock(uow, evidence, late)
        assert found is not None
        claimed, status = found
        assert (claimed.id, claimed.chargeback_id, claimed.identity) == (evidence, own.id, own.identity)
        assert (claimed.attempts, claimed.content, status) == (1, EVIDENCE, "opened")
        for response_id in (others, evidence):
            found = await lock(uow, response_id, late + timedelta(minutes=1))
            assert found is not None
            assert found[0].id == response_id
        assert await lock(second, evidence, late) is None
        finish = chargeback_responses.finish_response
        assert await finish(uow, evidence, "submitted", now, evidence_id="evidence-own")
        assert not await finish(uow, evidence, "rejected", now, failure="late")
        rows = {row["id"]: row["status"] for row in await uow.fetch("SELECT id, status FROM chargeback_responses")}
        assert rows == {evidence: "submitted", others: "submitting"}


async def test_a_resolution_names_the_newest_evidence_of_its_own_dispute(
    app: PaymentsApp, pair: tuple[Disputed, Disputed]
) -> None:
    own, other = pair
    now = app.clock.now()
    contest = DisputeResolution("contest", "Delivered", 0, b"%PDF", None)
    async with app.unit_of_work() as uow:
        finish = chargeback_responses.finish_response
        for chargeback, name, status, minutes in (
            (own, "older", "submitted", 1),
            (own, "newer", "submitted", 2),
            (own, None, "rejected", 3),
            (other, "other's", "submitted", 4),
        ):
            response_id = await recorded(uow, app, chargeback, EVIDENCE)
            at = now + timedelta(minutes=minutes)
            assert await finish(uow, response_id, status, at, evidence_id=name)
        resolution = await recorded(uow, app, own, contest)
        found = await chargeback_responses.lock_due_response(uow, resolution, now)
        assert found is not None
        assert found[0].content == DisputeResolution("contest", "Delivered", 0, b"%PDF", "newer")


async def test_a_response_may_accept_the_unrefunded_part_of_the_charge(
    app: PaymentsApp, pair: tuple[Disputed, Disputed]
) -> None:
    own, other = pair
    now = app.clock.now()
    async with app.unit_of_work() as uow:
        respondable = await chargeback_responses.lock_respondable(uow, own.id)
        assert respondable is not None
        assert (respondable.identity, respondable.unrefunded_minor) == (own.identity, 500_000)
        assert not respondable.is_submitting
    for disputed in (own, own, other):
        await app.receive(app.refund_requested(disputed.placed, 1_000 if disputed is own else 7_000))
    async with app.unit_of_work() as uow:
        first, _ = await chargebacks.list_waiting_refunds(uow, own.charge_id)
        [others] = await chargebacks.list_waiting_refunds(uow, other.charge_id)
        for refund_id, number in ((first, "1"), (others, "2")):
            await refunds.save_refund_submitted(uow, refund_id, number, now)
        await recorded(uow, app, other, EVIDENCE)
        respondable = await chargeback_responses.lock_respondable(uow, own.id)
        assert respondable is not None
        # One refund waits: nothing of it has left.
        assert (respondable.unrefunded_minor, respondable.is_submitting) == (499_000, False)
        neighbour = await chargeback_responses.lock_respondable(uow, other.id)
        assert neighbour is not None
        assert (neighbour.unrefunded_minor, neighbour.is_submitting) == (493_000, True)
