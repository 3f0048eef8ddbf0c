"""The races on one order: actions and situations by the table of its transitions."""

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Any, Final, cast

from lab.crash_points.scenarios.orders import deliver, paid_order, pay, placed_order
from lab.crash_points.scenarios.steps import PRICE_MINOR, Given, product
from lab.crash_points.users import BUYER, CHECKER, MAKER, SUPPORT, VENDOR, User
from lab.races.actions import Action, End, Situation, command, response_of
from lab.races.marketplace import RacingMarketplace

_AUDITOR: Final = User.of("AUDITOR")
_BUYER2: Final = User.of("BUYER2")
_COMPLAINT: Final = {"reason": "half is missing", "details": "One of two boxes was empty."}
_ACCOUNT: Final = {"accountNumber": "0123456789", "bankCode": "058", "accountName": "Chidi Okafor"}
_UNITS: Final = 2
_TIMES: Final = 2
# As many races share the passing of time and the audit.
_BATCH: Final = 20
# Where an order has nothing left in escrow.
_WITHOUT_ESCROW: Final = ("Processing", "expired", "cancelled", "paid", "refunded", "refund_pending")


# The actions


def _webhook(name: str, causes: str, key: str, **options: Any) -> Action:
    """Return the gateway's webhook that `prepare`, or the situation, left under this key of the order."""

    async def start(market: RacingMarketplace, order: Given) -> str:
        return response_of(await market.webhook(order[key]))

    return Action(name, "webhook", frozenset(causes.split()), start, **options)


def _timer(name: str, kind: str) -> Action:
    async def prepare(market: RacingMarketplace, order: Given) -> None:
        """Make the timer of this order due, and of no other one."""
        due = "UPDATE order_timers SET due_at = $3 WHERE order_id = $1 AND kind = $2"
        await market.databases["orders"].execute(due, order["id"], kind, market.clock.now())

    async def start(market: RacingMarketplace, order: Given) -> str:
        await market.timer("orders-worker", "timers")
        return "200"

    return Action(name, "timer", frozenset({name}), start, prepare)


async def _paid_at_gateway(market: RacingMarketplace, order: Given) -> None:
    await market.act(f"charges/{order['reference']}/pay")
    order["charge"] = await market.claim_webhook(order["reference"])


async def _disputed_at_gateway(market: RacingMarketplace, order: Given) -> None:
    await market.act(f"charges/{order['reference']}/dispute")
    order["chargeback"] = await market.claim_webhook(order["reference"])


_ORDER: Final = "/api/orders/{id}"
_REASON: Final = {"reason": "a race"}
BUYER_CANCELS: Final = command("buyer_cancels", "buyer_cancels", BUYER, f"{_ORDER}/cancel", _REASON)
VENDOR_CANCELS: Final = command("vendor_cancels", "vendor_cancels", VENDOR, f"{_ORDER}/cancel", _REASON)
STAFF_CANCELS: Final = command("staff_cancels", "staff_cancels", SUPPORT, f"{_ORDER}/cancel", _REASON)
DISPATCH: Final = command("vendor_dispatches", "vendor_dispatches", VENDOR, f"{_ORDER}/dispatch")
PIN: Final = command(
    "pin_accepted", "pin_accepted escrow_fully_released", VENDOR, f"{_ORDER}/verify-delivery", {"pin": "pin"}
)
DISPUTE: Final = command("buyer_disputes", "buyer_disputes", BUYER, f"{_ORDER}/dispute", _COMPLAINT)
RELEASE: Final = command(
    "staff_release", "escrow_fully_released", CHECKER, f"{_ORDER}/release", {"amountMinor": "totalMinor"}
)
CHARGE: Final = _webhook("charge", "escrow_held", "charge", prepare=_paid_at_gateway)
LATE_CHARGE: Final = _webhook("charge", "escrow_held_without_stock", "charge", prepare=_paid_at_gateway)
CHARGEBACK: Final = _webhook("chargeback", "chargeback_opened", "chargeback", prepare=_disputed_at_gateway)
REFUND_SETTLED: Final = _webhook("refund_settled", "refund_settled", "refunded")
REFUND_FAILED: Final = _webhook("refund_failed", "refund_failed", "refund failed")
REFUND_RETURNED: Final = _webhook("refund_returned", "refund_failed", "refund returned")
PAYMENT_WINDOW: Final = _timer("payment_window_ended", "payment_window")
VENDOR_IDLE: Final = _timer("vendor_idle", "vendor_idle")
PIN_WINDOW: Final = _timer("pin_window_ended", "pin_window")


