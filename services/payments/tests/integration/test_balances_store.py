"""The store of balances, their holds and closed payments: each statement finds and changes the row that it names."""

from typing import Any
from uuid import UUID, uuid4

import pytest

from common.auth.caller import THE_SERVICE
from common.database.state_changes import StateChanged
from payments.domain.balances import Parts
from payments.store import balances, closed_intents

from .balances import balance_of, credit_reward
from .conftest import PaymentsApp
from .purchases import place_purchase


async def _open(app: PaymentsApp, order_id: UUID | None, balance_minor: int, **body: Any) -> UUID:
    """Return the id of an intent that holds this part of the balance."""
    response = await app.request_intent(order_id, balanceMinor=balance_minor, **body)
    assert response.status_code == 201, response.text
    return UUID(response.json()["data"]["id"])


async def _two_payments(app: PaymentsApp) -> dict[UUID, UUID]:
    """Return the orders of a buyer by their intents, of which one holds 30,000 kobo and the other 20,000."""
    await credit_reward(app, 90_000)
    orders = [(await app.place_order()).order_id for _ in range(2)]
    held = zip(orders, (30_000, 20_000), strict=True)
    return {await _open(app, order_id, amount_minor): order_id for order_id, amount_minor in held}


async def _statuses(app: PaymentsApp, table: str, key: str, ids: Any) -> list[str]:
    rows = await app.fetch(f"SELECT {key}, status FROM {table}")
    found = {row[key]: row["status"] for row in rows}
    return [found[one] for one in ids]


@pytest.mark.parametrize("own_is_older", [True, False])
async def test_a_balance_is_that_of_its_own_user(app: PaymentsApp, own_is_older: bool) -> None:
    own, other = uuid4(), uuid4()
    credits_ = [(own, Parts(1_000, 20_000)), (other, Parts(300, 4_000))]
    async with app.unit_of_work() as uow:
        for user_id, parts in credits_ if own_is_older else reversed(credits_):
            await balances.record_credit(uow, user_id, "refund", parts, app.clock.now())
    async with app.unit_of_work() as uow:
        assert await balances.lock_balance(uow, own) == Parts(1_000, 20_000)
        assert await balances.lock_balance(uow, uuid4()) == Parts()
        await balances.record_withdrawal(uow, own, Parts(200, 5_000), app.clock.now())
    async with app.unit_of_work() as uow:
        assert await balances.lock_balance(uow, own) == Parts(800, 15_000)
        assert await balances.lock_balance(uow, other) == Parts(300, 4_000)
    lines = await app.fetch("SELECT user_id, kind, amount_minor, balance_minor FROM balance_lines ORDER BY sequence")
    assert [tuple(line)[1:] for line in lines if line["user_id"] == own] == [
        ("refund", 21_000, 21_000),
        ("withdrawn", -5_200, 15_800),
    ]
    assert [tuple(line)[1:] for line in lines if line["user_id"] == other] == [("refund", 4_300, 4_300)]


async def test_a_hold_is_that_of_its_own_payment(app: PaymentsApp) -> None:
    payments = await _two_payments(app)
    own, other = payments
    async with app.unit_of_work() as uow:
        for intent_id, amount_minor in ((own, 30_000), (other, 20_000)):
            hold = await balances.lock_hold(uow, intent_id)
            assert hold is not None
            assert (hold.order_id, hold.parts, hold.status) == (payments[intent_id], Parts(amount_minor, 0), "held")
        assert await balances.lock_hold(uow, uuid4()) is None
        assert await balances.lock_other_holds(uow, own, [payments[own]]) == {}
        assert await balances.lock_other_holds(uow, own, list(payments.values())) == {other: 20_000}
        await balances.save_hold_returned(uow, own, app.clock.now())
        with pytest.raises(StateChanged):
            await balances.save_hold_returned(uow, own, app.clock.now())
        assert await balances.lock_other_holds(uow, other, list(payments.values())) == {}
    assert await _statuses(app, "balance_holds", "intent_id", payments) == ["returned", "held"]


async def test_a_spent_hold_is_that_of_its_own_payment(app: PaymentsApp) -> None:
    payments = await _two_payments(app)
    own, _ = payments
    await credit_reward(app, 5_000, uuid4())
    async with app.unit_of_work() as uow:
        hold = await balances.lock_hold(uow, own)
        assert hold is not None
        await balances.save_hold_spent(uow, hold, Parts(30_000, 0), app.clock.now())
    assert await _statuses(app, "balance_holds", "intent_id", payments) == ["spent", "held"]
    assert (await balance_of(app))["heldMinor"] == 20_000
    with pytest.raises(StateChanged):
        async with app.unit_of_work() as uow:
            await balances.save_hold_spent(uow, hold, Parts(1, 0), app.clock.now())


