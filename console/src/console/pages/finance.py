"""Finance's decisions by maker and checker: quarantined charges, refunds, dispute resolutions, reconciliations, chargebacks."""

import asyncio
import base64
from dataclasses import replace
from typing import Final

from starlette.responses import Response

from console.api import Json
from console.families import Family
from console.lists import Column, Filter, ListView, choices, show_list
from console.money import money, posting_rows, sided
from console.visit import InvalidField, Visit

FAMILY = Family("Finance", order=20)

LEDGER: Final = "ledger:read"
AMOUNT: Final = Column("Amount", lambda row: row["amountMinor"] if row["currency"] == "NGN" else None, "naira")
FOREIGN: Final = Column(
    "Foreign amount",
    lambda row: "" if row["currency"] == "NGN" else money(row["amountMinor"], row["currency"]),
    "number",
)
"""An amount in another currency than naira is never shown in a column of naira."""
APPROVED_BEFORE: Final = "Another checker had approved it already. Your approval changed nothing."


def _for_reader(visit: Visit, view: ListView) -> ListView:
    """The list with orders leading where the person may go: finance reads an order's transactions, not the order."""
    if visit.may("orders:read"):
        return view
    columns = (
        replace(one, link="/transactions?orderId={orderId}") if one.label == "Order" else one for one in view.columns
    )
    return replace(view, columns=tuple(columns))


def _approved(visit: Visit, decision: Json, notice: str) -> str:
    """What the approval did: of two checkers at once, one decides, and the other one reads so."""
    return notice if decision["decidedBy"] == visit.user.id else APPROVED_BEFORE


def is_outdated(visit: Visit, present_hash: str | None) -> bool:
    """Whether the refused form carried another hash than the decision has now."""
    return visit.error is not None and bool(visit.form["hash"]) and visit.form["hash"] != present_hash


# ---- Quarantined charges ---------------------------------------------------------------------------------------------

QUARANTINE_READERS: Final = (LEDGER, "quarantine:read")
CHARGES = ListView(
    "/api/quarantined-charges",
    columns=(
        Column("Charge", "reference", link="/quarantined-charges/{id}"),
        Column("Status", "status", "badge"),
        AMOUNT,
        FOREIGN,
        Column("Reason", lambda row: row["reason"].replace("_", " ")),
        Column("Order", "orderId", "id", link="/orders/{orderId}"),
        Column("Received", "createdAt", "time"),
    ),
    filters=(
        Filter("status", "Status", choices("quarantined", "prepared", "accepted", "returned")),
        Filter("awaiting", "Awaiting", choices("preparation", "approval")),
    ),
    empty="No charge is in quarantine. A payment that does not fit its order appears here.",
)


@FAMILY.page("/quarantined-charges", title="Quarantined charges", any_of=QUARANTINE_READERS, menu="Quarantined charges")
async def charges_page(visit: Visit) -> Response:
    return await show_list(visit, _for_reader(visit, CHARGES))


@FAMILY.page("/quarantined-charges/{id:uuid}", title="Quarantined charge", any_of=QUARANTINE_READERS)
async def charge_page(visit: Visit) -> Response:
    """What each outcome would post now, account by account, and the decision with its hash."""
    path = f"/api/quarantined-charges/{visit['id']}"
    charge, plans = await asyncio.gather(visit.api.get(path), _plans(visit, path))
    currency = charge["currency"]
    decision = charge["decision"] or {}
    shown = {plan["outcome"]: {**plan, "rows": posting_rows(plan["entries"], currency)} for plan in plans}
    return visit.render(
        "finance/charge.html",
        charge=charge,
        amount=money(charge["amountMinor"], currency),
        plans=shown,
        decision=decision,
        changed=_changed_since(decision, shown) if charge["status"] == "prepared" else "",
        outdated=is_outdated(visit, charge["hash"]),
    )


async def _plans(visit: Visit, path: str) -> list[Json]:
    """The outcomes of an undecided charge; support reads charges, not the ledger."""
    if not visit.may(LEDGER):
        return []
    plans: list[Json] = await visit.api.get(f"{path}/postings")
    return plans


