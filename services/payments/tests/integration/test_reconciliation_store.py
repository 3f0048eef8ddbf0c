"""The store of the reconciliation: each statement finds and changes the charge, refund or case that it names."""

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from common.ledger import posting as ledger
from payments.domain import postings
from payments.domain.reconciliation import SELF_RESOLVING, Difference
from payments.domain.settlements import Settlement
from payments.store import reconciliation
from testkit.locks import assert_locks

from .conftest import PaymentsApp
from .disputes import paid
from .steps import WHOLE_TIME
from .stories import newest_refund

PAYSTACK = "paystack"


def difference(subject: str, kind: Any = "charge_differs", **changes: Any) -> Difference:
    values = {"ours_minor": 100, "theirs_minor": 250, "currency": "NGN", "detail": "x", "reference": subject, **changes}
    return Difference(kind, subject, **values)


async def cases(app: PaymentsApp) -> dict[str, Any]:
    return {row["subject"]: row for row in await app.fetch("SELECT * FROM reconciliation_cases")}


async def refunded(app: PaymentsApp, amount_minor: int) -> tuple[UUID, str]:
    """Return the ids of a settled refund, ours and the gateway's."""
    placed, reference = await paid(app)
    event = app.refund_requested(placed, amount_minor)
    await app.receive(event)
    await app.work("payments.refunds")
    refund = await newest_refund(app, reference)
    await app.report_refund(refund)
    return event.refund_id, str(refund["id"])


async def test_a_charge_is_found_by_its_identity_or_if_unnamed_by_its_reference(app: PaymentsApp) -> None:
    (own, reference), (_, other_reference) = await paid(app), await paid(app)
    [row] = await app.fetch("SELECT identity FROM charges WHERE reference = $1", reference)
    without_id, without_id_too = (await paid(app))[1], (await paid(app))[1]
    async with app.connected("admin") as admin:
        statement = "UPDATE charges SET gateway_id = NULL WHERE reference = ANY ($1)"
        await admin.execute(statement, [without_id, without_id_too])
    async with app.unit_of_work() as uow:
        found = await reconciliation.find_recorded_charges(uow, [row["identity"]], [other_reference, without_id])
        known = await reconciliation.list_known_references(uow, [reference, "ch-unknown"])
    assert sorted(charge.reference for charge in found.values()) == sorted([reference, without_id])
    assert known == [reference]
    charge = found[row["identity"]]
    assert (charge.order_id, charge.ledger_minor, charge.fee_minor) == (own.order_id, 500_000, 0)
    assert (charge.escrow_minor, charge.order_status) == (500_000, "paid_escrow")


async def test_only_the_charge_that_holds_the_order_has_its_escrow(app: PaymentsApp) -> None:
    placed, references = await app.two_transactions()
    for reference in references:
        await app.process_webhook(await app.pay(reference))
    async with app.unit_of_work() as uow:
        charges, after = await reconciliation.list_settled_charges(uow, PAYSTACK, *WHOLE_TIME, None)
    assert after is None
    assert {charge.order_id for charge in charges} == {placed.order_id}
    assert sorted(charge.escrow_minor or 0 for charge in charges) == [0, 500_000]


async def test_the_charges_and_refunds_of_a_period_are_listed_in_batches(
    app: PaymentsApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reconciliation, "BATCH_SIZE", 2)
    amounts = [1_000, 2_000, 3_000]
    ids = {str((await refunded(app, amount_minor))[0]): amount_minor for amount_minor in amounts}
    listed: list[Any] = []
    refunds: list[Any] = []
    async with app.unit_of_work() as uow:
        after, sizes = None, []
        while True:
            batch, after = await reconciliation.list_settled_charges(uow, PAYSTACK, *WHOLE_TIME, after)
            listed += batch
            sizes.append(len(batch))
            if after is None:
                break
        refunds, after = await reconciliation.list_settled_refunds(uow, PAYSTACK, *WHOLE_TIME, None)
        assert after is not None
        more, end = await reconciliation.list_settled_refunds(uow, PAYSTACK, *WHOLE_TIME, after)
        assert (sizes, len(refunds), len(more), end) == ([2, 1], 2, 1, None)
        # The period includes its start and not its end; another gateway has none of them.
        [row] = await uow.fetch("SELECT DISTINCT settled_at AS at FROM charges")
        moment, at = timedelta(microseconds=1), row["at"]
        for period, expected in {(at, at + moment): 2, (at + moment, WHOLE_TIME[1]): 0, (WHOLE_TIME[0], at): 0}.items():
            charges, _ = await reconciliation.list_settled_charges(uow, PAYSTACK, *period, None)
            settled, _ = await reconciliation.list_settled_refunds(uow, PAYSTACK, *period, None)
            assert (len(charges), len(settled)) == (expected, expected)
        assert await reconciliation.list_settled_charges(uow, "flutterwave", *WHOLE_TIME, None) == ([], None)
        assert await reconciliation.list_settled_refunds(uow, "flutterwave", *WHOLE_TIME, None) == ([], None)
    assert {str(one.refund.id): one.refund.ledger_minor for one in [*refunds, *more]} == ids


