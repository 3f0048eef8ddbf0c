"""Quarantined charges: what each outcome would post, and its decision."""

import asyncio
from typing import Final

from starlette.responses import Response

from console.api import Json
from console.families import Screens
from console.lists import ORDER_COLUMN, Column, Filter, ListView, order_name, show_list
from console.money import money, posting_rows
from console.pages.finance.decisions import (
    AMOUNT,
    FOREIGN,
    LEDGER,
    approved,
    for_reader,
    is_outdated,
    names_of_decision,
)
from console.parts import command
from console.visit import Visit

SCREENS = Screens()

QUARANTINE_READERS: Final = (LEDGER, "quarantine:read")
CHARGES = ListView(
    "/api/quarantined-charges",
    columns=(
        Column("Charge", "reference", link="/quarantined-charges/{id}"),
        Column("Status", "status", "badge"),
        AMOUNT,
        FOREIGN,
        Column("Reason", lambda row: row["reason"].replace("_", " ")),
        ORDER_COLUMN,
        Column("Received", "createdAt", "time"),
    ),
    filters=(
        Filter("status", "Status"),
        Filter("awaiting", "Awaiting"),
    ),
    empty="No charge is in quarantine. A payment that does not fit its order appears here.",
)


@SCREENS.page(
    "/quarantined-charges", title="Quarantined charges", any_of=QUARANTINE_READERS, menu="Quarantined charges"
)
async def charges_page(visit: Visit) -> Response:
    return await show_list(visit, for_reader(visit, CHARGES))


@SCREENS.page("/quarantined-charges/{id:uuid}", title="Quarantined charge", any_of=QUARANTINE_READERS)
async def charge_page(visit: Visit) -> Response:
    """Return what each outcome would post now, account by account, and the decision with its hash."""
    path = f"/api/quarantined-charges/{visit['id']}"
    charge, plans = await asyncio.gather(visit.api.get(path), _plans(visit, path))
    currency = charge["currency"]
    decision = charge["decision"] or {}
    accounts = {f"escrow:{charge['orderId']}": order_name(charge) or ""}
    shown = {plan["outcome"]: {**plan, "rows": posting_rows(plan["entries"], currency, accounts)} for plan in plans}
    return visit.render(
        "finance/charge.html",
        title=f"Quarantined charge of {order_name(charge)}"
        if charge["orderNumber"]
        else f"Quarantined charge {charge['reference']}",
        charge=charge,
        amount=money(charge["amountMinor"], currency),
        plans=shown,
        decision=decision,
        changed=_changed_since(decision, shown) if charge["status"] == "prepared" else "",
        outdated=is_outdated(visit, charge["hash"]),
        names=await names_of_decision(visit, decision),
    )


async def _plans(visit: Visit, path: str) -> list[Json]:
    """Return the outcomes of an undecided charge; support reads charges, not the ledger."""
    if not visit.may(LEDGER):
        return []
    plans: list[Json] = await visit.api.get(f"{path}/postings")
    return plans


def _changed_since(decision: Json, plans: dict[str, Json]) -> str:
    """Return what changed since an acceptance was prepared."""
    if decision.get("outcome") != "accept" or "accept" not in plans:
        return ""
    plan = plans["accept"]
    if plan["reason"]:
        return f"{plan['reason']} Reject the decision; the maker then prepares a return."
    if not any(entry["account"].startswith("escrow:") for entry in plan["entries"]):
        return "The order was paid by another charge: all of this one would go back to the buyer."
    return ""


@SCREENS.action("/quarantined-charges/{id:uuid}/prepare", any_of=("quarantine:prepare",), page=charge_page)
async def prepare_charge(visit: Visit) -> Response:
    body = {"outcome": visit.form["outcome"], "reason": visit.form["reason"]}
    return await command(visit, body, "The decision is prepared. Another person approves it.")


@SCREENS.action("/quarantined-charges/{id:uuid}/approve", any_of=("quarantine:approve",), page=charge_page)
async def approve_charge(visit: Visit) -> Response:
    path = f"/quarantined-charges/{visit['id']}"
    charge: Json = await visit.api.post(f"/api{path}/approve", {"hash": visit.form["hash"]})
    notice = "The charge pays its order." if charge["status"] == "accepted" else "The charge goes back to its payer."
    return visit.go(path, approved(visit, charge["decision"], notice))


@SCREENS.action("/quarantined-charges/{id:uuid}/reject", any_of=("quarantine:approve",), page=charge_page)
async def reject_charge(visit: Visit) -> Response:
    return await command(
        visit, {"reason": visit.form["reason"]}, "The decision is rejected; the charge stays in quarantine."
    )
