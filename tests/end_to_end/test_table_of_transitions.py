"""The table of transitions (contract section 6): each row executed through the gateway, with the sandbox as the payment
gateway.

All rows except those of the timers run concurrently, and each is checked by itself: its states, in this order. The
tests of the orders service try every pair of state and trigger that is no row.
"""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import Any
from uuid import uuid4

import asyncpg
import pytest
import pytest_asyncio

from campus_tools.launcher.system import System
from operations.audit import findings_of
from operations.journey import Marketplace
from testkit.fixtures import eventually
from testkit.marketplaces import marketplace_at
from tests.end_to_end.conftest import Users, new_address
from tests.end_to_end.order_scenario import COMPLAINT, PRICE_MINOR, Scenario
from tests.running_system import restart_processes

# What is walked at the same moment; more would only wait for each other.
AT_ONCE = 8
# Long enough for a checkout and its intent on a busy machine. The other two have nothing to wait for.
SHORT_WINDOWS = {"PAYMENT_WINDOW_SECONDS": "6", "VENDOR_IDLE_SECONDS": "1", "PIN_WINDOW_SECONDS": "1"}
REFUNDS_DIFFER = (
    "what each order shows as refunded is what payments posted",
    "an order shows as refunded what its sales show",
)

# Each row: what the order went through, as the contract has it.

Walk = Callable[[Scenario], Awaitable[list[str]]]


async def checkout(scenario: Scenario) -> list[str]:
    return [(await scenario.placed())["status"]]


async def cancel_unpaid(scenario: Scenario, part: str) -> list[str]:
    return [await scenario.cancel(await scenario.placed(), part)]


async def charge(scenario: Scenario) -> list[str]:
    order = await scenario.placed()
    await scenario.pay(order)
    return [await scenario.reach(order, "paid_escrow")]


async def late_charge(scenario: Scenario) -> list[str]:
    order = await scenario.placed()
    path = [await scenario.cancel(order, "buyer")]
    await scenario.pay(order)
    return [*path, await scenario.reach(order, "paid_escrow")]


async def late_charge_without_stock(scenario: Scenario) -> list[str]:
    last_one = await scenario.sell(1)
    order = await scenario.placed(product_id=last_one)
    path = [await scenario.cancel(order, "buyer")]
    await scenario.market.checkout(scenario.users.other_buyer, last_one)
    await scenario.pay(order)
    return [*path, *await money_goes_back(scenario, order)]


async def money_goes_back(scenario: Scenario, order: dict[str, Any]) -> list[str]:
    """`refund_pending` may be over before the first poll; nothing else leads to `refunded` here."""
    await scenario.reach(order, "refund_pending", "refunded")
    return ["refund_pending", await scenario.reach(order, "refunded")]


async def dispatch(scenario: Scenario) -> list[str]:
    return [(await scenario.act(scenario.users.vendor, await scenario.paid(), "dispatch"))["status"]]


async def pin(scenario: Scenario, state: str, part: str) -> list[str]:
    order = await scenario.held(state)
    return [await scenario.deliver(order, part), await scenario.reach(order, "paid")]


async def cancel_paid(scenario: Scenario, state: str, part: str) -> list[str]:
    order = await scenario.held(state)
    return [await scenario.cancel(order, part), await scenario.reach(order, "refunded")]


async def dispute(scenario: Scenario, state: str) -> list[str]:
    return [(await scenario.act(scenario.users.buyer, await scenario.held(state), "dispute", COMPLAINT))["status"]]


async def release(scenario: Scenario, state: str) -> list[str]:
    order = await scenario.held(state)
    assert (await scenario.release(order))["remainingLockedMinor"] == 0
    return [await scenario.reach(order, "paid")]


async def chargeback(scenario: Scenario, state: str) -> list[str]:
    order = await scenario.held(state)
    await scenario.charge_back(order)
    return [await scenario.reach(order, "disputed")]


async def chargeback_after_release(scenario: Scenario) -> list[str]:
    order = await scenario.completed()
    before = (await scenario.market.wallet(scenario.users.vendor))["heldMinor"]
    dispute_id = await scenario.charge_back(order)

    async def held() -> bool | None:
        return (await scenario.market.wallet(scenario.users.vendor))["heldMinor"] > before or None

    await scenario.market.until("the hold in the wallet", held, 60)
    path = [(await scenario.show(order))["status"]]
    await scenario.decide_chargeback(dispute_id, "win")

    async def free() -> bool | None:
        return (await scenario.market.wallet(scenario.users.vendor))["heldMinor"] == before or None

    # The wallets that later tests check no longer change.
    await scenario.market.until("the hold is free", free, 60)
    return path