async def test_a_refund_is_found_by_its_attempt_else_by_the_gateways_id(app: PaymentsApp) -> None:
    (_, other_gateway_id), (own, gateway_id) = await refunded(app, 1_000), await refunded(app, 2_000)
    async with app.unit_of_work() as uow:
        attempt = await reconciliation.find_recorded_attempt(uow, own)
        assert attempt is not None
        refund = attempt.refund
        assert (refund.id, refund.ledger_minor, refund.status) == (own, 2_000, "settled")
        assert (refund.gateway_refund_id, attempt.attempt.gateway_refund_id) == (gateway_id, gateway_id)
        assert await reconciliation.find_recorded_attempt(uow, uuid4()) is None
        found = reconciliation.find_recorded_refund
        assert await found(uow, refund.attempt_id, None) == refund
        assert await found(uow, refund.attempt_id, other_gateway_id) == refund
        assert await found(uow, None, gateway_id) == refund
        assert await found(uow, uuid4(), gateway_id) == refund
        assert await found(uow, None, None) is None
        assert await found(uow, uuid4(), "unknown") is None


async def test_an_order_whose_charge_does_not_cover_it_is_a_difference(app: PaymentsApp) -> None:
    (own, reference), (other, _) = await paid(app), await paid(app)
    async with app.unit_of_work() as uow:
        assert await reconciliation.list_orders_held_without_charge(uow, *WHOLE_TIME) == []
    async with app.connected("admin") as admin:
        await admin.execute("SET session_replication_role = replica")
        await admin.execute("UPDATE charges SET verdict = 'quarantined' WHERE reference = $1", reference)
    async with app.unit_of_work() as uow:
        [found] = await reconciliation.list_orders_held_without_charge(uow, *WHOLE_TIME)
        assert found.order_id == own.order_id
        assert await reconciliation.find_order_held_without_charge(uow, own.order_id) == found
        assert await reconciliation.find_order_held_without_charge(uow, other.order_id) is None


async def test_settlements_are_found_by_id_and_summed_by_the_time_of_their_posting(app: PaymentsApp) -> None:
    await paid(app)
    async with app.unit_of_work() as uow:
        for settlement_id, amount_minor in (("other", 1_000), ("own", 2_000)):
            settlement = Settlement(settlement_id, "settled", amount_minor, "NGN")
            assert await ledger.post(uow, postings.settlement(settlement))
        recorded = await reconciliation.find_recorded_settlement(uow, "own")
        assert recorded is not None
        assert (recorded.id, recorded.amount_minor, recorded.currency) == ("own", 2_000, "NGN")
        assert await reconciliation.find_recorded_settlement(uow, "unknown") is None
        [row] = await uow.fetch("SELECT DISTINCT created_at AS at FROM ledger_transactions WHERE type = 'settlement'")
        moment, at = timedelta(microseconds=1), row["at"]
        periods = {(at, at): 3_000, (at + moment, at + moment): 0, (at - moment, at - moment): 0}
        for period, expected in periods.items():
            assert await reconciliation.sum_settled(uow, *period) == expected, period


