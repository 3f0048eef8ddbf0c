"""The races on one order: actions and situations by the table of its transitions."""

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Any, Final, cast

from lab.races.actions import Action, End, Situation, command, timer, webhook
from lab.races.marketplace import RacingMarketplace
from lab.stepped.actions import (
    APPROVE_RESOLUTION,
    CANCEL_ORDER,
    DISPATCH,
    DISPUTE,
    REJECT_RESOLUTION,
    RELEASE,
    VERIFY_DELIVERY,
    Command,
    Facts,
    check_out,
    create_product,
    deliver,
    pay,
    place_order,
    refund_to_account,
    request_return,
    resolve,
    with_pin,
)
from lab.stepped.actors import BUYER, CHECKER, MAKER, SUPPORT, VENDOR, User
from lab.stepped.scenarios.steps import PRICE_MINOR, paid_order, placed_order, product

AUDITOR: Final = User.of("AUDITOR")
_BUYER2: Final = User.of("BUYER2")
_UNITS: Final = 2
_TIMES: Final = 2
# As many races share the passing of time and the audit.
_BATCH: Final = 20
# Where an order has nothing left in escrow.
WITHOUT_ESCROW: Final = ("Processing", "expired", "cancelled", "paid", "refunded", "refund_pending")


# The actions


def _webhook(name: str, causes: str, key: str, **options: Any) -> Action:
    """Return the gateway's webhook that `prepare`, or the situation, left under this key of the order."""
    return webhook(name, causes, lambda order: bytes(order[key]), **options)


def _timer(name: str, kind: str) -> Action:
    async def prepare(market: RacingMarketplace, order: Facts) -> None:
        due = "UPDATE order_timers SET due_at = $3 WHERE order_id = $1 AND kind = $2"
        await market.databases["orders"].execute(due, order["id"], kind, market.clock.now())

    return timer(name, name, "orders-worker", "fire-timers", prepare)


def at_gateway(act: str, key: str) -> Any:
    """Return the preparation in which this happens to the charge, and whose webhook is on its way."""

    async def prepare(market: RacingMarketplace, order: Facts) -> None:
        await market.sandbox.act(f"charges/{order['reference']}/{act}")
        order[key] = await market.webhooks.claim(order["reference"])

    return prepare


