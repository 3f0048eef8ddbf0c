"""Payouts for finance: the run with its preview, batches with their progress, one payout."""

import asyncio
from typing import Final

from starlette.responses import Response

from console.api import DISPATCH_SECONDS_MAX, ApiProblem, Json
from console.families import Screens
from console.formats import days_since, spoken
from console.lists import Column, Filter, ListView, account, show_list, vendor_name
from console.money import arrival_words, payout_state, transfer_state
from console.pages.finance.decisions import is_outdated
from console.pages.oncall.stops import present_stops
from console.pages.vendor.money import latest_months
from console.parts import command, names_of
from console.visit import Visit

SCREENS = Screens()

READERS: Final = ("payouts:read",)
DISPATCHERS: Final = ("payouts:dispatch",)
HOLDERS: Final = ("payouts:hold",)
APPROVERS: Final = ("payouts:approve",)
CHANGED_LIST: Final = "This is the present list: read it again. A run above the limit needs a second person."
PAYOUTS_SHOWN_MAX: Final = 100
"""Payouts to choose from; a run without a choice takes the oldest, up to the API's own limit."""
FINAL_STATUSES: Final = frozenset({"success", "failed", "rejected", "blocked", "abandoned", "reversed", "planned"})
SKIP_REASONS: Final = {
    "not_found": "there is no such payout",
    "not_pending": "it is no longer pending",
    "already_dispatched": "its transfer is under way",
    "credit_not_released": "the wallet holds a credit that payments did not release",
    "release_statement_awaited": "the statement of payments about its credits has not arrived",
    "held": "finance holds it",
    "dispatch_stopped": "staff on call have stopped all dispatches",
    "vendor_suspended": "the vendor is suspended",
    "transfer_contradicted": "money of the vendor may have been paid twice: two people reconcile it first",
    "disputed": "it contains money of a disputed charge",
    "debt_outstanding": "the vendor has a debt",
    "bank_details_changed": "the bank details changed or are not verified",
    "bank_details_cooling": "the bank details changed a short time ago",
    "max_total_reached": "the limit of the run is reached",
    "balance_insufficient": "the gateway's balance does not cover the run",
}

PAYOUTS = ListView(
    "/api/payouts",
    columns=(
        Column("Payout", "number", link="/payouts/{id}"),
        Column("Status", payout_state, "badge"),
        Column("Amount", "amountMinor", "naira"),
        Column("Vendor", vendor_name, link="/payouts?vendorId={vendorId}"),
        Column("Account holder", "accountName"),
        Column("Account", account),
        Column("Transfer", transfer_state, "badge"),
        Column("Exception", lambda row: spoken(row["openException"]["cause"]) if row["openException"] else None),
        Column("Requested", "createdAt", "time"),
    ),
    filters=(
        Filter("status", "Status"),
        Filter("awaiting", "Awaiting"),
        Filter("from", "Requested from", kind="date"),
        Filter("to", "Before", kind="date"),
        Filter("reference", "Transfer's reference", kind="search"),
        Filter("batchId", "Batch", kind="hidden"),
        Filter("number", "Number", kind="search"),
        Filter("vendorName", "Vendor", kind="search"),
        Filter("vendorId", "Vendor", kind="hidden"),
        Filter("ownerId", "Owner", kind="hidden"),
    ),
    empty="No payout was requested yet. Vendors request them from their wallet.",
)


@SCREENS.page("/payouts", title="Payouts", any_of=READERS, menu="Payouts")
async def payouts_page(visit: Visit) -> Response:
    return await show_list(visit, PAYOUTS, "finance/payouts.html")


@SCREENS.page("/payouts/run", title="Payout run", any_of=DISPATCHERS, menu="Payout run")
async def run_page(visit: Visit) -> Response:
    """Return what a run would send now, to preview it whole or in part."""
    waiting = await visit.api.page("/api/payouts", awaiting="dispatch", limit=PAYOUTS_SHOWN_MAX, sort="created_at")
    chosen = visit.form.every("payoutId")
    return visit.render("finance/run.html", waiting=waiting, chosen=chosen, stops=await present_stops(visit))


@SCREENS.action("/payouts/run", any_of=DISPATCHERS, page=run_page)
async def preview(visit: Visit) -> Response:
    """Return a dry run. It is kept by the API, so that its page can be read again."""
    body: Json = {"dryRun": True}
    if chosen := visit.form.every("payoutId"):
        body["payoutIds"] = chosen
    if (most := visit.form.minor("maxTotal")) is not None:
        body["maxTotalMinor"] = most
    plan: Json = await visit.api.post("/api/payouts/dispatch", body)
    return visit.go(f"/payout-batches/{plan['batchId']}")