async def test_a_case_is_one_for_its_subject_and_kind(app: PaymentsApp) -> None:
    now = app.clock.now()
    later, opened = now + timedelta(hours=1), reconciliation.open_case_if_new
    async with app.unit_of_work() as uow:
        assert await opened(uow, difference("other"), now, PAYSTACK)
        assert await opened(uow, difference("own"), now, PAYSTACK)
        assert not await opened(uow, difference("own", ours_minor=200), later, PAYSTACK)
        assert await reconciliation.sum_unexplained(uow) == (2, 150 + 50)
        ids = {case.subject: case.id for case in await reconciliation.list_open_cases(uow, 10)}
        assert [case.subject for case in await reconciliation.list_open_cases(uow, 1)] == ["other"]
        assert await reconciliation.lock_case_status(uow, ids["own"]) == "open"
        assert await reconciliation.lock_case_status(uow, uuid4()) is None
        await reconciliation.save_case_closed(uow, ids["own"], later, app.buyer, "statement 4711")
        assert await reconciliation.lock_case_status(uow, ids["own"]) == "closed"
        assert await reconciliation.lock_case_status(uow, ids["other"]) == "open"
        assert [case.id for case in await reconciliation.list_open_cases(uow, 10)] == [ids["other"]]
        # Evidence explains one difference: the same figures of another subject, kind or state are another one.
        assert not await opened(uow, difference("own", ours_minor=200), later, PAYSTACK)
        assert await opened(uow, difference("third", ours_minor=200), later, PAYSTACK)
        assert await opened(uow, difference("own", "fee_differs", ours_minor=200), later, PAYSTACK)
        assert await opened(uow, difference("own", ours_minor=201), later, PAYSTACK)
        assert not await reconciliation.save_case_explained(uow, ids["own"], later)
        assert await reconciliation.save_case_explained(uow, ids["other"], later)
        assert not await reconciliation.save_case_explained(uow, ids["other"], later)
        assert await opened(uow, difference("other"), later, PAYSTACK), "explained by itself: it may come back"


async def test_a_case_is_locked_while_it_is_closed(app: PaymentsApp) -> None:
    now = app.clock.now()
    async with app.unit_of_work() as uow:
        for subject in ("other", "own"):
            await reconciliation.open_case_if_new(uow, difference(subject), now, PAYSTACK)
    await assert_locks(app.database, {"case": ("SELECT id FROM reconciliation_cases", reconciliation.lock_case_status)})


async def test_a_case_that_was_seen_comes_last(app: PaymentsApp) -> None:
    now = app.clock.now()
    async with app.unit_of_work() as uow:
        for subject in ("first", "second", "third"):
            await reconciliation.open_case_if_new(uow, difference(subject), now, PAYSTACK)
        first, second, third = await reconciliation.list_open_cases(uow, 10)
        await reconciliation.save_case_closed(uow, third.id, now, app.buyer, "statement 4711")
        for case in (first, third):
            await reconciliation.save_case_seen(uow, case.id, now + timedelta(hours=1))
        assert [case.id for case in await reconciliation.list_open_cases(uow, 10)] == [second.id, first.id]
    seen = {row["id"]: row["seen_at"] for row in (await cases(app)).values()}
    assert seen == {first.id: now + timedelta(hours=1), second.id: now, third.id: now}


async def test_each_case_is_alerted_once_and_one_that_may_resolve_itself_later(app: PaymentsApp) -> None:
    now = app.clock.now()
    hour = timedelta(hours=1)
    async with app.unit_of_work() as uow:
        for subject, kind in (("now", "charge_differs"), ("later", min(SELF_RESOLVING)), ("closed", "fee_differs")):
            await reconciliation.open_case_if_new(uow, difference(subject, kind), now, PAYSTACK)
        [closed] = [case for case in await reconciliation.list_open_cases(uow, 10) if case.subject == "closed"]
        await reconciliation.save_case_closed(uow, closed.id, now, app.buyer, "statement 4711")
    async with app.unit_of_work() as uow:
        alerted = await reconciliation.claim_unalerted_cases(uow, now, now - timedelta(seconds=1))
        assert [(case.subject, case.unexplained_minor) for case in alerted] == [("now", 150)]
        assert await reconciliation.claim_unalerted_cases(uow, now, now - timedelta(seconds=1)) == []
    async with app.unit_of_work() as uow, app.unit_of_work() as second:
        assert [case.subject for case in await reconciliation.claim_unalerted_cases(uow, now + hour, now)] == ["later"]
        assert await reconciliation.claim_unalerted_cases(second, now + hour, now) == []
