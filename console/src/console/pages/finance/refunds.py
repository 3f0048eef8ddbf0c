"""Refunds that failed, and the decision about each."""

import asyncio
from typing import Final

from starlette.responses import Response

from console.api import Json
from console.banks import names_of_banks
from console.families import Screens
from console.formats import spoken
from console.lists import ORDER_COLUMN, Column, Filter, ListView, show_list
from console.money import money, posting_rows
from console.pages.finance.decisions import (
    AMOUNT,
    FOREIGN,
    LEDGER,
    approved,
    balance_of,
    for_reader,
    is_outdated,
    names_of_decision,
)
from console.parts import command
from console.visit import Visit

SCREENS = Screens()

REFUND_READERS: Final = (LEDGER, "refunds:read", "refunds:prepare", "refunds:approve")
REFUNDS = ListView(
    "/api/refunds",
    columns=(
        Column(
            "Refund",
            lambda row: f"{spoken(row['kind'])} {row['orderNumber'] or row['reference']}",
            link="/refunds/{id}",
        ),
        Column("Status", "status", "badge"),
        AMOUNT,
        FOREIGN,
        Column("Failure", "failure"),
        ORDER_COLUMN,
        Column("Owed since", "createdAt", "time"),
    ),
    filters=(
        Filter("status", "Status"),
        Filter("kind", "Kind"),
        Filter("awaiting", "Awaiting"),
        Filter("orderId", "Order", kind="order"),
        Filter("reference", "Reference", kind="search"),
        Filter("from", "Owed from", kind="date"),
        Filter("to", "Before", kind="date"),
        Filter("buyerId", "Buyer", kind="hidden"),
    ),
    empty="No refund is here. They appear when money goes back to a buyer.",
)


@SCREENS.page("/refunds", title="Refunds", any_of=REFUND_READERS, menu="Refunds")
async def refunds_page(visit: Visit) -> Response:
    return await show_list(visit, for_reader(visit, REFUNDS))


@SCREENS.page("/refunds/{id:uuid}", title="Refund", any_of=REFUND_READERS)
async def refund_page(visit: Visit) -> Response:
    """Return the refund, its decision, and what its settlement posts: an approval sends it again and posts nothing
    yet.
    """
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
        rows=posting_rows(entries, currency, {accounts[0]: refund["orderNumber"] or ""}),
        decision=refund["decision"] or {},
        outdated=is_outdated(visit, refund["hash"]),
        names=await names_of_decision(visit, refund["decision"] or {}),
        banks=await names_of_banks(visit),
    )


@SCREENS.action("/refunds/{id:uuid}/prepare", any_of=("refunds:prepare",), page=refund_page)
async def prepare_refund(visit: Visit) -> Response:
    form = visit.form
    body: Json = {"action": form["action"], "reason": form["reason"]}
    if form["action"] == "other_destination":
        body["destination"] = {name: form[name] for name in ("accountNumber", "bankCode", "accountName")}
    return await command(visit, body, "The decision is prepared. Another person approves it.")


@SCREENS.action("/refunds/{id:uuid}/approve", any_of=("refunds:approve",), page=refund_page)
async def approve_refund(visit: Visit) -> Response:
    path = f"/refunds/{visit['id']}"
    refund: Json = await visit.api.post(f"/api{path}/approve", {"hash": visit.form["hash"]})
    return visit.go(path, approved(visit, refund["decision"], "The refund is approved and is sent again."))


@SCREENS.action("/refunds/{id:uuid}/reject", any_of=("refunds:approve",), page=refund_page)
async def reject_refund(visit: Visit) -> Response:
    return await command(visit, {"reason": visit.form["reason"]}, "The decision is rejected; the refund stays failed.")
