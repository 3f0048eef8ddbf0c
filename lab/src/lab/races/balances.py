"""The races on the balance of one buyer: payments from it, its holds, and withdrawals (contract section 7.9)."""

from collections.abc import Sequence
from functools import partial
from typing import Any, Final
from uuid import UUID

from common.primitives.ids import new_id
from identity.use_cases.accounts.provision_user import NewUser
from lab.races.actions import Action, End, Situation, response_of, timer, webhook
from lab.races.marketplace import RacingMarketplace
from lab.races.orders import charged_minor, pending_refunds
from lab.stepped.actions import ACCOUNT, CANCEL_ORDER, REASON, Facts, check_out, create_product, open_payment
from lab.stepped.actors import BUYER, MAKER, VENDOR, User
from lab.stepped.scenarios.users import sign_up

_BATCH: Final = 10
_TIMES: Final = 2
_BALANCE_MINOR: Final = 100_000
_PART_MINOR: Final = 40_000
_OTHER_PART_MINOR: Final = 90_000
# An order that the balance pays alone, and one that it cannot.
_SMALL_MINOR: Final = _BALANCE_MINOR
_LARGE_MINOR: Final = 250_000
_DUE: Final = "UPDATE order_timers SET due_at = $2 WHERE order_id = ANY ($1) AND kind = 'payment_window'"
_LIVE: Final = ("opening", "pending")
# The gateway lists no refunds of a payment that it does not know.
_CHARGED: Final = ("paid", "overpaid", "quarantined")
_SENT: Final = ("pending", "submitting", "submitted", "paid")
_PRODUCTS: Final[dict[tuple[int, int], str]] = {}


# The actions


def _command(name: str, path: str, body: Any) -> Action:
    """Return a command of the balance's buyer."""

    async def start(market: RacingMarketplace, given: Facts) -> str:
        sent = {key: given.get(value, value) for key, value in body.items()}
        return response_of(await market.send("POST", path.format(**given), given["buyer"], sent))

    return Action(name, "command", frozenset(), start)


def _payment(name: str, order: str, balance_minor: int) -> Action:
    return _command(name, "/api/payments/intent", {"orderId": order, "balanceMinor": balance_minor})


async def _windows_end(market: RacingMarketplace, given: Facts) -> None:
    await market.databases["orders"].execute(_DUE, [given["first"], given["second"]], market.clock.now())


async def _account_exists(market: RacingMarketplace, given: Facts) -> None:
    await market.sandbox.name_account(ACCOUNT["bankCode"], ACCOUNT["accountNumber"], ACCOUNT["accountName"])


async def _paid_at_gateway(market: RacingMarketplace, given: Facts) -> None:
    await market.sandbox.act(f"charges/{given['reference']}/pay")
    given["charge"] = await market.webhooks.claim(given["reference"])


async def _later_paid_at_gateway(market: RacingMarketplace, given: Facts) -> None:
    await market.sandbox.act(f"charges/{given['later']}/pay")
    given["later charge"] = await market.webhooks.claim(given["later"])


def _withdrawal(amount_minor: int) -> Action:
    account = {name: ACCOUNT[name] for name in ("accountNumber", "bankCode")}
    withdrawn = _command("withdrawal", "/api/balance/withdrawals", {"amountMinor": amount_minor, **account})
    return Action(withdrawn.name, "command", withdrawn.causes, withdrawn.start, _account_exists)


FIRST_CANCELLED: Final = _command("first_cancelled", "/api/orders/{first}/cancel", REASON)
PAYMENT_WINDOWS: Final = timer("payment_windows_ended", "", "orders-worker", "fire-timers", _windows_end)
CHARGE: Final = webhook("charge", "", lambda given: bytes(given["charge"]), prepare=_paid_at_gateway)
LATER_CHARGE: Final = webhook(
    "later_charge", "", lambda given: bytes(given["later charge"]), prepare=_later_paid_at_gateway
)


# The situations


async def _product(market: RacingMarketplace, price_minor: int) -> str:
    key = (id(market), price_minor)
    if key not in _PRODUCTS:
        _PRODUCTS[key] = await create_product(market, VENDOR, price_minor)
    return _PRODUCTS[key]


async def _buyer(market: RacingMarketplace) -> User:
    """Return a new buyer with refunded money in the balance."""
    user_id = new_id()
    await sign_up(market, NewUser(user_id, f"{user_id.hex}@unilag.edu.ng", full_name="Ife Ade", email_confirmed=True))
    buyer = User(user_id, BUYER.claims)
    order = await check_out(market, buyer, await _product(market, _BALANCE_MINOR))
    await market.run_until_idle()
    await market.sandbox.act(f"charges/{(await open_payment(market, buyer, order['id']))['reference']}/pay")
    await market.run_until_idle()
    await CANCEL_ORDER.run(market, buyer, order, refundTo="balance")
    return buyer


async def _two_unpaid(market: RacingMarketplace, price_minor: int) -> Facts:
    """Return two unpaid orders of a new buyer, whose balance pays a part of one or all of one."""
    product_id, buyer = await _product(market, price_minor), await _buyer(market)
    orders = [await check_out(market, buyer, product_id) for _ in range(2)]
    await market.run_until_idle()
    return {"buyer": buyer, "first": orders[0]["id"], "second": orders[1]["id"], "price": price_minor}


async def _held(market: RacingMarketplace) -> Facts:
    """Return them with a payment of the first, which holds a part of the balance."""
    given = await _two_unpaid(market, _LARGE_MINOR)
    return {**given, "reference": await _open(market, given, _PART_MINOR)}