async def test_only_a_returned_hold_is_held_again(app: PaymentsApp) -> None:
    payments = await _two_payments(app)
    own, _ = payments

    async def hold_again() -> None:
        async with app.unit_of_work() as uow:
            await balances.record_hold(uow, own, payments[own], app.buyer, Parts(10_000, 0), app.clock.now())

    with pytest.raises(StateChanged):
        await hold_again()
    async with app.unit_of_work() as uow:
        hold = await balances.lock_hold(uow, own)
        assert hold is not None
        await balances.save_hold_returned(uow, own, app.clock.now())
        await balances.record_return(uow, hold, hold.parts, app.clock.now())
    await hold_again()
    async with app.unit_of_work() as uow:
        again = await balances.lock_hold(uow, own)
    assert again is not None
    assert (again.status, again.hold_count, again.parts) == ("held", 2, Parts(10_000, 0))
    assert (await balance_of(app))["heldMinor"] == 30_000


async def test_a_further_order_of_a_purchase_has_the_hold_of_its_payment(app: PaymentsApp) -> None:
    await credit_reward(app, 90_000)
    purchase = await place_purchase(app)
    intent_id = await _open(app, None, 50_000, purchaseId=str(purchase.id))
    async with app.unit_of_work() as uow:
        for order in purchase.orders:
            assert await balances.lock_other_holds(uow, uuid4(), [order.order_id]) == {intent_id: 50_000}
        assert await balances.lock_other_holds(uow, uuid4(), [uuid4()]) == {}


async def test_only_the_hold_of_an_ended_payment_is_left(app: PaymentsApp) -> None:
    own, _ = await _two_payments(app)
    reads = app.dependencies.database.reads_for(THE_SERVICE)
    assert await balances.list_left_held(reads) == []
    end = "UPDATE payment_intents SET status = 'closed', opening_until = NULL WHERE id = $1 RETURNING reference"
    [closed] = await app.fetch(end, own)
    assert await balances.list_left_held(reads) == [closed["reference"]]
    async with app.unit_of_work() as uow:
        await balances.save_hold_returned(uow, own, app.clock.now())
    assert await balances.list_left_held(reads) == []


async def test_only_the_payment_with_another_part_of_the_balance_is_closed(app: PaymentsApp) -> None:
    payments = await _two_payments(app)
    own, _ = payments
    async with app.unit_of_work() as uow:
        close = closed_intents.close_intents_of_other_balance
        assert await close(uow, payments[own], app.buyer, 30_000) == []
        assert await close(uow, payments[own], uuid4(), 1) == []
        assert await close(uow, payments[own], app.buyer, 30_001) == [(own, 30_000)]
        assert await close(uow, payments[own], app.buyer, 1) == []
    assert await _statuses(app, "payment_intents", "id", payments) == ["closed", "pending"]


async def test_only_the_payment_of_another_amount_of_a_purchase_is_closed(app: PaymentsApp) -> None:
    await credit_reward(app, 90_000)
    purchases = [await place_purchase(app) for _ in range(2)]
    intents = [await _open(app, None, 10_000, purchaseId=str(purchase.id)) for purchase in purchases]
    async with app.unit_of_work() as uow:
        close = closed_intents.close_outdated_intents
        assert await close(uow, purchases[0].id, app.buyer, 1_000_000) == []
        assert await close(uow, purchases[0].id, uuid4(), 1) == []
        assert await close(uow, purchases[0].id, app.buyer, 999_999) == [(intents[0], 10_000)]
        assert await close(uow, purchases[0].id, app.buyer, 1) == []
    assert await _statuses(app, "payment_intents", "id", intents) == ["closed", "pending"]


async def test_a_payment_by_another_channel_is_replaced_by_a_transfer(app: PaymentsApp) -> None:
    payments = await _two_payments(app)
    own, _ = payments
    now = app.clock.now()
    async with app.unit_of_work() as uow:
        close = closed_intents.close_replaced_intents
        assert await close(uow, payments[own], uuid4(), now) == []
        assert await close(uow, payments[own], app.buyer, now) == [(own, 30_000)]
        assert await close(uow, payments[own], app.buyer, now) == []
    assert await _statuses(app, "payment_intents", "id", payments) == ["closed", "pending"]


async def test_only_orders_that_are_still_to_be_paid_are_locked(app: PaymentsApp) -> None:
    orders = [(await app.place_order()).order_id for _ in range(3)]
    async with app.unit_of_work() as uow:
        assert await closed_intents.lock_unpaid_orders(uow, orders[:2]) == 2
    await app.fetch("UPDATE payable_orders SET status = 'cancelled' WHERE id = $1 RETURNING 1", orders[0])
    async with app.unit_of_work() as uow:
        assert await closed_intents.lock_unpaid_orders(uow, orders[:2]) == 1