def _changed_since(decision: Json, plans: dict[str, Json]) -> str:
    """What changed since an acceptance was prepared."""
    if decision.get("outcome") != "accept" or "accept" not in plans:
        return ""
    plan = plans["accept"]
    if plan["reason"]:
        return f"{plan['reason']} Reject the decision; the maker then prepares a return."
    if not any(entry["account"].startswith("escrow:") for entry in plan["entries"]):
        return "The order was paid by another charge: all of this one would go back to the buyer."
    return ""


@FAMILY.action("/quarantined-charges/{id:uuid}/prepare", any_of=("quarantine:prepare",), page=charge_page)
async def prepare_charge(visit: Visit) -> Response:
    path = f"/quarantined-charges/{visit['id']}"
    body = {"outcome": visit.form["outcome"], "reason": visit.form["reason"]}
    await visit.api.post(f"/api{path}/prepare", body)
    return visit.go(path, "The decision is prepared. Another person approves it.")


@FAMILY.action("/quarantined-charges/{id:uuid}/approve", any_of=("quarantine:approve",), page=charge_page)
async def approve_charge(visit: Visit) -> Response:
    path = f"/quarantined-charges/{visit['id']}"
    charge: Json = await visit.api.post(f"/api{path}/approve", {"hash": visit.form["hash"]})
    notice = "The charge pays its order." if charge["status"] == "accepted" else "The charge goes back to its payer."
    return visit.go(path, _approved(visit, charge["decision"], notice))


@FAMILY.action("/quarantined-charges/{id:uuid}/reject", any_of=("quarantine:approve",), page=charge_page)
async def reject_charge(visit: Visit) -> Response:
    path = f"/quarantined-charges/{visit['id']}"
    await visit.api.post(f"/api{path}/reject", {"reason": visit.form["reason"]})
    return visit.go(path, "The decision is rejected; the charge stays in quarantine.")


# ---- Refunds ---------------------------------------------------------------------------------------------------------

REFUND_READERS: Final = (LEDGER, "refunds:read", "refunds:prepare", "refunds:approve")
REFUNDS = ListView(
    "/api/refunds",
    columns=(
        Column("Refund", "id", "id", link="/refunds/{id}"),
        Column("Status", "status", "badge"),
        AMOUNT,
        FOREIGN,
        Column("Kind", "kind"),
        Column("Failure", "failure"),
        Column("Order", "orderId", "id", link="/orders/{orderId}"),
        Column("Owed since", "createdAt", "time"),
    ),
    filters=(
        Filter("status", "Status", choices("pending", "submitting", "submitted", "settled", "failed", "prepared")),
        Filter("kind", "Kind", choices("order", "overpayment", "quarantine")),
        Filter("awaiting", "Awaiting", choices("preparation", "approval")),
        Filter("orderId", "Order id"),
    ),
    empty="No refund is here. They appear when money goes back to a buyer.",
)


@FAMILY.page("/refunds", title="Refunds", any_of=REFUND_READERS, menu="Refunds")
async def refunds_page(visit: Visit) -> Response:
    return await show_list(visit, _for_reader(visit, REFUNDS))


@FAMILY.page("/refunds/{id:uuid}", title="Refund", any_of=REFUND_READERS)
async def refund_page(visit: Visit) -> Response:
    """The refund, its decision, and what its settlement posts: an approval sends it again and posts nothing yet."""
    refund: Json = await visit.api.get(f"/api/refunds/{visit['id']}")
    currency = refund["currency"]
    cash = "gateway_cash" if currency == "NGN" else f"gateway_cash:{currency}"
    accounts = (f"refund_payable:{refund['id']}", cash)
    entries = [
        {"account": accounts[0], "amountMinor": refund["amountMinor"]},
        {"account": accounts[1], "amountMinor": -refund["amountMinor"]},
    ]
    if visit.may(LEDGER):
        balances = await asyncio.gather(*(balance_of(visit, account) for account in accounts))
        entries = [{**entry, "balanceMinor": balance or 0} for entry, balance in zip(entries, balances, strict=True)]
    return visit.render(
        "finance/refund.html",
        refund=refund,
        amount=money(refund["amountMinor"], currency),
        rows=posting_rows(entries, currency),
        decision=refund["decision"] or {},
        outdated=is_outdated(visit, refund["hash"]),
    )


