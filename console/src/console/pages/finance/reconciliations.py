"""Reconciliations of payouts and their approval."""

from starlette.responses import Response

from console.api import Json
from console.families import Screens
from console.formats import spoken
from console.lists import Column, Filter, ListView, show_list, vendor_name
from console.money import payout_state, posting_rows
from console.pages.finance.decisions import approved, is_outdated, names_of_decision
from console.parts import account_names, command
from console.visit import Visit

SCREENS = Screens()

RECONCILIATIONS = ListView(
    "/api/reconciliations",
    columns=(
        Column("Reconciliation", lambda row: spoken(row["kind"]), link="/reconciliations/{id}"),
        Column("Status", "status", "badge"),
        Column("Amount", "amountMinor", "naira"),
        Column("Payout", "payoutNumber", link="/payouts/{payoutId}"),
        Column("Vendor", vendor_name),
        Column("Prepared by", "preparedBy", "staff"),
        Column("Prepared", "preparedAt", "time"),
        Column("Decided", "decidedAt", "time"),
    ),
    filters=(
        Filter("status", "Status"),
        Filter("awaiting", "Awaiting"),
        Filter("payoutId", "Payout", kind="payout"),
    ),
    empty="No reconciliation is here. Finance prepares one on the page of a payout that failed or came back.",
)


@SCREENS.page("/reconciliations", title="Reconciliations", any_of=("payouts:read",), menu="Reconciliations")
async def reconciliations_page(visit: Visit) -> Response:
    return await show_list(visit, RECONCILIATIONS)


@SCREENS.page("/reconciliations/{id:uuid}", title="Reconciliation", any_of=("payouts:read",))
async def reconciliation_page(visit: Visit) -> Response:
    path = f"/api/reconciliations/{visit['id']}"
    reconciliation: Json = await visit.api.get(path)
    payout: Json = await visit.api.get(f"/api/payouts/{reconciliation['payoutId']}")
    is_prepared = reconciliation["status"] == "prepared"
    entries = await visit.api.get(f"{path}/postings") if is_prepared else _entries_of(reconciliation)
    return visit.render(
        "finance/reconciliation.html",
        reconciliation=reconciliation,
        payout=payout,
        state=payout_state(payout),
        rows=posting_rows(entries, reconciliation["currency"], await account_names(visit, [{"entries": entries}])),
        decision=reconciliation,
        outdated=is_outdated(visit, reconciliation["hash"]),
        names=await names_of_decision(visit, reconciliation),
    )


def _entries_of(reconciliation: Json) -> list[Json]:
    return [entry for posting in reconciliation["postings"] for entry in posting["entries"]]


@SCREENS.action("/reconciliations/{id:uuid}/approve", any_of=("reconciliations:approve",), page=reconciliation_page)
async def approve_reconciliation(visit: Visit) -> Response:
    path = f"/reconciliations/{visit['id']}"
    decided: Json = await visit.api.post(f"/api{path}/approve", {"hash": visit.form["hash"]})
    return visit.go(path, approved(visit, decided, "The reconciliation is posted."))


@SCREENS.action("/reconciliations/{id:uuid}/reject", any_of=("reconciliations:approve",), page=reconciliation_page)
async def reject_reconciliation(visit: Visit) -> Response:
    return await command(visit, {"reason": visit.form["reason"]}, "The reconciliation is rejected; nothing was posted.")
