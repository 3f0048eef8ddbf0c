"""Goodwill refunds at the platform's expense: support prepares, a finance checker decides."""

from typing import Final

from starlette.responses import Response

from console.api import Json
from console.families import Screens
from console.lists import ORDER_COLUMN, Column, Filter, ListView, show_list
from console.money import posting_rows
from console.pages.finance.decisions import LEDGER, approved, for_reader, is_outdated, names_of_decision
from console.pages.support.orders import order_page
from console.parts import command, needed
from console.visit import Visit

SCREENS = Screens()

READERS: Final = ("goodwill:prepare", "goodwill:approve", LEDGER)
GOODWILL = ListView(
    "/api/goodwill-refunds",
    columns=(
        Column("Prepared", "preparedAt", "time", link="/goodwill-refunds/{id}"),
        Column("Status", "status", "badge"),
        Column("Amount", "amountMinor", "naira"),
        ORDER_COLUMN,
        Column("By", "preparedBy", "staff"),
        Column("Reason", "reason"),
    ),
    filters=(
        Filter("status", "Status"),
        Filter("awaiting", "Awaiting"),
        Filter("orderId", "Order", kind="order"),
    ),
    empty="No goodwill refund is here. Support prepares one on the page of an order.",
)


@SCREENS.page("/goodwill-refunds", title="Goodwill refunds", any_of=READERS, menu="Goodwill refunds")
async def goodwill_refunds_page(visit: Visit) -> Response:
    return await show_list(visit, for_reader(visit, GOODWILL))


@SCREENS.page("/goodwill-refunds/{id:uuid}", title="Goodwill refund", any_of=READERS)
async def goodwill_page(visit: Visit) -> Response:
    """Return the goodwill refund with the posting of its approval."""
    goodwill: Json = await visit.api.get(f"/api/goodwill-refunds/{visit['id']}")
    return visit.render(
        "finance/goodwill.html",
        goodwill=goodwill,
        rows=posting_rows(goodwill["entries"]),
        outdated=is_outdated(visit, goodwill["hash"]),
        names=await names_of_decision(visit, goodwill),
    )


@SCREENS.action("/orders/{id:uuid}/goodwill", any_of=("goodwill:prepare",), page=order_page)
async def prepare_goodwill(visit: Visit) -> Response:
    amount_minor = needed(visit.form.minor("goodwillMinor"), "goodwillMinor")
    body = {"orderId": str(visit["id"]), "amountMinor": amount_minor, "reason": visit.form["cause"]}
    goodwill: Json = await visit.api.post("/api/goodwill-refunds", body)
    return visit.go(
        f"/goodwill-refunds/{goodwill['id']}", "The goodwill refund is prepared. A finance checker decides."
    )


@SCREENS.action("/goodwill-refunds/{id:uuid}/approve", any_of=("goodwill:approve",), page=goodwill_page)
async def approve_goodwill(visit: Visit) -> Response:
    path = f"/goodwill-refunds/{visit['id']}"
    goodwill: Json = await visit.api.post(f"/api{path}/approve", {"hash": visit.form["hash"]})
    return visit.go(path, approved(visit, goodwill, "The buyer's balance has the amount."))


@SCREENS.action("/goodwill-refunds/{id:uuid}/reject", any_of=("goodwill:approve",), page=goodwill_page)
async def reject_goodwill(visit: Visit) -> Response:
    return await command(visit, {"reason": visit.form["reason"]}, "The goodwill refund is rejected. No money moved.")