def _approve(name: str, causes: str) -> Action:
    path = "/api/dispute-resolutions/{resolution}/approve"
    return command(name, f"{causes} escrow_fully_released", CHECKER, path, {"hash": "hash"})


_REJECT: Final = command("resolution_rejected", "", CHECKER, "/api/dispute-resolutions/{resolution}/reject")


async def _refund_timer(market: RacingMarketplace, order: Given) -> str:
    await market.timer("payments-worker", "settle refunds")
    return "200"


async def _refunds_are_due(market: RacingMarketplace, order: Given) -> None:
    due = "UPDATE refunds SET due_at = $2 WHERE order_id = $1 AND due_at IS NOT NULL"
    await market.databases["payments"].execute(due, order["id"], market.clock.now())


SETTLE_REFUNDS: Final = Action(
    "settle_refunds", "timer", frozenset({"refund_settled", "refund_failed"}), _refund_timer, _refunds_are_due
)


def _return(name: str, causes: str, number: int) -> Action:
    return command(name, causes, VENDOR, f"/api/return-requests/{{return{number}}}/approve")


# The situations


async def _with_pin(market: RacingMarketplace, order: Given) -> Given:
    pin = (await market.get(f"/api/orders/{order['id']}/delivery-pin", BUYER))["pin"]
    return {**order, "pin": pin}


async def _paid(market: RacingMarketplace) -> Given:
    return await _with_pin(market, await paid_order(market))


async def _dispatched(market: RacingMarketplace) -> Given:
    order = await _paid(market)
    await market.post(f"/api/orders/{order['id']}/dispatch", VENDOR)
    await market.run_until_idle()
    return order


async def _payment_window_ends(market: RacingMarketplace, order: Given) -> None:
    async with market.alone:
        await PAYMENT_WINDOW.prepare(market, order)
        await market.timer("orders-worker", "timers")


async def _cancelled(market: RacingMarketplace) -> Given:
    order = await placed_order(market)
    await market.post(f"/api/orders/{order['id']}/cancel", BUYER, _REASON)
    await market.run_until_idle()
    return order


async def _expired(market: RacingMarketplace) -> Given:
    order = await placed_order(market)
    await _payment_window_ends(market, order)
    await market.run_until_idle()
    return order


async def _sold_out(market: RacingMarketplace, end: str) -> Given:
    """Return an order that was cancelled or expired, after another buyer has ordered the last unit since."""
    body = {"name": "Last one", "description": "", "category": "lab", "priceMinor": PRICE_MINOR, "stock": 1}
    last = await market.post("/api/products", VENDOR, body)
    await market.run_until_idle()
    items = [{"productId": last["id"], "quantity": 1}]
    order = await market.post("/api/orders/checkout", BUYER, {"items": items})
    await market.run_until_idle()
    intent = await market.post("/api/payments/intent", BUYER, {"orderId": order["id"]})
    if end == "cancelled":
        await market.post(f"/api/orders/{order['id']}/cancel", BUYER, _REASON)
    else:
        await _payment_window_ends(market, order)
    await market.run_until_idle()
    await market.post("/api/orders/checkout", _BUYER2, {"items": items})
    await market.run_until_idle()
    return {**order, "reference": intent["reference"]}