async def _refunded_in_the_dashboard(market: RacingMarketplace, order: Facts) -> None:
    """Refund a third of the charge without a request of ours."""
    refund = await market.sandbox.act(f"charges/{order['reference']}/refund", {"amount": PRICE_MINOR // 3})
    await market.sandbox.act(f"refunds/{refund['id']}/process")
    order["dashboard refund"] = await market.webhooks.claim(order["reference"])


async def _refunds_are_due(market: RacingMarketplace, order: Facts) -> None:
    due = "UPDATE refunds SET due_at = $2 WHERE order_id = $1 AND due_at IS NOT NULL"
    await market.databases["payments"].execute(due, order["id"], market.clock.now())


def _approve(name: str, causes: str) -> Action:
    return command(name, f"{causes} escrow_fully_released", CHECKER, APPROVE_RESOLUTION)


def _return(name: str, causes: str, number: int) -> Action:
    return command(name, causes, VENDOR, Command(f"/api/return-requests/{{return{number}}}/approve"))


_paid_at_gateway = at_gateway("pay", "charge")
BUYER_CANCELS: Final = command("buyer_cancels", "buyer_cancels", BUYER, CANCEL_ORDER)
VENDOR_CANCELS: Final = command("vendor_cancels", "vendor_cancels", VENDOR, CANCEL_ORDER)
STAFF_CANCELS: Final = command("staff_cancels", "staff_cancels", SUPPORT, CANCEL_ORDER)
VENDOR_DISPATCHES: Final = command("vendor_dispatches", "vendor_dispatches", VENDOR, DISPATCH)
PIN: Final = command("pin_accepted", "pin_accepted escrow_fully_released", VENDOR, VERIFY_DELIVERY)
BUYER_DISPUTES: Final = command("buyer_disputes", "buyer_disputes", BUYER, DISPUTE)
STAFF_RELEASE: Final = command("staff_release", "escrow_fully_released", CHECKER, RELEASE)
REJECT: Final = command("resolution_rejected", "", CHECKER, REJECT_RESOLUTION)
CHARGE: Final = _webhook("charge", "escrow_held", "charge", prepare=_paid_at_gateway)
LATE_CHARGE: Final = _webhook("charge", "escrow_held_without_stock", "charge", prepare=_paid_at_gateway)
CHARGEBACK: Final = _webhook(
    "chargeback", "chargeback_opened", "chargeback", prepare=at_gateway("dispute", "chargeback")
)
DASHBOARD_REFUND: Final = _webhook("dashboard_refund", "", "dashboard refund", prepare=_refunded_in_the_dashboard)
REFUND_SETTLED: Final = _webhook("refund_settled", "refund_settled", "refunded")
REFUND_FAILED: Final = _webhook("refund_failed", "refund_failed", "refund failed")
REFUND_RETURNED: Final = _webhook("refund_returned", "refund_failed", "refund returned")
PAYMENT_WINDOW: Final = _timer("payment_window_ended", "payment_window")
VENDOR_IDLE: Final = _timer("vendor_idle", "vendor_idle")
PIN_WINDOW: Final = _timer("pin_window_ended", "pin_window")
SETTLE_REFUNDS: Final = timer(
    "settle_refunds", "refund_settled refund_failed", "payments-worker", "settle-refunds", _refunds_are_due
)


# The situations


async def _paid(market: RacingMarketplace) -> Facts:
    return await with_pin(market, await paid_order(market))


async def _dispatched(market: RacingMarketplace) -> Facts:
    order = await _paid(market)
    await DISPATCH.run(market, VENDOR, order)
    return order


async def _end_order(market: RacingMarketplace, order: Facts, end: str) -> Facts:
    """Return the order after its cancellation, or the end of its payment window."""
    if end == "cancelled":
        await CANCEL_ORDER.post(market, BUYER, order)
    else:
        async with market.alone:
            await PAYMENT_WINDOW.prepare(market, order)
            await market.timer("orders-worker", "fire-timers")
    await market.run_until_idle()
    return order


async def _ended(market: RacingMarketplace, end: str) -> Facts:
    return await _end_order(market, await placed_order(market), end)


async def _sold_out(market: RacingMarketplace, end: str) -> Facts:
    """Return an order that was cancelled or expired, after another buyer has ordered the last unit since."""
    last = await create_product(market, VENDOR, PRICE_MINOR, stock=1)
    order = await _end_order(market, await place_order(market, last), end)
    await check_out(market, _BUYER2, last)
    await market.run_until_idle()
    return order


async def _disputed(market: RacingMarketplace, outcome: str) -> Facts:
    order = await _dispatched(market)
    await DISPUTE.run(market, BUYER, order)
    return {**order, **await resolve(market, order["id"], outcome, PRICE_MINOR // 2 if outcome == "split" else None)}


async def _returned(market: RacingMarketplace) -> Facts:
    """Paid, with two return requests of one unit each."""
    order = await place_order(market, await product(market), _UNITS)
    await pay(market, order)
    await deliver(market, order)
    for number in range(_UNITS):
        order[f"return{number}"] = (await request_return(market, order["id"], order["items"][0]["id"]))["id"]
    await market.run_until_idle()
    return order


async def _refund_pending(market: RacingMarketplace, end: str) -> Facts:
    """End the refund at the gateway, and its webhook is on its way."""
    order = await _paid(market)
    await CANCEL_ORDER.run(market, SUPPORT, order)
    return await _refund_ended(market, order, end)


async def _return_failed(market: RacingMarketplace) -> Facts:
    """Paid, a unit was returned, and the gateway has failed the refund; its webhook is on its way."""
    order = await _returned(market)
    await market.post(f"/api/return-requests/{order['return0']}/approve", VENDOR)
    await market.run_until_idle()
    return await _refund_ended(market, order, "fail")


async def _refund_ended(market: RacingMarketplace, order: Facts, end: str) -> Facts:
    [refund_id] = await pending_refunds(market, order)
    await market.sandbox.act(f"refunds/{refund_id}/{end}")
    key = "refunded" if end == "process" else "refund failed"
    return {**order, key: await market.webhooks.claim(order["reference"])}


async def _refund_returned(market: RacingMarketplace) -> Facts:
    """Return an order whose refund reached a bank account and came back; the webhook is on its way."""
    order = await _refund_pending(market, "fail")
    await market.send_webhook(order["refund failed"])
    await market.run_until_idle()
    [refund] = await market.get(f"/api/refunds?orderId={order['id']}", MAKER)
    reference = await refund_to_account(market, refund["id"])
    await market.run_until_idle()
    await market.sandbox.act(f"transfers/{reference}/succeed")
    await market.run_until_idle()
    await market.sandbox.act(f"transfers/{reference}/reverse")
    return {**order, "refund returned": await market.webhooks.claim(reference)}


# The end


async def pending_refunds(market: RacingMarketplace, order: Facts) -> list[str]:
    rows = await market.sandbox.listed("refund", reference=order["reference"])
    return [str(row["id"]) for row in rows if row["status"] == "pending"]


async def read(market: RacingMarketplace, order: Facts) -> End:
    """Return the order as its buyer sees it, the balances of both ledgers, and the money at the gateway."""
    found = await market.get(f"/api/orders/{order['id']}", BUYER)
    refunds = await market.get(f"/api/refunds?orderId={order['id']}&limit=100", MAKER)
    gateway = await market.sandbox.listed("refund", reference=order["reference"])
    disputes = await market.get(f"/api/chargebacks?status=opened&orderId={order['id']}", MAKER)
    return End(
        {
            "status": found["status"],
            "refunded": found["refundedMinor"],
            "payments": balances_of(await ledger_entries(market, f"/api/transactions?limit=100&orderId={order['id']}")),
            "wallets": balances_of(await ledger_entries(market, f"/api/wallet-transactions?orderId={order['id']}")),
            "refunds": sorted((refund["amountMinor"], refund["status"]) for refund in refunds),
            "gateway": sorted((refund["amount"], refund["status"]) for refund in gateway),
            "disputed": sum(dispute["amountMinor"] for dispute in disputes),
        }
    )


async def settle(market: RacingMarketplace, orders: Sequence[Facts]) -> None:
    """Pay the refunds out, as the bank, and let minutes pass. The gateway repeats the webhook of a returned one."""
    for order in orders:
        if "refund returned" in order:
            await market.send_webhook(order["refund returned"])
    for _ in range(_TIMES):
        for pending in await asyncio.gather(*(pending_refunds(market, order) for order in orders)):
            for refund_id in pending:
                await market.sandbox.act(f"refunds/{refund_id}/process")
        await market.run_until_idle()
        await market.time_passes()


def check(end: End) -> None:
    """Check that an order at rest owes nothing but what its status means. Raises AssertionError."""
    facts = end.facts
    payments = facts["payments"]
    escrow, cash = payments.get("escrow", 0), payments.get("gateway_cash", 0)
    if facts["status"] in WITHOUT_ESCROW:
        assert escrow == 0, f"{escrow} kobo in the escrow of an order that is {facts['status']}"
    else:
        assert escrow < 0, f"no escrow for an order that is {facts['status']}"
    if facts["status"] == "refunded":
        # A returned order is refunded at once. A refund that the gateway failed waits for staff, and one that an open
        # chargeback may settle waits for the bank.
        outstanding = ("failed", "pending") if facts["disputed"] else ("failed",)
        payable_minor = -payments.get("refund_payable", 0)
        outstanding_minor = sum(amount for amount, status in facts["refunds"] if status in outstanding)
        assert cash == payable_minor <= outstanding_minor, (
            f"{cash} kobo of a refunded order kept, {outstanding_minor} outstanding"
        )
    settled_minor = sum(amount for amount, status in facts["refunds"] if status == "settled")
    processed_minor = sum(amount for amount, status in facts["gateway"] if status == "processed")
    assert settled_minor == processed_minor, f"{settled_minor} kobo settled, {processed_minor} returned by the gateway"
    assert len(facts["refunds"]) >= len(facts["gateway"]), "a refund that no row explains"


async def charged_minor(market: RacingMarketplace, *references: str) -> int:
    """Return the sum of the gateway's paid charges with these references, in kobo."""
    charges = await market.sandbox.listed("transaction", status="success")
    return sum(int(charge["amount"]) for charge in charges if charge["reference"] in references)


async def ledger_entries(market: RacingMarketplace, *paths: str) -> list[tuple[str, int]]:
    """Return the entries of all listed transactions: the account, and the amount in kobo, debit positive."""
    listed = {one["id"]: one for path in paths for one in await market.get(path, AUDITOR)}
    # The fee of the gateway depends on the time of its report.
    return [
        (entry["account"], int(entry["amountMinor"]))
        for transaction in listed.values()
        if transaction["type"] != "gateway_fee"
        for entry in transaction["entries"]
    ]


def balances_of(entries: Sequence[tuple[str, int]]) -> dict[str, int]:
    """Return the balances by the kind of account, in kobo, debit positive, without those that are zero."""
    sums: dict[str, int] = {}
    for account, amount_minor in entries:
        kind = account.split(":", 1)[0]
        sums[kind] = sums.get(kind, 0) + amount_minor
    return {kind: amount_minor for kind, amount_minor in sorted(sums.items()) if amount_minor}


def _situation(name: str, state: str, prepare: Any, *actions: Action) -> Situation:
    return Situation(name, "order", state, cast("Any", prepare), actions, settle, read, check, _BATCH)


_UNPAID: Final = (BUYER_CANCELS, VENDOR_CANCELS, STAFF_CANCELS)
_RETURN_CAUSES: Final = "return_approved everything_returned refund_settled"
_OUTCOMES: Final = {"buyer": "buyer", "vendor": "vendor", "split": "vendor"}
_REST_RETURNED: Final = _return("rest_returned", "everything_returned", 1)
_UNDELIVERED: Final = (PIN, BUYER_DISPUTES, STAFF_RELEASE, CHARGEBACK)
SITUATIONS: Final = (
    _situation("unpaid", "Processing", placed_order, *_UNPAID, CHARGE, PAYMENT_WINDOW),
    *(
        _situation(f"{end} and sold out", end, partial(_sold_out, end=end), LATE_CHARGE, BUYER_CANCELS)
        for end in ("cancelled", "expired")
    ),
    *(_situation(end, end, partial(_ended, end=end), CHARGE, BUYER_CANCELS) for end in ("cancelled", "expired")),
    _situation("paid", "paid_escrow", _paid, *_UNPAID, VENDOR_DISPATCHES, *_UNDELIVERED, VENDOR_IDLE),
    _situation("dispatched", "dispatched", _dispatched, VENDOR_CANCELS, STAFF_CANCELS, *_UNDELIVERED, PIN_WINDOW),
    *(
        _situation(
            f"disputed, {outcome}",
            "disputed",
            partial(_disputed, outcome=outcome),
            _approve(f"resolved_for_{outcome}", f"resolved_for_{receiver}"),
            REJECT,
            STAFF_RELEASE,
            CHARGEBACK,
        )
        for outcome, receiver in _OUTCOMES.items()
    ),
    _situation(
        "released",
        "paid",
        _returned,
        _return("return_approved", _RETURN_CAUSES, 0),
        _return("rest_returned", _RETURN_CAUSES, 1),
        CHARGEBACK,
    ),
    _situation(
        "refund of a return failed", "paid", _return_failed, REFUND_FAILED, _REST_RETURNED, SETTLE_REFUNDS, CHARGEBACK
    ),
    *(
        _situation(name, state, prepare, received, SETTLE_REFUNDS, STAFF_CANCELS)
        for name, state, prepare, received in (
            ("refunded at the gateway", "refund_pending", partial(_refund_pending, end="process"), REFUND_SETTLED),
            ("refund returned by the bank", "refunded", _refund_returned, REFUND_RETURNED),
            ("refund failed at the gateway", "refund_pending", partial(_refund_pending, end="fail"), REFUND_FAILED),
        )
    ),
)