async def chargeback_decided(scenario: Scenario, act: str, outcome: str) -> list[str]:
    """Decide as the bank, which ends no dispute; the resolution shows it."""
    order = await scenario.paid()
    dispute_id = await scenario.charge_back(order)
    path = [await scenario.reach(order, "disputed")]
    await scenario.decide_chargeback(dispute_id, act)

    async def decision() -> str | None:
        return (await scenario.dispute_of(order))["chargebackOutcome"]

    path += [await scenario.market.until("the bank's decision", decision, 60), (await scenario.show(order))["status"]]
    path.append(await scenario.approve(await scenario.prepare(order, outcome)))
    path.append(await scenario.reach(order, "refunded" if outcome == "buyer" else "paid"))
    return [*path, (await scenario.dispute_of(order))["outcome"]]


async def resolve(scenario: Scenario, outcome: str) -> list[str]:
    order = await scenario.disputed()
    path = [await scenario.approve(await scenario.prepare(order, outcome))]
    path.append(await scenario.reach(order, "refunded" if outcome == "buyer" else "paid"))
    refund_minor = {"buyer": PRICE_MINOR, "split": PRICE_MINOR // 4, "vendor": 0}[outcome]
    return [*path, await scenario.refunded(order, refund_minor)]


async def returns(scenario: Scenario) -> list[str]:
    order = await scenario.completed(3)
    path = [await scenario.give_back(order, 1), await scenario.refunded(order, PRICE_MINOR)]
    return [*path, await scenario.give_back(order, 2), await scenario.refunded(order, 3 * PRICE_MINOR)]


async def failed_refund(scenario: Scenario) -> list[str]:
    """Check that the order waits and an alert is raised; maker and checker send the money to another account."""
    order, market, users = await scenario.paid(), scenario.market, scenario.users
    reference = order["intent"]["reference"]
    rule = {"fail": "The card is closed", "times": 1, "match": reference}
    await market.sandbox.put("/control/faults", json={"refund_call": rule})
    path = [await scenario.cancel(order, "staff")]

    async def failed() -> dict[str, Any] | None:
        query = {"orderId": order["id"], "status": "failed"}
        found = await market.get("/api/refunds", users.auditor, params=query)
        return found[0] if found else None

    refund = await market.until("the refund to fail", failed, 60)

    async def alerted() -> dict[str, Any] | None:
        alerts = await market.get("/api/alerts", users.ops, params={"limit": 100})
        return next((alert for alert in alerts if order["number"] in alert["detail"]), None)

    alert = await market.until("the alert", alerted, 60)
    path += [alert["severity"], (await scenario.show(order))["status"]]
    account = {"bank_code": "058", "account_number": "0123456789", "account_name": "Chidi Okafor"}
    await market.sandbox.put("/control/accounts", json=account)
    destination = {"accountNumber": "0123456789", "bankCode": "058", "accountName": "Chidi Okafor"}
    elsewhere = {"action": "other_destination", "destination": destination, "reason": "the card is closed"}
    prepared = await market.post(f"/api/refunds/{refund['id']}/prepare", elsewhere, users.maker)
    await market.post(f"/api/refunds/{refund['id']}/approve", {"hash": prepared["hash"]}, users.checker)
    return [*path, await scenario.reach(order, "refunded")]


PARTS = ("buyer", "vendor", "staff")
BACK = ("refund_pending", "refunded")
ROWS: dict[str, tuple[Walk, tuple[str, ...]]] = {
    "nothing, checkout": (checkout, ("Processing",)),
    **{f"Processing, cancel by {part}": (partial(cancel_unpaid, part=part), ("cancelled",)) for part in PARTS},
    "Processing, escrow held": (charge, ("paid_escrow",)),
    "cancelled, escrow held": (late_charge, ("cancelled", "paid_escrow")),
    "cancelled, escrow held, no stock": (late_charge_without_stock, ("cancelled", *BACK)),
    "paid_escrow, dispatch": (dispatch, ("dispatched",)),
    **{
        f"{state}, right PIN by {part}, escrow released": (
            partial(pin, state=state, part=part),
            ("delivered", "paid"),
        )
        for state in ("paid_escrow", "dispatched")
        for part in ("vendor", "hub agent", "buyer")
    },
    **{
        f"paid_escrow, cancel by {part}": (partial(cancel_paid, state="paid_escrow", part=part), BACK) for part in PARTS
    },
    **{
        f"dispatched, cancel by {part}": (partial(cancel_paid, state="dispatched", part=part), BACK)
        for part in ("vendor", "staff")
    },
    **{
        f"{state}, {trigger}": (partial(walk, state=state), (end,))
        for state in ("paid_escrow", "dispatched")
        for trigger, walk, end in (
            ("dispute", dispute, "disputed"),
            ("full release by staff", release, "paid"),
            ("chargeback", chargeback, "disputed"),
        )
    },
    "paid, chargeback": (chargeback_after_release, ("paid",)),
    **{
        f"disputed, chargeback {outcome}, resolved for the {end}": (
            partial(chargeback_decided, act=act, outcome=end),
            ("disputed", outcome, "disputed", *states, end),
        )
        for act, outcome in (("win", "won"), ("lose", "lost"))
        for end, states in (("buyer", BACK), ("vendor", ("delivered", "paid")))
    },
    "disputed, resolved for the buyer": (partial(resolve, outcome="buyer"), (*BACK, "refunded")),
    "disputed, resolved for the vendor": (partial(resolve, outcome="vendor"), ("delivered", "paid", "paid")),
    "disputed, split": (partial(resolve, outcome="split"), ("delivered", "paid", "paid")),
    "paid, return of a part, return of the rest": (returns, ("paid", "paid", "refunded", "refunded")),
    "refund_pending, refund failed, another destination": (
        failed_refund,
        ("refund_pending", "SEV-2", "refund_pending", "refunded"),
    ),
}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def scenario(system: System, users: Users) -> Any:
    market = marketplace_at(system.base_url, system.sandbox_url, system.secrets)
    market.http.headers["X-Forwarded-For"] = new_address()
    scenario = Scenario(market, users, "")
    scenario.product_id = await scenario.sell(500)
    yield scenario
    await market.close()


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def walked(scenario: Scenario) -> dict[str, list[str] | Exception]:
    """Return what each row went through, or what went wrong with it."""
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(walk: Walk) -> list[str] | Exception:
        async with gate:
            try:
                return await walk(scenario)
            except Exception as error:
                return error

    paths = await asyncio.gather(*(one(walk) for walk, _ in ROWS.values()))
    return dict(zip(ROWS, paths, strict=True))


@pytest.mark.parametrize("row", ROWS)
async def test_each_row_of_the_table_is_walked(walked: dict[str, list[str] | Exception], row: str) -> None:
    path = walked[row]
    if isinstance(path, Exception):
        raise path
    assert tuple(path) == ROWS[row][1]


async def test_the_ledgers_agree_after_all_rows_and_the_audit_finds_a_unposted_refund(
    system: System, market: Marketplace, walked: dict[str, list[str] | Exception]
) -> None:
    assert await findings_of(system.secrets, market.sandbox) == []
    orders = await asyncpg.connect(system.secrets["DATABASE_URL"].rpartition("/")[0] + "/campus_orders")
    change = "UPDATE orders SET refunded_minor = refunded_minor + $2 WHERE id = $1"
    try:
        order_id = await orders.fetchval("SELECT id FROM orders WHERE status = 'paid' AND refunded_minor = 0 LIMIT 1")
        await orders.execute(change, order_id, 1)
        try:
            found = await findings_of(system.secrets, market.sandbox, settle_seconds=0)
        finally:
            await orders.execute(change, order_id, -1)
    finally:
        await orders.close()
    broken = {finding.rule: finding.rows for finding in found}
    for invariant in REFUNDS_DIFFER:
        assert any(str(order_id) in row for row in broken[invariant])
    assert await findings_of(system.secrets, market.sandbox) == []


# The rows that need a stopped part of the system, or other windows


# Sessions in a transaction or a statement.
_AT_WORK = "SELECT count(*) FROM pg_stat_activity WHERE application_name = $1 AND state <> 'idle'"


@asynccontextmanager
async def suspended(system: System, name: str) -> AsyncIterator[None]:
    """Stop the process for a while, as one that the machine gave no time."""
    process_id = system.process(name).pid
    assert process_id is not None
    await eventually(lambda: stopped_between_transactions(system, name, process_id))
    try:
        yield
    finally:
        os.kill(process_id, signal.SIGCONT)


async def stopped_between_transactions(system: System, name: str, process_id: int) -> bool:
    """Stop it, and lets it go on at once when it holds a transaction, and with it locks that others would wait for."""
    os.kill(process_id, signal.SIGSTOP)
    connection = await asyncpg.connect(system.secrets["DATABASE_URL"])
    try:
        at_work = await connection.fetchval(_AT_WORK, name)
    finally:
        await connection.close()
    if at_work:
        os.kill(process_id, signal.SIGCONT)
    return not at_work


async def test_a_release_committed_before_the_freeze_arrived_makes_the_disputed_order_paid(
    system: System, scenario: Any
) -> None:
    """The event of a dispute needs a tenth of a second: a release within it precedes the freeze."""
    order = await scenario.dispatched()
    async with suspended(system, "payments-worker"):
        assert (await scenario.act(scenario.users.buyer, order, "dispute", COMPLAINT))["status"] == "disputed"
        resolution_id = await scenario.prepare(order, "buyer")
        assert (await scenario.release(order))["remainingLockedMinor"] == 0
    assert await scenario.reach(order, "paid") == "paid"
    dispute = await scenario.dispute_of(order)
    assert (dispute["outcome"], dispute["endedAt"] is None) == ("released", False)
    url, checker = f"/api/dispute-resolutions/{resolution_id}", scenario.users.checker
    read = {"hash": (await scenario.market.get(url, checker))["hash"]}
    for verb, body, status in (("approve", read, 409), ("reject", {}, 200)):
        response = await scenario.market.http.post(f"{url}/{verb}", json=body, headers=checker.headers)
        assert response.status_code == status
    # Payments' freeze has ended as well: returns are refunded as after any other release.
    assert await scenario.give_back(order, 1) == "refunded"
    await scenario.refunded(order, order["totalMinor"])
    assert await findings_of(system.secrets, scenario.market.sandbox) == []


async def test_products_returned_before_the_release_arrived_are_refunded(system: System, scenario: Any) -> None:
    order = await scenario.paid(2)
    async with suspended(system, "payments-worker"):
        assert await scenario.deliver(order, "vendor") == "delivered"
        path = [await scenario.give_back(order, 1), await scenario.give_back(order, 1)]
    assert path == ["delivered", "refunded"]
    assert await scenario.refunded(order, order["totalMinor"]) == "refunded"
    assert await findings_of(system.secrets, scenario.market.sandbox) == []


@contextmanager
def short_windows(system: System) -> Iterator[None]:
    """Yield the orders service under other settings for a while."""
    names = ("orders-api", "orders-worker")
    restart_processes(system, names, SHORT_WINDOWS)
    try:
        yield
    finally:
        restart_processes(system, names, dict.fromkeys(SHORT_WINDOWS))


async def test_each_timer_advances_its_orders_and_a_late_charge_brings_an_expired_one_back(
    system: System, scenario: Any
) -> None:
    """The three timers, their windows cut to seconds, in the running worker; what was written before keeps its own
    time.
    """
    idle, undelivered, untouched = await asyncio.gather(scenario.placed(), scenario.paid(), scenario.paid())
    last_one = await scenario.sell(1)
    with short_windows(system):
        late, too_late = await asyncio.gather(scenario.placed_in_time(), scenario.placed_in_time(last_one))
        assert (await scenario.act(scenario.users.vendor, undelivered, "dispatch"))["status"] == "dispatched"
        await scenario.pay(idle)
        ends = await asyncio.gather(
            scenario.reach(late, "expired"),
            scenario.reach(too_late, "expired"),
            scenario.reach(undelivered, "disputed"),
            money_goes_back(scenario, idle),
        )
    assert ends == ["expired", "expired", "disputed", ["refund_pending", "refunded"]]
    assert (await scenario.dispute_of(undelivered))["cause"] == "pin_window"
    assert (await scenario.show(untouched))["status"] == "paid_escrow"
    # The unit that the expired order reserved is for sale again, and then sold.
    await scenario.market.checkout(scenario.users.other_buyer, last_one, key=uuid4())
    await scenario.pay(late)
    await scenario.pay(too_late)
    assert await scenario.reach(late, "paid_escrow") == "paid_escrow"
    assert await money_goes_back(scenario, too_late) == ["refund_pending", "refunded"]
    assert await findings_of(system.secrets, scenario.market.sandbox) == []