async def _disputed(market: RacingMarketplace, outcome: str) -> Given:
    order = await _dispatched(market)
    await market.post(f"/api/orders/{order['id']}/dispute", BUYER, _COMPLAINT)
    await market.run_until_idle()
    body = {"outcome": outcome} | ({"refundMinor": PRICE_MINOR // 2} if outcome == "split" else {})
    resolution = await market.post(f"/api/orders/{order['id']}/resolve", SUPPORT, body)
    return {**order, "resolution": resolution["resolutionId"], "hash": resolution["hash"]}


async def _returned(market: RacingMarketplace) -> Given:
    """Paid, with two return requests of one unit each."""
    items = [{"productId": await product(market), "quantity": _UNITS}]
    order = await market.post("/api/orders/checkout", BUYER, {"items": items})
    await market.run_until_idle()
    intent = await market.post("/api/payments/intent", BUYER, {"orderId": order["id"]})
    order = {**order, "reference": intent["reference"]}
    await pay(market, order)
    await deliver(market, order)
    for number in range(_UNITS):
        body = {"items": [{"itemId": order["items"][0]["id"], "quantity": 1}], "reason": "The zip is torn."}
        requested = await market.post(f"/api/orders/{order['id']}/return-requests", BUYER, body)
        order[f"return{number}"] = requested["id"]
    await market.run_until_idle()
    return order


async def _refund_pending(market: RacingMarketplace, end: str) -> Given:
    """End the refund at the gateway, and its webhook is on its way."""
    order = await _paid(market)
    await market.post(f"/api/orders/{order['id']}/cancel", SUPPORT, _REASON)
    await market.run_until_idle()
    [refund_id] = await _pending_refunds(market, order)
    await market.act(f"refunds/{refund_id}/{end}")
    order["refunded" if end == "process" else "refund failed"] = await market.claim_webhook(order["reference"])
    return order


async def _refund_returned(market: RacingMarketplace) -> Given:
    """Return an order whose refund reached a bank account and came back; the webhook is on its way."""
    order = await _refund_pending(market, "fail")
    await market.send_webhook(order["refund failed"])
    await market.run_until_idle()
    [refund] = await market.get(f"/api/refunds?orderId={order['id']}", MAKER)
    path, destination = f"/api/refunds/{refund['id']}", {"action": "other_destination", "destination": _ACCOUNT}
    await market.name_account(_ACCOUNT["bankCode"], _ACCOUNT["accountNumber"], _ACCOUNT["accountName"])
    prepared = await market.post(f"{path}/prepare", MAKER, {**_REASON, **destination})
    await market.post(f"{path}/approve", CHECKER, {"hash": prepared["hash"]})
    await market.run_until_idle()
    reference = (await market.get(path, MAKER))["reference"]
    await market.act(f"transfers/{reference}/succeed")
    await market.run_until_idle()
    await market.act(f"transfers/{reference}/reverse")
    return {**order, "refund returned": await market.claim_webhook(reference)}


async def _return_failed(market: RacingMarketplace) -> Given:
    """Paid, a unit was returned, and the gateway has failed the refund; its webhook is on its way."""
    order = await _returned(market)
    await market.post(f"/api/return-requests/{order['return0']}/approve", VENDOR)
    await market.run_until_idle()
    [refund_id] = await _pending_refunds(market, order)
    await market.act(f"refunds/{refund_id}/fail")
    order["refund failed"] = await market.claim_webhook(order["reference"])
    return order


# The end


async def _pending_refunds(market: RacingMarketplace, order: Given) -> list[str]:
    rows = await market.listed("refund", reference=order["reference"])
    return [str(row["id"]) for row in rows if row["status"] == "pending"]


async def read(market: RacingMarketplace, order: Given) -> End:
    """Return the order as its buyer sees it, the balances of both ledgers, and the money at the gateway."""
    found = await market.get(f"/api/orders/{order['id']}", BUYER)
    refunds = await market.get(f"/api/refunds?orderId={order['id']}&limit=100", MAKER)
    gateway = await market.listed("refund", reference=order["reference"])
    disputes = await market.get(f"/api/chargebacks?status=opened&orderId={order['id']}", MAKER)
    return End(
        {
            "status": found["status"],
            "refunded": found["refundedMinor"],
            "payments": await _balances(market, f"/api/transactions?limit=100&orderId={order['id']}"),
            "wallets": await _balances(market, f"/api/wallet-transactions?orderId={order['id']}"),
            "refunds": sorted((refund["amountMinor"], refund["status"]) for refund in refunds),
            "gateway": sorted((refund["amount"], refund["status"]) for refund in gateway),
            "disputed": sum(dispute["amountMinor"] for dispute in disputes),
        }
    )


async def settle(market: RacingMarketplace, orders: Sequence[Given]) -> None:
    """Pay the refunds out, as the bank, and let minutes pass. The gateway repeats the webhook of a returned one."""
    for order in orders:
        if "refund returned" in order:
            await market.send_webhook(order["refund returned"])
    for _ in range(_TIMES):
        for pending in await asyncio.gather(*(_pending_refunds(market, order) for order in orders)):
            for refund_id in pending:
                await market.act(f"refunds/{refund_id}/process")
        await market.run_until_idle()
        await market.time_passes()


def check(end: End) -> None:
    """Check that an order at rest owes nothing but what its status means. Raises AssertionError."""
    facts = end.facts
    payments = facts["payments"]
    escrow, cash = payments.get("escrow", 0), payments.get("gateway_cash", 0)
    if facts["status"] in _WITHOUT_ESCROW:
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


async def _balances(market: RacingMarketplace, path: str) -> dict[str, int]:
    """Return the balances that the order caused in a ledger, by the kind of account, in kobo, debit positive."""
    sums: dict[str, int] = {}
    for transaction in await market.get(path, _AUDITOR):
        # The fee of the gateway depends on the time of its report.
        for entry in () if transaction["type"] == "gateway_fee" else transaction["entries"]:
            kind = entry["account"].split(":", 1)[0]
            sums[kind] = sums.get(kind, 0) + entry["amountMinor"]
    return {kind: amount for kind, amount in sorted(sums.items()) if amount}


def _situation(name: str, state: str, prepare: Any, *actions: Action) -> Situation:
    return Situation(name, "order", state, cast("Any", prepare), actions, settle, read, check, _BATCH)


_UNPAID: Final = (BUYER_CANCELS, VENDOR_CANCELS, STAFF_CANCELS)
SITUATIONS: Final = (
    _situation("unpaid", "Processing", placed_order, *_UNPAID, CHARGE, PAYMENT_WINDOW),
    *(
        _situation(f"{end} and sold out", end, partial(_sold_out, end=end), LATE_CHARGE, BUYER_CANCELS)
        for end in ("cancelled", "expired")
    ),
    _situation("cancelled", "cancelled", _cancelled, CHARGE, BUYER_CANCELS),
    _situation("expired", "expired", _expired, CHARGE, BUYER_CANCELS),
    _situation("paid", "paid_escrow", _paid, *_UNPAID, DISPATCH, PIN, DISPUTE, RELEASE, CHARGEBACK, VENDOR_IDLE),
    _situation(
        "dispatched",
        "dispatched",
        _dispatched,
        VENDOR_CANCELS,
        STAFF_CANCELS,
        PIN,
        DISPUTE,
        RELEASE,
        CHARGEBACK,
        PIN_WINDOW,
    ),
    *(
        _situation(
            f"disputed, {outcome}",
            "disputed",
            partial(_disputed, outcome=outcome),
            _approve(f"resolved_for_{outcome}", cause),
            _REJECT,
            RELEASE,
            CHARGEBACK,
        )
        for outcome, cause in (
            ("buyer", "resolved_for_buyer"),
            ("vendor", "resolved_for_vendor"),
            ("split", "resolved_for_vendor"),
        )
    ),
    _situation(
        "released",
        "paid",
        _returned,
        _return("return_approved", "return_approved everything_returned refund_settled", 0),
        _return("rest_returned", "return_approved everything_returned refund_settled", 1),
        CHARGEBACK,
    ),
    _situation(
        "refund of a return failed",
        "paid",
        _return_failed,
        REFUND_FAILED,
        _return("rest_returned", "everything_returned", 1),
        SETTLE_REFUNDS,
        CHARGEBACK,
    ),
    _situation(
        "refunded at the gateway",
        "refund_pending",
        partial(_refund_pending, end="process"),
        REFUND_SETTLED,
        SETTLE_REFUNDS,
        STAFF_CANCELS,
    ),
    _situation(
        "refund returned by the bank",
        "refunded",
        _refund_returned,
        REFUND_RETURNED,
        SETTLE_REFUNDS,
        STAFF_CANCELS,
    ),
    _situation(
        "refund failed at the gateway",
        "refund_pending",
        partial(_refund_pending, end="fail"),
        REFUND_FAILED,
        SETTLE_REFUNDS,
        STAFF_CANCELS,
    ),
)