@FAMILY.action("/refunds/{id:uuid}/prepare", any_of=("refunds:prepare",), page=refund_page)
async def prepare_refund(visit: Visit) -> Response:
    path, form = f"/refunds/{visit['id']}", visit.form
    body: Json = {"action": form["action"], "reason": form["reason"]}
    if form["action"] == "other_destination":
        body["destination"] = {name: form[name] for name in ("accountNumber", "bankCode", "accountName")}
    await visit.api.post(f"/api{path}/prepare", body)
    return visit.go(path, "The decision is prepared. Another person approves it.")


@FAMILY.action("/refunds/{id:uuid}/approve", any_of=("refunds:approve",), page=refund_page)
async def approve_refund(visit: Visit) -> Response:
    path = f"/refunds/{visit['id']}"
    refund: Json = await visit.api.post(f"/api{path}/approve", {"hash": visit.form["hash"]})
    return visit.go(path, _approved(visit, refund["decision"], "The refund is approved and is sent again."))


@FAMILY.action("/refunds/{id:uuid}/reject", any_of=("refunds:approve",), page=refund_page)
async def reject_refund(visit: Visit) -> Response:
    path = f"/refunds/{visit['id']}"
    await visit.api.post(f"/api{path}/reject", {"reason": visit.form["reason"]})
    return visit.go(path, "The decision is rejected; the refund stays failed.")


async def balance_of(visit: Visit, account: str) -> int | None:
    """The balance of one account of the escrow ledger in kobo, debit positive; None when it was never opened."""
    rows = await visit.api.page("/api/ledger/accounts", account=account, limit=100)
    return next((row["balanceMinor"] for row in rows.items if row["account"] == account), None)


# ---- Dispute resolutions ---------------------------------------------------------------------------------------------

RESOLUTION_READERS: Final = ("disputes:approve", "disputes:prepare", "orders:read")
OUTCOMES: Final = {"buyer": "for the buyer", "vendor": "for the vendor", "split": "split"}
RESOLUTIONS = ListView(
    "/api/dispute-resolutions",
    columns=(
        Column("Outcome", lambda row: OUTCOMES[row["outcome"]], link="/dispute-resolutions/{id}"),
        Column("Status", "status", "badge"),
        Column("To the buyer", "refundMinor", "naira"),
        Column("Dispute", "dispute.reason"),
        Column("Order", "orderId", "id", link="/orders/{orderId}"),
        Column("Prepared", "createdAt", "time"),
    ),
    filters=(
        Filter("status", "Status", choices("prepared", "approved", "rejected")),
        Filter("awaiting", "Awaiting", choices("approval")),
        Filter("orderId", "Order id"),
    ),
    empty="No resolution is here. Support prepares one when a dispute is clear.",
)


@FAMILY.page("/dispute-resolutions", title="Dispute resolutions", any_of=RESOLUTION_READERS, menu="Dispute resolutions")
async def resolutions_page(visit: Visit) -> Response:
    return await show_list(visit, _for_reader(visit, RESOLUTIONS))


