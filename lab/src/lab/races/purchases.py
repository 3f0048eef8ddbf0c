"""The races on a purchase of two orders, which one charge pays (contract section 7)."""

from typing import Any, Final

from lab.races.actions import Action, End, Situation, command, timer, webhook
from lab.races.marketplace import RacingMarketplace
from lab.races.orders import WITHOUT_ESCROW, at_gateway, balances_of, charged_minor, ledger_entries, settle
from lab.stepped.actions import REASON, Command, Facts, pay
from lab.stepped.actors import BUYER, MAKER, SUPPORT, User
from lab.stepped.scenarios.purchases import place_purchase, products_of_each_vendor
from lab.stepped.scenarios.steps import PRICE_MINOR

_BATCH: Final = 10
# Of two equal orders: each loses half of it.
_DISPUTED_MINOR: Final = 150_000
_DUE: Final = "UPDATE order_timers SET due_at = $2 WHERE order_id = ANY ($1) AND kind = 'payment_window'"
_REFUNDS_DUE: Final = "UPDATE refunds SET due_at = $2 WHERE order_id = ANY ($1) AND due_at IS NOT NULL"
_PRODUCTS: Final[dict[int, Facts]] = {}


# The actions


def _ids(purchase: Facts) -> list[str]:
    return [order["id"] for order in purchase["orders"]]


def _cancel(name: str, user: User, key: str) -> Action:
    return command(name, "", user, Command(f"/api/orders/{{{key}}}/cancel", REASON))


async def _windows_end(market: RacingMarketplace, purchase: Facts) -> None:
    await market.databases["orders"].execute(_DUE, _ids(purchase), market.clock.now())


async def _refunds_are_due(market: RacingMarketplace, purchase: Facts) -> None:
    await market.databases["payments"].execute(_REFUNDS_DUE, _ids(purchase), market.clock.now())


async def _disputed(market: RacingMarketplace, purchase: Facts) -> None:
    """Open a dispute of a part of the charge, whose webhook is on its way."""
    opened = await market.sandbox.act(f"charges/{purchase['reference']}/dispute", {"amount": _DISPUTED_MINOR})
    purchase["dispute"] = opened["id"]
    purchase["opened"] = await market.webhooks.claim(purchase["reference"])


async def _decided(market: RacingMarketplace, purchase: Facts) -> None:
    """Decide the dispute for the payer. Of its webhooks only the last one is on its way, or both."""
    if "dispute" not in purchase:
        await _disputed(market, purchase)
    await market.sandbox.act(f"disputes/{purchase['dispute']}/lose")
    purchase["lost"] = await market.webhooks.claim(purchase["reference"])