BATCHES = ListView(
    "/api/payout-batches",
    columns=(
        Column("Sent", "createdAt", "time", link="/payout-batches/{batchId}"),
        Column("By", "dispatchedBy", "staff"),
        Column("Payouts", "payouts", "number"),
        Column("Total", "totalMinor", "naira"),
        Column("Arrived", "successful", "number"),
        Column("Failed", "failed", "number"),
        Column("Left out", "skipped", "number"),
    ),
    filters=(Filter("awaiting", "Awaiting"),),
    empty="No batch is here. A payout run sends one.",
)


@SCREENS.page("/payout-batches", title="Batches", any_of=READERS, menu="Batches")
async def batches_page(visit: Visit) -> Response:
    return await show_list(visit, BATCHES)


@SCREENS.page("/payout-batches/{id:uuid}", title="Batch", any_of=READERS)
async def batch_page(visit: Visit) -> Response:
    """Return the plan of a dry run with the form that sends exactly it, or the progress of a batch."""
    batch: Json = await visit.api.get(f"/api/payout-batches/{visit['id']}")
    open_exceptions = {} if batch["dryRun"] else await _open_exceptions(visit)
    # A failed transfer keeps its status until its exception is handled.
    transfers = [{**one, "exception": open_exceptions.get(one["payoutId"])} for one in batch["transfers"]]
    is_final = [one["status"] in FINAL_STATUSES for one in transfers]
    approval: Json | None = batch["approval"] and {**batch["approval"], "hash": batch["hash"]}
    return visit.render(
        "finance/batch.html",
        title="Preview of a payout run" if batch["dryRun"] else "Batch",
        batch=batch,
        transfers=transfers,
        done=sum(is_final),
        arrived=sum(one["status"] == "success" for one in transfers),
        excepted=sum(one["exception"] is not None for one in transfers),
        is_running=not all(is_final),
        needed=batch["totalMinor"] + batch["feesMinor"],
        skipped=[{**one, "why": SKIP_REASONS.get(one["reason"], one["reason"])} for one in batch["skipped"]],
        is_short=any(one["reason"] == "balance_insufficient" for one in batch["skipped"]),
        transfer_columns=PAYEES if batch["dryRun"] else TRANSFERS,
        payee_columns=PAYEES,
        names=await names_of(visit, batch["dispatchedBy"], *_approval_users(batch["approval"])),
        decision=approval,
        outdated=is_outdated(visit, batch["hash"]),
        skipped_columns=SKIPPED,
    )


def _approval_users(approval: Json | None) -> list[str]:
    return [one for one in (approval["preparedBy"], approval["decidedBy"]) if one] if approval else []


async def _open_exceptions(visit: Visit) -> dict[str, Json]:
    """Return the open exceptions by payout; on-call works on them."""
    if not visit.may("exceptions:read"):
        return {}
    found = visit.api.every_row("/api/payout-exceptions", status="open")
    return {one["payoutId"]: one async for one in found if one["payoutId"]}


def _problem(one: Json) -> str | None:
    """Return the cause of the open exception, else why the transfer failed."""
    return spoken(one["exception"]["cause"]) if one["exception"] else one["failure"]


def _exception_link(one: Json) -> str:
    return f"/payout-exceptions/{one['exception']['id']}" if one["exception"] else ""


PAYEES: Final = (
    Column("Payout", "payoutNumber", link="/payouts/{payoutId}"),
    Column("Vendor", vendor_name, link="/payouts?vendorId={vendorId}"),
    Column("Account holder", "accountName"),
    Column("Account", account),
    Column("Amount", "amountMinor", "naira"),
    Column("Fee", "feeMinor", "naira"),
    Column("Waiting", lambda one: days_since(one["requestedAt"])),
)
TRANSFERS: Final = (
    *PAYEES,
    Column("Transfer", "status", "badge"),
    Column("Problem", _problem, link=_exception_link),
    Column("Reference", "reference", "code"),
)
SKIPPED: Final = (
    Column("Payout", lambda one: one["payoutNumber"] or "unknown payout", link="/payouts/{payoutId}"),
    Column("Vendor", vendor_name),
    Column("Amount", "amountMinor", "naira"),
    Column("Why it is left out", "why"),
)