async def _held_again(market: RacingMarketplace) -> Facts:
    """Return them with a second payment of the first, which holds another part in place of the earlier one."""
    given = await _held(market)
    return {**given, "later": await _open(market, given, _OTHER_PART_MINOR)}


async def _open(market: RacingMarketplace, given: Facts, balance_minor: int) -> str:
    body = {"orderId": given["first"], "balanceMinor": balance_minor}
    return str((await market.post("/api/payments/intent", given["buyer"], body))["reference"])


# The end


async def settle(market: RacingMarketplace, given: Sequence[Facts]) -> None:
    """Pay refunds and withdrawals out, as the bank, and let minutes pass."""
    for _ in range(_TIMES):
        for one in given:
            for payment in await _payments(market, one):
                if payment["gatewayMinor"] and payment["status"] in _CHARGED:
                    for refund_id in await pending_refunds(market, payment):
                        await market.sandbox.act(f"refunds/{refund_id}/process")
            for withdrawal in await market.get("/api/balance/withdrawals", one["buyer"]):
                if withdrawal["status"] == "submitted":
                    await market.sandbox.act(f"transfers/wd-{UUID(withdrawal['id']).hex}/succeed")
        await market.run_until_idle()
        await market.time_passes()


async def _payments(market: RacingMarketplace, given: Facts) -> list[Facts]:
    """Return the payments of both orders, oldest first."""
    listed: list[Facts] = await market.get("/api/payments?limit=100", given["buyer"])
    return [one for one in reversed(listed) if one["orderId"] in (given["first"], given["second"])]


async def read(market: RacingMarketplace, given: Facts) -> End:
    """Return both orders and the balance as the buyer sees them, and the money that came and went at the gateway."""
    buyer = given["buyer"]
    orders = [await market.get(f"/api/orders/{given[name]}", buyer) for name in ("first", "second")]
    balance = await market.get("/api/balance", buyer)
    payments = await _payments(market, given)
    references = [payment["reference"] for payment in payments]
    refunds = [
        (refund["amountMinor"], refund["status"])
        for order in orders
        for refund in await market.get(f"/api/refunds?orderId={order['id']}&limit=100", MAKER)
    ]
    gateway = [line for line in await market.sandbox.listed("refund") if line["transaction_reference"] in references]
    withdrawn = await market.get("/api/balance/withdrawals", buyer)
    return End(
        {
            "status": [order["status"] for order in orders],
            "available": balance["availableMinor"],
            "held": balance["heldMinor"],
            "payments": sorted((one["balanceMinor"], one["status"]) for one in payments),
            "refunds": sorted(refunds),
            "gateway": sorted((line["amount"], line["status"]) for line in gateway),
            "charged": await charged_minor(market, *references),
            "withdrawn": sum(one["amountMinor"] for one in withdrawn if one["status"] in _SENT),
            "escrow": sum(given["price"] for order in orders if order["status"] == "paid_escrow"),
        }
    )


def check(end: End) -> None:
    """Check that every kobo of the buyer is in the balance, held, in escrow or returned. Raises AssertionError."""
    facts = end.facts
    live_minor = sum(balance_minor for balance_minor, status in facts["payments"] if status in _LIVE)
    assert facts["held"] == live_minor, f"{facts['held']} kobo held, {live_minor} of live payments"
    returned_minor = sum(amount for amount, status in facts["gateway"] if status == "processed")
    paid_in_minor = _BALANCE_MINOR + facts["charged"] - returned_minor - facts["withdrawn"]
    liability_minor = facts["available"] + facts["held"] + facts["escrow"]
    quarantined = [status for _, status in facts["payments"] if status == "quarantined"]
    assert quarantined or paid_in_minor == liability_minor, (
        f"{paid_in_minor} kobo received, {liability_minor} due to the buyer"
    )
    assert all(status in ("settled", "failed") for _, status in facts["refunds"]), "a refund that did not end"


def _situation(name: str, prepare: Any, *actions: Action) -> Situation:
    return Situation(name, "balance", "", prepare, actions, settle, read, check, _BATCH)


_ALL_OF_IT: Final = (
    _payment("first_from_balance", "first", _BALANCE_MINOR),
    _payment("second_from_balance", "second", _BALANCE_MINOR),
    _withdrawal(_BALANCE_MINOR),
    FIRST_CANCELLED,
    PAYMENT_WINDOWS,
)
_OF_THE_REST: Final = (
    _payment("other_part", "first", _OTHER_PART_MINOR),
    _payment("without_balance", "first", 0),
    _payment("second_from_balance", "second", _BALANCE_MINOR - _PART_MINOR),
    _withdrawal(_BALANCE_MINOR - _PART_MINOR),
    FIRST_CANCELLED,
    PAYMENT_WINDOWS,
)
SITUATIONS: Final = (
    _situation("balance for all of an order", partial(_two_unpaid, price_minor=_SMALL_MINOR), *_ALL_OF_IT),
    _situation("balance for a part", partial(_two_unpaid, price_minor=_LARGE_MINOR), *_ALL_OF_IT[:4]),
    _situation("part held", _held, CHARGE, *_OF_THE_REST),
    _situation(
        "part held again",
        _held_again,
        CHARGE,
        LATER_CHARGE,
        _payment("first_part", "first", _PART_MINOR),
        _withdrawal(_BALANCE_MINOR - _OTHER_PART_MINOR),
        FIRST_CANCELLED,
    ),
)
