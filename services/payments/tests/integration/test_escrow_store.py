"""The store of escrow and charges: each statement finds and changes the order that it names."""

from contextlib import nullcontext
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

from .conftest import PaymentsApp
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


async def test_a_charge_is_known_by_its_identity_or_by_a_reference_without_an_id(app: PaymentsApp) -> None:
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
    async with app.connected("admin") as admin:
        await admin.execute("UPDATE charges SET gateway_id = NULL")
    assert await is_known(reference, "another")
    assert not await is_known("ch-another", "another")


async def hold(app: PaymentsApp, charge: Charge) -> None:
    """Hold the money of a charge for the order of its reference, as for a charge that covers it."""
    now = app.clock.now()
    async with app.unit_of_work() as uow:
        payable = await charges.lock_payable_orders(uow, charge.reference)
        assert payable is not None
        totals_minor = {order.order_id: order.total_minor for order in payable.orders}
        posting = postings.charge(
            charge.identity, totals_minor, uuid4(), amount_minor=charge.amount_minor, surplus_minor=0, surcharge_minor=0
        )
        new = charges.new_charge(charge, "webhook", payable.first.order_id, "covered", now)
        unpaid = replace(payable, orders=tuple(order._replace(is_paid=False) for order in payable.orders))
        await hold_escrow(uow, posting, unpaid, CoveringPayment(charge.reference, new.id), None, now, new.record)


@pytest.mark.parametrize("meanwhile", ["its charge is recorded", "the order is paid", "the intent is paid", "nothing"])
async def test_a_charge_holds_escrow_only_while_it_and_its_order_are_as_read(app: PaymentsApp, meanwhile: str) -> None:
    """Charge, posting, escrow and event are one statement, of which nothing is written for another state."""
    order = await app.place_order()
    reference = (await app.open_intent(order.order_id))["reference"]
    charge = Charge(reference, "second", order.total_minor, "NGN", None, None, "card")
    async with app.unit_of_work() as uow:
        if meanwhile == "its charge is recorded":
            first = replace(charge, gateway_id=None)
            await charges.record_charge(uow, first, "first", None, "quarantined", app.clock.now())
        elif meanwhile == "the order is paid":
            await uow.execute("UPDATE payable_orders SET status = 'paid_escrow'")
        elif meanwhile == "the intent is paid":
            await uow.execute("UPDATE payment_intents SET status = 'paid', paid_at = now()")
    with nullcontext() if meanwhile == "nothing" else pytest.raises(StateChanged):
        await hold(app, charge)
    expected = 1 if meanwhile == "nothing" else 0
    for table in ("escrows", "ledger_transactions"):
        assert len(await app.fetch(f"SELECT FROM {table}")) == expected
    assert len(await app.published("payments.escrow_held.v1")) == expected


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
