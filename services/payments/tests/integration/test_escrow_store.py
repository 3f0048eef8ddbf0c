"""The store of escrow and charges: each statement finds and changes the order that it names."""

from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

from common.database.state_changes import StateChanged
from common.ledger.posting import post
from contracts.orders import OrderDisputed, OrderPlaced
from payments.domain import postings
from payments.domain.charges import Charge, CoveringPayment
from payments.store import charges, escrow, intents, statements
from payments.use_cases.escrow.steps import hold_escrow

from .conftest import ConnectAs, PaymentsApp
from .disputes import paid


async def intent_statuses(app: PaymentsApp) -> dict[Any, str]:
    return {row["order_id"]: row["status"] for row in await app.fetch("SELECT * FROM payment_intents")}


async def failed_intent(app: PaymentsApp, placed: OrderPlaced) -> dict[str, Any]:
    """Return an intent of the order whose payment was declined."""
    intent = await app.open_intent(placed.order_id)
    async with app.unit_of_work() as uow:
        locked = await intents.lock_attempt(uow, intent["reference"])
        assert locked is not None
        assert await intents.save_intent_failed(uow, locked.id, "declined", app.clock.now())
    return intent


async def test_a_failed_attempt_that_is_paid_after_all_is_paid(app: PaymentsApp) -> None:
    """Only live intents of an order are closed with its payment; the paid one may have failed before."""
    other = await app.place_order()
    await app.open_intent(other.order_id)
    own = await app.place_order()
    intent = await failed_intent(app, own)
    await app.process_webhook(await app.pay(intent["reference"]))
    assert await intent_statuses(app) == {own.order_id: "paid", other.order_id: "pending"}


async def test_the_payment_of_an_order_closes_its_live_intents_only(app: PaymentsApp) -> None:
    own = await app.place_order()
    failed = await failed_intent(app, own)
    paid_later = await app.open_intent(own.order_id)
    assert paid_later["id"] != failed["id"]
    await app.process_webhook(await app.pay(paid_later["reference"]))
    statuses = {str(row["id"]): row["status"] for row in await app.fetch("SELECT * FROM payment_intents")}
    assert statuses == {failed["id"]: "failed", paid_later["id"]: "paid"}


async def test_a_charge_is_known_by_its_identity_or_by_a_reference_without_an_id(
    app: PaymentsApp, connect_as: ConnectAs
) -> None:
    _, reference = await paid(app)
    [row] = await app.fetch("SELECT * FROM charges")

    async def is_known(reference: str, gateway_id: str | None) -> bool:
        charge = Charge(reference, gateway_id, 500_000, "NGN", None, None, "card")
        async with app.unit_of_work() as uow:
            known = await charges.charge_is_known(uow, charge)
            orders, was_known = await charges.lock_charged_orders(uow, charge)
            assert (was_known, orders) == (known, await charges.lock_payable_orders(uow, reference))
            if known:
                with pytest.raises(StateChanged):
                    await charges.record_charge(uow, charge, "webhook", None, "quarantined", app.clock.now())
        return known

    # Another charge under the same reference is another one when both have an id of the gateway.
    expected = {row["gateway_id"]: True, "another": False, None: True}
    assert {gateway_id: await is_known(reference, gateway_id) for gateway_id in expected} == expected
    assert not await is_known("ch-another", None)
    async with connect_as(app, "admin") as admin:
        await admin.execute("UPDATE charges SET gateway_id = NULL")
    assert await is_known(reference, "another")
    assert not await is_known("ch-another", "another")


async def test_a_charge_that_was_recorded_meanwhile_holds_no_escrow(app: PaymentsApp) -> None:
    """The known charge of the reference is recorded between the read and the write: nothing is posted a second time."""
    order = await app.place_order()
    reference = (await app.open_intent(order.order_id))["reference"]
    charge, now = Charge(reference, None, order.total_minor, "NGN", None, None, "card"), app.clock.now()
    async with app.unit_of_work() as uow:
        await charges.record_charge(uow, charge, "first", None, "quarantined", now)
    with pytest.raises(StateChanged):
        async with app.unit_of_work() as uow:
            payable = await charges.lock_payable_orders(uow, reference)
            assert payable is not None
            new = charges.new_charge(replace(charge, gateway_id="second"), "second", order.order_id, "covered", now)
            posting = postings.charge(
                charge.identity,
                payable.unpaid_totals_minor,
                uuid4(),
                amount_minor=order.total_minor,
                surplus_minor=0,
                surcharge_minor=0,
            )
            payment = CoveringPayment(reference, new.id, "card", {})
            await hold_escrow(uow, posting, payable, payment, None, now, new.record)
    assert not await app.fetch("SELECT FROM escrows")
    assert not await app.fetch("SELECT FROM ledger_transactions")


async def test_a_paid_intent_is_never_spent_for_another_status(app: PaymentsApp) -> None:
    other = await app.place_order()
    await app.open_intent(other.order_id)
    own, reference = await paid(app)
    async with app.unit_of_work() as uow:
        payable = await charges.lock_payable_orders(uow, reference)
        assert payable is not None
        await charges.save_intent_spent(uow, payable.intent_id, "overpaid")
    assert await intent_statuses(app) == {own.order_id: "paid", other.order_id: "pending"}


async def test_a_dispute_freezes_its_own_order(app: PaymentsApp) -> None:
    other, own = (await paid(app))[0], (await paid(app))[0]
    await app.receive(OrderDisputed(**app.parties(own), reason="never came"))
    rows = await app.fetch("SELECT order_id FROM escrows WHERE disputed_at IS NOT NULL")
    assert [row["order_id"] for row in rows] == [own.order_id]
    async with app.unit_of_work() as uow:
        for order_id, frozen in ((own.order_id, True), (other.order_id, False)):
            held = await escrow.lock_escrow(uow, order_id)
            assert held is not None
            assert (held.order_id, held.escrow.is_disputed) == (order_id, frozen)
        assert await escrow.lock_escrow(uow, uuid4()) is None
        ids = sorted([own.order_id, other.order_id])
        assert await escrow.list_held_orders_after(uow, None, 10) == ids
        assert await escrow.list_held_orders_after(uow, ids[0], 10) == ids[1:]
        assert await escrow.list_held_orders_after(uow, None, 1) == ids[:1]


async def test_a_fee_is_missing_until_it_is_posted_for_its_charge(app: PaymentsApp) -> None:
    await paid(app)
    [charge] = await app.fetch("SELECT * FROM charges")
    async with app.unit_of_work() as uow:
        assert await charges.fee_is_missing(uow, charge["identity"])
        assert not await charges.fee_is_missing(uow, "unknown")
        assert await post(uow, postings.gateway_fee(charge["identity"], 100, "NGN"))
        assert not await charges.fee_is_missing(uow, charge["identity"])


async def test_a_statement_without_a_balance_is_never_signed(app: PaymentsApp) -> None:
    with pytest.raises(AssertionError, match="no balance of vendor_payable"):
        async with app.unit_of_work() as uow:
            await statements.number_statement(uow, uuid4(), "key")