async def _refunded_in_the_dashboard(market: RacingMarketplace, purchase: Facts) -> None:
    refund = await market.sandbox.act(f"charges/{purchase['reference']}/refund", {"amount": PRICE_MINOR // 5})
    await market.sandbox.act(f"refunds/{refund['id']}/process")
    purchase["dashboard refund"] = await market.webhooks.claim(purchase["reference"])


FIRST_CANCELLED: Final = _cancel("first_cancelled", BUYER, "first")
SECOND_CANCELLED: Final = _cancel("second_cancelled", BUYER, "second")
FIRST_REFUNDED: Final = _cancel("first_refunded", SUPPORT, "first")
SECOND_REFUNDED: Final = _cancel("second_refunded", SUPPORT, "second")
NEW_PAYMENT: Final = command("new_payment", "", BUYER, Command("/api/payments/intent", {"purchaseId": "id"}))
PAYMENT_WINDOWS: Final = timer("payment_windows_ended", "", "orders-worker", "fire-timers", _windows_end)
SETTLE_REFUNDS: Final = timer("settle_refunds", "", "payments-worker", "settle-refunds", _refunds_are_due)
CHARGE: Final = webhook("charge", "", lambda purchase: bytes(purchase["charge"]), prepare=at_gateway("pay", "charge"))
DISPUTE_OPENED: Final = webhook("dispute_opened", "", lambda purchase: bytes(purchase["opened"]), prepare=_disputed)
DISPUTE_LOST: Final = webhook("dispute_lost", "", lambda purchase: bytes(purchase["lost"]), prepare=_decided)
DASHBOARD_REFUND: Final = webhook(
    "dashboard_refund",
    "",
    lambda purchase: bytes(purchase["dashboard refund"]),
    prepare=_refunded_in_the_dashboard,
)


# The situations


async def _products(market: RacingMarketplace) -> Facts:
    """Return a product of each vendor, by its number, with more stock than all races buy."""
    if id(market) not in _PRODUCTS:
        _PRODUCTS[id(market)] = await products_of_each_vendor(market)
    return _PRODUCTS[id(market)]


async def _unpaid(market: RacingMarketplace) -> Facts:
    purchase = await place_purchase(market, await _products(market))
    first, second = _ids(purchase)
    return {**purchase, "first": first, "second": second}


async def _paid(market: RacingMarketplace) -> Facts:
    purchase = await _unpaid(market)
    await pay(market, purchase)
    return purchase


async def _first_left(market: RacingMarketplace) -> Facts:
    """Return a purchase whose second order is cancelled, while its payment was of both."""
    purchase = await _unpaid(market)
    await market.post(f"/api/orders/{purchase['second']}/cancel", BUYER, REASON)
    await market.run_until_idle()
    return purchase


# The end


async def read(market: RacingMarketplace, purchase: Facts) -> End:
    """Return the orders as their buyer sees them, the balances of both ledgers, and the money at the gateway."""
    ids = _ids(purchase)
    orders = [await market.get(f"/api/orders/{order_id}", BUYER) for order_id in ids]
    refunds = [await market.get(f"/api/refunds?orderId={order_id}&limit=100", MAKER) for order_id in ids]
    disputes = [await market.get(f"/api/chargebacks?orderId={order_id}", MAKER) for order_id in ids]
    gateway = await market.sandbox.listed("refund", reference=purchase["reference"])
    entries = await ledger_entries(market, *(f"/api/transactions?limit=100&orderId={each}" for each in ids))
    return End(
        {
            "status": [order["status"] for order in orders],
            "refunded": [order["refundedMinor"] for order in orders],
            "escrow": [-sum(amount for account, amount in entries if account == f"escrow:{each}") for each in ids],
            "payments": balances_of(entries),
            "wallets": balances_of(
                await ledger_entries(market, *(f"/api/wallet-transactions?orderId={order_id}" for order_id in ids))
            ),
            "refunds": [sorted((one["amountMinor"], one["status"]) for one in listed) for listed in refunds],
            "gateway": sorted((refund["amount"], refund["status"]) for refund in gateway),
            "charged": await charged_minor(market, purchase["reference"]),
            "disputes": [[(one["amountMinor"], one["status"]) for one in listed] for listed in disputes],
        }
    )


def check(end: End) -> None:
    """Check the gateway's money against the ledger, and what each order owes by its status. Raises AssertionError."""
    facts = end.facts
    for status, escrow_minor in zip(facts["status"], facts["escrow"], strict=True):
        if status in WITHOUT_ESCROW:
            assert escrow_minor == 0, f"{escrow_minor} kobo in the escrow of an order that is {status}"
        else:
            assert escrow_minor > 0, f"no escrow for an order that is {status}"
    returned_minor = sum(amount for amount, status in facts["gateway"] if status == "processed")
    lost_minor = sum(amount for of_order in facts["disputes"] for amount, status in of_order if status == "lost")
    cash_minor = facts["payments"].get("gateway_cash", 0)
    left_minor = facts["charged"] - returned_minor - lost_minor
    assert cash_minor == left_minor, f"{cash_minor} kobo in the ledger, {left_minor} at the gateway"
    assert left_minor >= 0 or "chargeback_loss" in facts["payments"], f"{-left_minor} kobo more than were charged"
    if facts["charged"] and any(facts["disputes"]):
        disputed_minor = sum(amount for of_order in facts["disputes"] for amount, _ in of_order)
        assert disputed_minor == _DISPUTED_MINOR, f"{disputed_minor} kobo of the orders are disputed"


def _situation(name: str, prepare: Any, *actions: Action) -> Situation:
    return Situation(name, "purchase", "", prepare, actions, settle, read, check, _BATCH)


SITUATIONS: Final = (
    _situation("unpaid purchase", _unpaid, FIRST_CANCELLED, SECOND_CANCELLED, CHARGE, PAYMENT_WINDOWS, NEW_PAYMENT),
    _situation("purchase with one order left", _first_left, FIRST_CANCELLED, CHARGE, PAYMENT_WINDOWS, NEW_PAYMENT),
    _situation(
        "paid purchase",
        _paid,
        FIRST_REFUNDED,
        SECOND_REFUNDED,
        DISPUTE_OPENED,
        DISPUTE_LOST,
        DASHBOARD_REFUND,
    ),
)