@SCREENS.action("/payout-batches/{id:uuid}/dispatch", any_of=DISPATCHERS, page=batch_page)
async def dispatch(visit: Visit) -> Response:
    """Send the payouts of the preview, and no other: the plan that was read never changes."""
    plan: Json = await visit.api.get(f"/api/payout-batches/{visit['id']}")
    if not plan["dryRun"]:
        return visit.go(f"/payout-batches/{visit['id']}", "This batch was sent already.")
    payout_ids = [transfer["payoutId"] for transfer in plan["transfers"]]
    body = {"payoutIds": payout_ids, "maxTotalMinor": plan["totalMinor"]}
    return await _send(visit, "/api/payouts/dispatch", body)


@SCREENS.action("/payout-batches/{id:uuid}/prepare", any_of=DISPATCHERS, page=batch_page)
async def prepare_run(visit: Visit) -> Response:
    """Prepare the list that was read for the approval of a second person."""
    return await command(
        visit, {"hash": visit.form["hash"]}, "The run is prepared. Another person of finance approves and sends it."
    )


@SCREENS.action("/payout-batches/{id:uuid}/approve", any_of=APPROVERS, page=batch_page)
async def approve_run(visit: Visit) -> Response:
    """Send the list that maker and checker read, and no other."""
    return await _send(visit, f"/api/payout-batches/{visit['id']}/approve", {"hash": visit.form["hash"]})


@SCREENS.action("/payout-batches/{id:uuid}/reject", any_of=APPROVERS, page=batch_page)
async def reject_run(visit: Visit) -> Response:
    return await command(visit, {"reason": visit.form["reason"]}, "The run is rejected; nothing was sent.")


async def _send(visit: Visit, path: str, body: Json) -> Response:
    """Send a run; a refused one shows the preview of the present list that the API names."""
    try:
        batch: Json = await visit.api.post(path, body, seconds_max=DISPATCH_SECONDS_MAX)
    except ApiProblem as problem:
        if preview_id := problem.extensions.get("batchId"):
            return visit.go(f"/payout-batches/{preview_id}", f"Nothing was sent. {CHANGED_LIST}")
        raise
    return visit.go(f"/payout-batches/{batch['batchId']}", "The batch is sent. Its transfers are shown as they arrive.")


@SCREENS.page("/payouts/{id:uuid}", title="Payout", any_of=READERS)
async def payout_page(visit: Visit) -> Response:
    payout: Json = await visit.api.get(f"/api/payouts/{visit['id']}")
    reconciliations, wallet = await asyncio.gather(
        visit.api.page("/api/reconciliations", payoutId=payout["id"]), _wallet(visit, payout["vendorId"])
    )
    return visit.render(
        "finance/payout.html",
        payout=payout,
        state=payout_state(payout),
        account=account(payout),
        arrival=arrival_words(payout["arrival"]),
        waiting=next((one for one in reconciliations.items if one["status"] == "prepared"), None),
        wallet=wallet,
        reconciliations=reconciliations.items,
        columns=RECONCILIATIONS,
        months=latest_months()[1:],
        may_prepare=visit.may("reconciliations:prepare")
        and payout["transfer"] is not None
        and not any(one["status"] == "prepared" for one in reconciliations.items),
    )


async def _wallet(visit: Visit, vendor_id: str) -> Json | None:
    try:
        wallet: Json = await visit.api.get(f"/api/vendors/{vendor_id}/wallet")
    except ApiProblem as problem:
        if problem.status == 404:
            return None
        raise
    return wallet


RECONCILIATIONS: Final = (
    Column("Reconciliation", lambda one: spoken(one["kind"]), link="/reconciliations/{id}"),
    Column("Status", "status", "badge"),
    Column("Prepared", "preparedAt", "time"),
    Column("Decided", "decidedAt", "time"),
)


@SCREENS.action("/payouts/{id:uuid}/hold", any_of=HOLDERS, page=payout_page)
async def hold_payout(visit: Visit) -> Response:
    return await command(visit, {"reason": visit.form["reason"]}, "The payout is held: no run sends it.")


@SCREENS.action("/payouts/{id:uuid}/release", any_of=HOLDERS, page=payout_page)
async def release_payout(visit: Visit) -> Response:
    return await command(visit, {"reason": visit.form["reason"]}, "The payout is released: the next run may send it.")


@SCREENS.action("/payouts/{id:uuid}/reconciliations", any_of=("reconciliations:prepare",), page=payout_page)
async def prepare_reconciliation(visit: Visit) -> Response:
    """Return the API finds the posting that makes the ledger agree with the gateway; another person approves it."""
    prepared: Json = await visit.api.post(
        f"/api/payouts/{visit['id']}/reconciliations", {"reason": visit.form["reason"]}
    )
    return visit.go(f"/reconciliations/{prepared['id']}", "The reconciliation is prepared. Another person approves it.")
