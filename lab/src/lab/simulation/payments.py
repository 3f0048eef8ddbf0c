"""The steps of purchases, payments, balances and withdrawals. `sentence: outcome` is a line of a report."""

from dataclasses import replace
from datetime import timedelta
from typing import Annotated, Final, Literal

from lab.simulation.run import OrderRecord, Run, lines_of
from lab.simulation.step import Absent, Order, OrderNumber, Pick, chosen, step
from lab.stepped.actions import ACCOUNT, REASON, prepare_and_approve
from lab.stepped.actors import CHECKER, MAKER, SUPPORT

# The daily reconciliation reads the charges of seven days by their opening, and a run's timers may pause for five. A
# later payment whose webhook is lost is a finding of the audit, for staff.
_PAID_WITHIN: Final = timedelta(hours=36)
# The gateway ends an account after eight hours at the latest.
_ACCOUNT_ENDED: Final = timedelta(hours=9)
_DIFFERENCES_MINOR: Final = {"exactly": 0, "too little": -1, "too much": 77_700}
_SHARES: Final = {"none": 0, "half": 2, "all": 1}
Terms = Literal["exactly", "too little", "too much"]
Share = Literal["none", "half", "all"]
Channel = Literal["page", "bank_transfer"]


@step("buyer {buyer} orders {quantity} of one vendor and one of the other as orders {order} and {other}")
async def place_purchase(
    run: Run,
    order: OrderNumber,
    other: OrderNumber,
    buyer: Annotated[int, range(2)],
    quantity: Annotated[int, range(1, 3)],
) -> str:
    if order in run.orders or other in run.orders:
        raise Absent
    user = run.buyers[buyer]
    quantities = zip(run.products, (quantity, 1), strict=True)
    items = [{"productId": product_id, "quantity": count} for product_id, count in quantities]
    made = await run.market.post("/api/purchases", user, {"items": items})
    first, second = made["orders"]
    record = OrderRecord(first["id"], user, lines_of(first), first["totalMinor"], purchase_id=made["id"])
    run.orders[order] = record
    # Both have the same lists of payments and disputes.
    run.orders[other] = replace(
        record,
        id=second["id"],
        lines=lines_of(second),
        total_minor=second["totalMinor"],
        seller=1,
        resolutions=[],
        returns=[],
    )
    return str(made["status"])


@step("the buyer opens a payment of order {order} by {channel}, {balance} of the balance")
async def start_payment(run: Run, order: Order, balance: Share, channel: Channel) -> str:
    market = run.market
    subject = {"orderId": order.id} if order.purchase_id is None else {"purchaseId": order.purchase_id}
    body = {**subject, "channel": channel} if channel == "bank_transfer" else subject
    if balance != "none":
        available_minor = (await market.get("/api/balance", order.buyer))["availableMinor"] // _SHARES[balance]
        body = {**body, "balanceMinor": min(available_minor, await _due_minor(run, order))}
    intent = await market.post("/api/payments/intent", order.buyer, body)
    account, page = intent["reference"], [intent["reference"]]
    if intent["bankTransfer"] is not None:
        order.accounts.add(account)
        page += [one for one in await run.references_of_intent(intent["id"]) if one != account]
    for reference in page if intent["gatewayMinor"] else ():
        if reference not in order.references:
            order.references.append(reference)
            order.opened_at[reference] = market.clock.now()
            order.requested_minor[reference] = intent["gatewayMinor"]
    return f"{intent['status']}, {intent['gatewayMinor']} kobo at the gateway"


async def _due_minor(run: Run, order: OrderRecord) -> int:
    """Return the sum of the unpaid orders that one payment pays."""
    states = await run.states()
    paid_by_one = [
        (number, one)
        for number, one in run.orders.items()
        if one is order or (one.purchase_id is not None and one.purchase_id == order.purchase_id)
    ]
    return sum(one.total_minor for number, one in paid_by_one if states[number] == "Processing")


@step("the payer pays {terms} by payment {attempt} of order {order}")
async def pay(run: Run, order: Order, attempt: Annotated[int, range(2)], terms: Terms) -> str:
    reference = chosen(attempt, order.references)
    if run.market.clock.now() - order.opened_at[reference] > _PAID_WITHIN:
        raise Absent
    action = "transfer" if reference in order.accounts else "pay"
    amount_minor = order.requested_minor[reference] + _DIFFERENCES_MINOR[terms]
    return await run.act(f"charges/{reference}/{action}", {"amount": amount_minor})


@step("nine hours pass, in which each account of a bank transfer ends")
async def end_accounts(run: Run) -> str:
    run.market.clock.advance(_ACCOUNT_ENDED)
    return "ok"


@step("buyer {buyer} withdraws {part} of the refunds in the balance")
async def withdraw(run: Run, buyer: Annotated[int, range(2)], part: Literal["half", "all"]) -> str:
    user, market = run.buyers[buyer], run.market
    available_minor = (await market.get("/api/balance", user))["availableMinor"]
    rewards_minor = (await market.get("/api/rewards/balance", user))["balanceMinor"]
    amount_minor = (available_minor - rewards_minor) // _SHARES[part]
    if not amount_minor:
        raise Absent
    await market.sandbox.name_account(ACCOUNT["bankCode"], ACCOUNT["accountNumber"], ACCOUNT["accountName"])
    account = {name: ACCOUNT[name] for name in ("accountNumber", "bankCode")}
    made = await market.post("/api/balance/withdrawals", user, {"amountMinor": amount_minor, **account})
    return f"{made['status']}, {amount_minor} kobo"


@step("two of finance {decision} a withdrawal of buyer {buyer}")
async def decide_withdrawal(
    run: Run, buyer: Annotated[int, range(2)], decision: Literal["pay", "return", "reject"]
) -> str:
    waiting = [one for one in await run.withdrawals_of(run.buyers[buyer]) if one["status"] in ("waiting", "prepared")]
    path = f"/api/withdrawals/{chosen(0, waiting)['id']}"
    if decision == "reject":
        await run.market.post(f"{path}/prepare", MAKER, {**REASON, "outcome": "return"})
        await run.market.post(f"{path}/reject", CHECKER, REASON)
    else:
        await prepare_and_approve(run.market, path, {"outcome": decision})
    return "decided"


@step("the bank lets a withdrawal of buyer {buyer} {action}")
async def settle_withdrawal(
    run: Run, buyer: Annotated[int, range(2)], pick: Pick, action: Literal["succeed", "fail", "reverse"]
) -> str:
    reference = chosen(pick, await run.withdrawals_of(run.buyers[buyer]))["reference"]
    run.ended_at.setdefault(reference, run.market.clock.now())
    return await run.act(f"transfers/{reference}/{action}")


@step("support proposes to give the buyer of order {order} {part}, finance {decision}s it")
async def give_goodwill(
    run: Run, order: Order, part: Literal["a tenth", "all"], decision: Literal["approve", "reject"]
) -> str:
    amount_minor = order.total_minor // (10 if part == "a tenth" else 1)
    body = {"orderId": order.id, "amountMinor": amount_minor, "reason": "The food was cold."}
    prepared = await run.market.post("/api/goodwill-refunds", SUPPORT, body)
    path = f"/api/goodwill-refunds/{prepared['id']}/{decision}"
    decided = {"hash": prepared["hash"]} if decision == "approve" else REASON
    return str((await run.market.post(path, CHECKER, decided))["status"])


@step("an operator publishes all escrows again")
async def publish_escrows(run: Run) -> str:
    await run.market.run_command("payments-worker", "publish-escrows")
    return "ok"