@FAMILY.page("/dispute-resolutions/{id:uuid}", title="Dispute resolution", any_of=RESOLUTION_READERS)
async def resolution_page(visit: Visit) -> Response:
    """The resolution, the complaint with its evidence, and what leaves the order's escrow."""
    resolution: Json = await visit.api.get(f"/api/dispute-resolutions/{visit['id']}")
    order_id = resolution["orderId"]
    dispute: Json = await visit.api.get(f"/api/orders/{order_id}/dispute")
    escrow = await balance_of(visit, f"escrow:{order_id}") if visit.may(LEDGER) else None
    held = -(escrow or 0)
    refund = resolution["refundMinor"]
    release = resolution["releaseMinor"] if resolution["releaseMinor"] is not None else max(held - refund, 0)
    rows = []
    if refund:
        rows += posting_rows(
            [
                {"account": f"escrow:{order_id}", "amountMinor": refund, "balanceMinor": -held},
                {"account": "refund_payable of the new refund", "amountMinor": -refund, "balanceMinor": 0},
            ]
        )
    if release:
        rows += posting_rows(
            [
                {"account": f"escrow:{order_id}", "amountMinor": release, "balanceMinor": refund - held},
                {"account": "vendor_payable, commission, delivery_fee in proportion", "amountMinor": -release},
            ]
        )
    return visit.render(
        "finance/resolution.html",
        resolution=resolution,
        outcome=OUTCOMES[resolution["outcome"]],
        evidence=dispute["evidence"],
        held=None if escrow is None else sided(escrow),
        refund=refund,
        release=release,
        rows=rows if resolution["status"] == "prepared" and escrow is not None else [],
        is_short=escrow is not None and resolution["status"] == "prepared" and held < refund,
        decision={**resolution, "preparedAt": resolution["createdAt"]},
        outdated=is_outdated(visit, resolution["hash"]),
    )


@FAMILY.action("/dispute-resolutions/{id:uuid}/approve", any_of=("disputes:approve",), page=resolution_page)
async def approve_resolution(visit: Visit) -> Response:
    path = f"/dispute-resolutions/{visit['id']}"
    await visit.api.post(f"/api{path}/approve", {"hash": visit.form["hash"]})
    resolution: Json = await visit.api.get(f"/api{path}")
    return visit.go(path, _approved(visit, resolution, "The dispute is resolved; the money moves now."))


@FAMILY.action("/dispute-resolutions/{id:uuid}/reject", any_of=("disputes:approve",), page=resolution_page)
async def reject_resolution(visit: Visit) -> Response:
    path = f"/dispute-resolutions/{visit['id']}"
    await visit.api.post(f"/api{path}/reject")
    return visit.go(path, "The resolution is rejected; the order stays disputed.")


# ---- Reconciliations -------------------------------------------------------------------------------------------------

RECONCILIATIONS = ListView(
    "/api/reconciliations",
    columns=(
        Column("Reconciliation", "id", "id", link="/reconciliations/{id}"),
        Column("Kind", "kind"),
        Column("Status", "status", "badge"),
        Column("Amount", "amountMinor", "naira"),
        Column("Payout", "payoutId", "id", link="/payouts/{payoutId}"),
        Column("Prepared", "preparedAt", "time"),
        Column("Decided", "decidedAt", "time"),
    ),
    filters=(
        Filter("status", "Status", choices("prepared", "approved", "rejected")),
        Filter("awaiting", "Awaiting", choices("approval")),
        Filter("payoutId", "Payout id"),
    ),
    empty="No reconciliation is here. Finance prepares one on the page of a payout that failed or came back.",
)


@FAMILY.page("/reconciliations", title="Reconciliations", any_of=("payouts:read",), menu="Reconciliations")
async def reconciliations_page(visit: Visit) -> Response:
    return await show_list(visit, RECONCILIATIONS)


@FAMILY.page("/reconciliations/{id:uuid}", title="Reconciliation", any_of=("payouts:read",))
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
        rows=posting_rows(entries, reconciliation["currency"]),
        decision=reconciliation,
        outdated=is_outdated(visit, reconciliation["hash"]),
    )


def _entries_of(reconciliation: Json) -> list[Json]:
    return [entry for posting in reconciliation["postings"] for entry in posting["entries"]]


@FAMILY.action("/reconciliations/{id:uuid}/approve", any_of=("reconciliations:approve",), page=reconciliation_page)
async def approve_reconciliation(visit: Visit) -> Response:
    path = f"/reconciliations/{visit['id']}"
    decided: Json = await visit.api.post(f"/api{path}/approve", {"hash": visit.form["hash"]})
    return visit.go(path, _approved(visit, decided, "The reconciliation is posted."))


