"""Holding several payouts at once, with the result of each."""

from typing import Any, Final

from starlette.responses import Response

from console.api import ApiProblem, Json
from console.families import Screens
from console.lists import Column, account, vendor_name
from console.pages.finance.payouts import HOLDERS
from console.visit import InvalidField, Visit

SCREENS = Screens()

TOGETHER_MAX: Final = 50
"""A person reads so many lines before they decide, and the requests end within the time of a page."""
RESULTS: Final = (
    Column("Payout", "number", link="/payouts/{id}"),
    Column("Vendor", vendor_name),
    Column("Account", account),
    Column("Amount", "amountMinor", "naira"),
    Column("Result", "result"),
)


@SCREENS.page("/payouts/hold", title="Hold several payouts", any_of=HOLDERS)
async def hold_page(visit: Visit) -> Response:
    """Return the pending payouts that finance does not hold, oldest first, to choose from."""
    name = visit.query.get("vendorName", "")
    found = await visit.api.page(
        "/api/payouts", status="pending", sort="created_at", order="asc", limit=TOGETHER_MAX, vendorName=name
    )
    return visit.render(
        "finance/hold.html",
        payouts=[one for one in found.items if one["hold"] is None],
        is_complete=(found.total or 0) <= TOGETHER_MAX,
        vendor_name=name,
        chosen=visit.form.every("payoutId"),
    )


@SCREENS.action("/payouts/hold", any_of=HOLDERS, page=hold_page)
async def hold_payouts(visit: Visit) -> Response:
    """Hold each chosen payout by itself, and show what became of each. A second press repeats the same requests."""
    chosen, reason = visit.form.every("payoutId"), visit.form["reason"].strip()
    if not chosen:
        raise InvalidField("payoutId", "choose at least one payout")
    if len(chosen) > TOGETHER_MAX:
        raise InvalidField("payoutId", f"choose at most {TOGETHER_MAX} payouts")
    if not reason:
        raise InvalidField("reason", "is needed")
    results = [await _hold(visit, payout_id, reason) for payout_id in chosen]
    held = sum(one["isHeld"] for one in results)
    # The results have no address of their own: a reload shows the choice again.
    visit.address = visit.path
    return visit.render("finance/held.html", results=results, held=held, columns=RESULTS)


async def _hold(visit: Visit, payout_id: str, reason: str) -> dict[str, Any]:
    """Return the payout with its result. A refused one changes nothing, and the others go on.

    Raises ApiProblem when a second factor is due.
    """
    try:
        held: Json = await visit.api.post(f"/api/payouts/{payout_id}/hold", {"reason": reason})
        return {**held, "isHeld": True, "result": "held: no run sends it"}
    except ApiProblem as problem:
        if problem.needs_step_up or problem.status == 422:
            raise
        result = f"not held: {problem.detail or problem.title}"
    payout: Json = await visit.api.get(f"/api/payouts/{payout_id}")
    return {**payout, "isHeld": False, "result": result}
