"""Dispute resolutions and their approval."""

from typing import Any, Final

from starlette.responses import Response

from console.api import ApiProblem, Json
from console.families import Screens
from console.lists import ORDER_COLUMN, Column, Filter, ListView, show_list
from console.money import posting_rows, sided
from console.pages.finance.decisions import LEDGER, approved, balance_of, for_reader, is_outdated, names_of_decision
from console.parts import account_names, command
from console.visit import Visit

SCREENS = Screens()

RESOLUTION_READERS: Final = ("disputes:approve", "disputes:prepare", "orders:read")
OUTCOMES: Final = {"buyer": "for the buyer", "vendor": "for the vendor", "split": "split"}
RESOLUTIONS = ListView(
    "/api/dispute-resolutions",
    columns=(
        Column("Outcome", lambda row: OUTCOMES[row["outcome"]], link="/dispute-resolutions/{id}"),
        Column("Status", "status", "badge"),
        Column("To the buyer", "refundMinor", "naira"),
        Column("Dispute", "dispute.reason"),
        ORDER_COLUMN,
        Column("Prepared", "createdAt", "time"),
    ),
    filters=(
        Filter("status", "Status"),
        Filter("awaiting", "Awaiting"),
        Filter("orderId", "Order", kind="order"),
    ),
    empty="No resolution is here. Support prepares one when a dispute is clear.",
)


@SCREENS.page(
    "/dispute-resolutions", title="Dispute resolutions", any_of=RESOLUTION_READERS, menu="Dispute resolutions"
)
async def resolutions_page(visit: Visit) -> Response:
    return await show_list(visit, for_reader(visit, RESOLUTIONS))


@SCREENS.page("/dispute-resolutions/{id:uuid}", title="Dispute resolution", any_of=RESOLUTION_READERS)
async def resolution_page(visit: Visit) -> Response:
    """Return the resolution, the complaint with its evidence, and what leaves the order's escrow."""
    resolution: Json = await visit.api.get(f"/api/dispute-resolutions/{visit['id']}")
    order_id = resolution["orderId"]
    dispute: Json = await visit.api.get(f"/api/orders/{order_id}/dispute")
    escrow = await balance_of(visit, f"escrow:{order_id}") if visit.may(LEDGER) else None
    held = -(escrow or 0)
    refund = resolution["refundMinor"]
    is_prepared = resolution["status"] == "prepared"
    plan = await _plan(visit, order_id, refund) if is_prepared and escrow is not None else None
    release = resolution["releaseMinor"] if resolution["releaseMinor"] is not None else max(held - refund, 0)
    return visit.render(
        "finance/resolution.html",
        resolution=resolution,
        outcome=OUTCOMES[resolution["outcome"]],
        evidence=dispute["evidence"],
        held=None if escrow is None else sided(escrow),
        refund=refund,
        release=release,
        plan=plan,
        rows=await _rows(visit, plan, resolution["orderNumber"]) if plan else [],
        is_short=escrow is not None and is_prepared and held < refund,
        decision={**resolution, "preparedAt": resolution["createdAt"]},
        outdated=is_outdated(visit, resolution["hash"]),
        names=await names_of_decision(visit, resolution),
    )


async def _plan(visit: Visit, order_id: str, refund_minor: int) -> Json | None:
    """Return what each party gets, and the postings; None for a reader, or where the order has less than the refund."""
    if not visit.may("disputes:approve"):
        return None
    try:
        plan: Json = await visit.api.get(f"/api/orders/{order_id}/resolution-plan", refundMinor=refund_minor)
    except ApiProblem as problem:
        if problem.status != 422:
            raise
        return None
    return plan


async def _rows(visit: Visit, plan: Json, order_number: str) -> list[dict[str, Any]]:
    named = {"entries": plan["entries"], "orderNumbers": {f"escrow:{plan['orderId']}": order_number}}
    return posting_rows(plan["entries"], names=await account_names(visit, [named]))


@SCREENS.action("/dispute-resolutions/{id:uuid}/approve", any_of=("disputes:approve",), page=resolution_page)
async def approve_resolution(visit: Visit) -> Response:
    path = f"/dispute-resolutions/{visit['id']}"
    await visit.api.post(f"/api{path}/approve", {"hash": visit.form["hash"]})
    resolution: Json = await visit.api.get(f"/api{path}")
    return visit.go(path, approved(visit, resolution, "The dispute is resolved; the money moves now."))


@SCREENS.action("/dispute-resolutions/{id:uuid}/reject", any_of=("disputes:approve",), page=resolution_page)
async def reject_resolution(visit: Visit) -> Response:
    return await command(visit, None, "The resolution is rejected; the order stays disputed.")
