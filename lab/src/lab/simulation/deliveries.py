"""The steps of a paid order on its way: lines, PINs and the hub. `sentence: outcome` is a line of a report."""

from typing import Final, Literal

from lab.simulation.run import Run
from lab.simulation.step import Order, Pick, chosen, step
from lab.stepped.actions import REASON, VERIFY_DELIVERY, with_pin
from lab.stepped.actors import CHECKER, SUPPORT
from lab.stepped.errors import StepRejected

_WRONG_MAX: Final = 5
_IDENTIFIED: Final = "The buyer showed the student card."


@step("the {by} cancels a line of order {order}")
async def cancel_line(run: Run, order: Order, by: Literal["vendor", "staff"], pick: Pick) -> str:
    user = run.vendors[order.seller] if by == "vendor" else SUPPORT
    path = f"/api/orders/{order.id}/items/{chosen(pick, order.lines)}/cancel"
    return str((await run.market.post(path, user, REASON))["status"])


@step("the agent of the hub receives order {order}")
async def arrive(run: Run, order: Order) -> str:
    return str((await run.market.post(f"/api/orders/{order.id}/arrive", run.agent))["status"])


@step("the agent of the hub enters the PIN of order {order}")
async def hand_over_at_hub(run: Run, order: Order) -> str:
    facts = await with_pin(run.market, order.facts, order.buyer)
    return str((await VERIFY_DELIVERY.post(run.market, run.agent, facts))["status"])


@step("the vendor enters a wrong PIN of order {order} five times")
async def lock_pin(run: Run, order: Order) -> str:
    path, vendor = f"/api/orders/{order.id}/verify-delivery", run.vendors[order.seller]
    pin = (await with_pin(run.market, order.facts, order.buyer))["pin"]
    wrong = "".join(str((int(digit) + 1) % 10) for digit in pin)
    for _ in range(_WRONG_MAX):
        try:
            await run.market.post(path, vendor, {"pin": wrong})
        except StepRejected as rejection:
            status = rejection.status
    return str(status)


@step("the buyer requests a new PIN of order {order}")
async def reissue_pin(run: Run, order: Order) -> str:
    await run.market.post(f"/api/orders/{order.id}/delivery-pin/reissue", order.buyer)
    return "sent"


@step("two of staff {decision} a new PIN of order {order}")
async def decide_reissue(run: Run, order: Order, decision: Literal["approve", "reject", "prepare"]) -> str:
    body = {"orderId": order.id, "reason": _IDENTIFIED}
    prepared = await run.market.post("/api/pin-reissues", SUPPORT, body)
    if decision == "prepare":
        return str(prepared["status"])
    decided = {"hash": prepared["hash"]} if decision == "approve" else REASON
    return str((await run.market.post(f"/api/pin-reissues/{prepared['id']}/{decision}", CHECKER, decided))["status"])
