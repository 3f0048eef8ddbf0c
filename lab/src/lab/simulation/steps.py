"""The steps of a plan, by who acts. `sentence: outcome` is a line of a report."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Final, Literal

from lab.simulation.run import OrderRecord, Run, lines_of
from lab.simulation.step import Absent, Order, OrderNumber, Pick, chosen, step
from lab.stepped.actions import (
    APPROVE_RESOLUTION,
    CANCEL_ORDER,
    DISPATCH,
    DISPUTE,
    REASON,
    REJECT_RESOLUTION,
    RELEASE,
    VERIFY_DELIVERY,
    Facts,
    check_out,
    prepare_and_approve,
    refund_to_account,
    request_return,
    resolve,
    with_pin,
)
from lab.stepped.actors import CHECKER, MAKER, SUPPORT

# An ended transfer is queried for so long. A later end whose webhook is lost is a finding of the audit too.
_QUERIED_WITHIN: Final = timedelta(days=7)
_PARTS: Final = {"a third": 3, "all": 1}
Part = Literal["a third", "all"]
Decision = Literal["approve", "reject"]
Destination = Literal["back", "to the balance"]
_REFUND_TO: Final[Mapping[Destination, Facts]] = {"back": {}, "to the balance": {"refundTo": "balance"}}
ChargebackAction = Literal["lose", "win", "expire", "remind", "overturn", "revoke"]
_EVIDENCE: Final = {
    "customerEmail": "ngozi@campus.example",
    "customerName": "Ngozi",
    "customerPhone": "+2348012345678",
    "serviceDetails": "Delivered with the PIN.",
}
_RESPONSE: Final = {"message": "Delivered with the PIN.", "attachment": "JVBERi0xLjQ="}


# Buyers, vendors and staff, about an order


@step("buyer {buyer} orders {quantity}, {lines}, as order {order}, to be collected at {place}")
async def place(
    run: Run,
    order: OrderNumber,
    buyer: Annotated[int, range(2)],
    quantity: Annotated[int, range(1, 4)],
    lines: Literal["one line", "two lines"],
    place: Literal["the vendor's", "a hub"],
) -> str:
    if order in run.orders:
        raise Absent
    user = run.buyers[buyer]
    further = (run.further_product,) if lines == "two lines" else ()
    hub = {"hubId": str(run.agent.claims["hub_id"])} if place == "a hub" else {}
    made = await check_out(run.market, user, run.products[0], quantity, *further, **hub)
    run.orders[order] = OrderRecord(made["id"], user, lines_of(made), made["totalMinor"])
    return str(made["status"])


@step("the payer's bank declines order {order}")
async def decline(run: Run, order: Order) -> str:
    return await run.act(f"charges/{chosen(-1, order.references)}/decline")


@step("the {by} cancels order {order}, money goes {to}")
async def cancel(run: Run, order: Order, by: Literal["buyer", "vendor", "staff"], to: Destination) -> str:
    user = {"buyer": order.buyer, "vendor": run.vendors[order.seller], "staff": SUPPORT}[by]
    chosen_by = _REFUND_TO[to] if by == "buyer" else {}
    return str((await CANCEL_ORDER.post(run.market, user, order.facts, **chosen_by))["status"])


@step("the vendor dispatches order {order}")
async def dispatch(run: Run, order: Order) -> str:
    return str((await DISPATCH.post(run.market, run.vendors[order.seller], order.facts))["status"])


@step("the vendor enters the PIN of order {order}")
async def hand_over(run: Run, order: Order) -> str:
    facts = await with_pin(run.market, order.facts, order.buyer)
    return str((await VERIFY_DELIVERY.post(run.market, run.vendors[order.seller], facts))["status"])


@step("the buyer disputes order {order}, money goes {to}")
async def dispute(run: Run, order: Order, to: Destination) -> str:
    return str((await DISPUTE.post(run.market, order.buyer, order.facts, **_REFUND_TO[to]))["status"])


@step("support resolves the dispute of order {order} for {outcome}")
async def resolve_dispute(run: Run, order: Order, outcome: Literal["buyer", "vendor", "split"]) -> str:
    refund_minor = order.total_minor // 3 if outcome == "split" else None
    order.resolutions.append(await resolve(run.market, order.id, outcome, refund_minor))
    return str(order.resolutions[-1]["status"])


@step("finance {decision}s the resolution of order {order}")
async def decide_resolution(run: Run, order: Order, decision: Decision) -> str:
    command = APPROVE_RESOLUTION if decision == "approve" else REJECT_RESOLUTION
    await command.post(run.market, CHECKER, chosen(-1, order.resolutions))
    return "decided"


@step("the buyer returns one piece of order {order}, money goes {to}")
async def return_piece(run: Run, order: Order, to: Destination) -> str:
    made = await request_return(run.market, order.id, order.item_id, order.buyer, **_REFUND_TO[to])
    order.returns.append(made["id"])
    return str(made["status"])


@step("the vendor {decision}s the return of order {order}")
async def decide_return(run: Run, order: Order, decision: Decision) -> str:
    path = f"/api/return-requests/{chosen(-1, order.returns)}/{decision}"
    body = {} if decision == "approve" else REASON
    return str((await run.market.post(path, run.vendors[order.seller], body))["status"])


@step("finance releases {part} of order {order}")
async def release(run: Run, order: Order, part: Part) -> str:
    facts = {**order.facts, "totalMinor": order.total_minor // _PARTS[part]}
    return f"{(await RELEASE.post(run.market, CHECKER, facts))['releasedMinor']} kobo"


@step("buyer {buyer} requests the erasure of the account")
async def request_erasure(run: Run, buyer: Annotated[int, range(2)]) -> str:
    if not run.market.has_everyone:
        raise Absent
    response = await run.market.request("DELETE", "/api/profiles/current", run.buyers[buyer], {})
    return str(response.status_code)


@step("the vendor has nothing left to sell")
async def sell_out(run: Run) -> str:
    response = await run.market.request("PATCH", f"/api/products/{run.products[0]}", run.vendor, {"stock": 0})
    return str(response.status_code)


@step("two of finance {decision} the failed refunds of order {order}")
async def decide_refunds(
    run: Run, order: Order, decision: Literal["retry", "pay to an account", "reject", "prepare"]
) -> str:
    failed = await run.failed_refunds_of(order)
    if not failed:
        raise Absent
    for refund in failed:
        path = f"/api/refunds/{refund['id']}"
        if decision == "pay to an account":
            order.refund_transfers.append(await refund_to_account(run.market, refund["id"]))
        elif decision == "retry":
            await prepare_and_approve(run.market, path, {"action": "retry"})
        else:
            await run.market.post(f"{path}/prepare", MAKER, {**REASON, "action": "retry"})
        if decision == "reject":
            await run.market.post(f"{path}/reject", CHECKER, REASON)
    return f"{len(failed)} refunds"


@step("two of finance {decision} a quarantined charge")
async def decide_quarantined(run: Run, pick: Pick, decision: Literal["accept", "return", "reject"]) -> str:
    path = f"/api/quarantined-charges/{chosen(pick, await run.quarantined())['id']}"
    if decision == "reject":
        await run.market.post(f"{path}/prepare", MAKER, {**REASON, "outcome": "return"})
        await run.market.post(f"{path}/reject", CHECKER, REASON)
    else:
        await prepare_and_approve(run.market, path, {"outcome": decision})
    return "decided"


@step("finance responds to the chargebacks of order {order} with {response}")
async def respond_to_chargeback(run: Run, order: Order, response: Literal["evidence", "accept", "contest"]) -> str:
    opened = await run.market.get(f"/api/chargebacks?status=opened&orderId={order.id}", MAKER)
    path, body = f"/api/chargebacks/{chosen(0, opened)['id']}", {"resolution": response, **_RESPONSE}
    if response == "evidence":
        return str((await run.market.post(f"{path}/evidence", MAKER, _EVIDENCE))["status"])
    return str((await run.market.post(f"{path}/resolve", MAKER, body))["status"])


# Banks, about refunds and chargebacks


@step("the bank lets the refund transfer of order {order} {action}")
async def settle_refund_transfer(run: Run, order: Order, action: Literal["succeed", "fail", "reverse"]) -> str:
    return await run.act(f"transfers/{chosen(-1, order.refund_transfers)}/{action}")


@step("the bank is asked to {action} the refunds of order {order}")
async def settle_refunds(run: Run, order: Order, action: Literal["process", "fail", "attention"]) -> str:
    pending = [line for line in await run.refunds_of(order) if line["status"] in ("pending", "processing")]
    if not pending:
        raise Absent
    return ", ".join([await run.act(f"refunds/{refund['id']}/{action}") for refund in pending])


@step("the payer's bank requests {part} of order {order} back")
async def open_chargeback(run: Run, order: Order, part: Part) -> str:
    chosen(0, order.references)
    for reference in order.references:
        body = {"amount": order.requested_minor[reference] // _PARTS[part]}
        response = await run.market.sandbox.client.post(f"/control/charges/{reference}/dispute", json=body)
        if response.is_success:
            order.disputes.append(response.json()["id"])
            break
    return str(response.status_code)


@step("the bank lets the chargeback of order {order} {action}")
async def decide_chargeback(run: Run, order: Order, action: ChargebackAction) -> str:
    return await run.act(f"disputes/{chosen(-1, order.disputes)}/{action}")


# The schedule: messages, webhooks, timers and time


@step("a relay publishes")
async def relay(run: Run, pick: Pick) -> str:
    name = str(chosen(pick, run.market.relays()))
    await run.market.relay(name)
    return name


@step("up to {count} messages of a queue are delivered, in another order")
async def deliver_messages(
    run: Run, pick: Pick, first: Annotated[int, range(4)], count: Annotated[int, range(1, 4)]
) -> str:
    queue = chosen(pick, run.market.waiting_queues())
    types = [message.type for message in run.market.broker.ready[queue]]
    delivered = await run.market.deliver(queue, (first,) * count)
    return f"{delivered} of {queue}: {', '.join(types)}"


@step("a message is in its queue twice")
async def duplicate_message(run: Run, pick: Pick, message: Annotated[int, range(4)]) -> str:
    queue = str(chosen(pick, run.market.waiting_queues()))
    run.market.broker.duplicate(queue, message)
    return queue


@step("a queue delivers nothing for {minutes} minutes")
async def hold_queue(run: Run, pick: Pick, minutes: Literal[1, 20, 600]) -> str:
    queue = str(chosen(pick, sorted(run.market.broker.consumed)))
    run.market.broker.hold(queue, run.market.clock.now() + timedelta(minutes=minutes))
    return queue


@step("{service} consumes nothing for {minutes} minutes")
async def hold_service(
    run: Run, service: Literal["orders", "payments", "payouts"], minutes: Literal[1, 20, 600]
) -> str:
    queues = [queue for queue in sorted(run.market.broker.consumed) if queue.startswith(f"{service}.")]
    for queue in queues:
        run.market.broker.hold(queue, run.market.clock.now() + timedelta(minutes=minutes))
    return ", ".join(queues)


@step("everything is published, and every message is in its queue twice")
async def duplicate_everything(run: Run) -> str:
    await run.market.release_rows()
    for name in run.market.relays():
        await run.market.relay(name)
    queues = run.market.waiting_queues()
    for queue in queues:
        run.market.broker.duplicate_all(queue)
    return str(len(queues))


@step("the gateway sends a webhook {how}")
async def send_webhook(run: Run, pick: Pick, how: Literal["once", "twice", "and again later"]) -> str:
    webhook = chosen(pick, await run.market.webhooks.waiting())
    for _ in range(2 if how == "twice" else 1):
        await run.market.send_webhook(webhook.body)
    if how != "and again later":
        run.market.webhooks.discard(webhook)
    return str(webhook.event)


@step("a webhook is lost")
async def drop_webhook(run: Run, pick: Pick) -> str:
    webhook = chosen(pick, await run.market.webhooks.waiting())
    if webhook.event.startswith("transfer."):
        ended_at = run.ended_at.get(webhook.reference)
        if ended_at is None or run.market.clock.now() - ended_at > _QUERIED_WITHIN:
            raise Absent
        run.has_lost_transfer = True
    run.market.webhooks.discard(webhook)
    return str(webhook.event)


@step("a timer runs")
async def run_timer(run: Run, pick: Pick) -> str:
    name, timer = chosen(pick, run.market.timers())
    error = await run.market.run_timer(name, timer)
    return f"{name}: {timer}" + (f": {error}" if error else "")


@step("{minutes} minutes pass")
async def wait(run: Run, minutes: Literal[1, 5, 30, 120]) -> str:
    run.market.clock.advance(timedelta(minutes=minutes))
    return "ok"


@step("{days} days pass with all timers")
async def pass_days(run: Run, days: Literal[1, 4, 8, 15]) -> str:
    return "; ".join(await run.market.pass_time(timedelta(days=days))) or "ok"


@step("everything is published, and the newest message of each queue is delivered")
async def deliver_newest(run: Run) -> str:
    for name in run.market.relays():
        await run.market.relay(name)
    queues = run.market.waiting_queues()
    for queue in queues:
        await run.market.deliver(queue, (len(run.market.broker.ready[queue]) - 1,))
    return str(len(queues))


@step("everything is published and delivered")
async def deliver_everything(run: Run) -> str:
    await run.market.run_until_idle()
    return "ok"


@step("what is due now is published and delivered")
async def deliver_present(run: Run) -> str:
    await run.market.run_present()
    return "ok"