@FAMILY.action("/reconciliations/{id:uuid}/reject", any_of=("reconciliations:approve",), page=reconciliation_page)
async def reject_reconciliation(visit: Visit) -> Response:
    path = f"/reconciliations/{visit['id']}"
    await visit.api.post(f"/api{path}/reject", {"reason": visit.form["reason"]})
    return visit.go(path, "The reconciliation is rejected; nothing was posted.")


# ---- Chargebacks -----------------------------------------------------------------------------------------------------

CHARGEBACKS = ListView(
    "/api/chargebacks",
    columns=(
        Column("Dispute", "disputeId", link="/chargebacks/{id}"),
        Column("Status", "status", "badge"),
        AMOUNT,
        FOREIGN,
        Column("Answer by", lambda row: None if row["decidedAt"] or row["respondedAt"] else row["dueAt"], "left"),
        Column("Answered", "respondedAt", "time"),
        Column("Reason", "reason"),
        Column("Order", "orderId", "id", link="/orders/{orderId}"),
        Column("Opened", "createdAt", "time"),
    ),
    filters=(
        Filter("status", "Status", choices("opened", "won", "lost")),
        Filter("awaiting", "Awaiting", choices("answer")),
        Filter("orderId", "Order id"),
    ),
    empty="No chargeback is open. They appear when a payer's bank asks for money back.",
)


@FAMILY.page("/chargebacks", title="Chargebacks", any_of=(LEDGER,), menu="Chargebacks")
async def chargebacks_page(visit: Visit) -> Response:
    return await show_list(visit, _for_reader(visit, CHARGEBACKS))


@FAMILY.page("/chargebacks/{id:uuid}", title="Chargeback", any_of=(LEDGER,))
async def chargeback_page(visit: Visit) -> Response:
    chargeback: Json = await visit.api.get(f"/api/chargebacks/{visit['id']}")
    responses = chargeback["responses"]
    has_response = any(one["kind"] != "evidence" and one["status"] in ("submitting", "submitted") for one in responses)
    return visit.render(
        "finance/chargeback.html",
        chargeback=chargeback,
        amount=money(chargeback["amountMinor"], chargeback["currency"]),
        loss=money(chargeback["lossMinor"], chargeback["currency"]),
        may_respond=visit.may("chargebacks:respond") and chargeback["status"] == "opened" and not has_response,
        response_columns=RESPONSES,
    )


RESPONSES: Final = (
    Column("Kind", lambda one: one["resolution"] or one["kind"]),
    Column("Status", "status", "badge"),
    Column("Message", "message"),
    Column("Amount", "amountMinor", "naira"),
    Column("Failure", "failure"),
    Column("Sent", "createdAt", "time"),
    Column("Content hash", "contentHash", "id"),
)


@FAMILY.action("/chargebacks/{id:uuid}/evidence", any_of=("chargebacks:respond",), page=chargeback_page)
async def send_evidence(visit: Visit) -> Response:
    path = f"/chargebacks/{visit['id']}"
    names = ("customerEmail", "customerName", "customerPhone", "serviceDetails", "deliveryAddress", "deliveryDate")
    await visit.api.post(f"/api{path}/evidence", dict(visit.form.given(*names)))
    return visit.go(path, "The evidence is on its way to the gateway.")


@FAMILY.action("/chargebacks/{id:uuid}/resolve", any_of=("chargebacks:respond",), page=chargeback_page)
async def resolve_chargeback(visit: Visit) -> Response:
    """Accept or contest, once. The file travels in base64, as the API takes it."""
    path, form = f"/chargebacks/{visit['id']}", visit.form
    file = form.files.get("attachment")
    if file is None:
        raise InvalidField("attachment", "choose a PDF, PNG or JPEG file of at most 180,000 bytes")
    body: Json = {"resolution": form["resolution"], "message": form["message"]}
    if (amount := form.minor("amount")) is not None:
        body["amountMinor"] = amount
    body["attachment"] = base64.b64encode(await file.read()).decode()
    await visit.api.post(f"/api{path}/resolve", body)
    return visit.go(path, "The answer is on its way to the gateway. Its decision moves the money.")
