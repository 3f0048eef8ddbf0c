"""Return requests and their decision."""

from typing import Final

from starlette.responses import Response

from console.api import Json
from console.families import Screens
from console.lists import Column, Filter, ListView, order_name, show_list
from console.parts import command
from console.visit import Visit

SCREENS = Screens()


def return_kind(request: Json) -> str:
    """Return what a decided return stands for."""
    return "Item cancelled" if request["cancelsLines"] else "Return"


RETURNS = ListView(
    "/api/return-requests",
    columns=(
        Column("Return of", order_name, link="/return-requests/{id}"),
        Column("Kind", return_kind),
        Column("Status", "status", "badge"),
        Column("Reason", "reason"),
        Column("Refund", "refundMinor", "naira"),
        Column("Asked", "createdAt", "time"),
    ),
    filters=(
        Filter("status", "Status"),
        Filter("awaiting", "Awaiting"),
    ),
    empty="No return is here. Buyers ask for one within 7 days of the delivery.",
)
DECIDES_RETURNS: Final = ("returns:decide", "orders:fulfil")


@SCREENS.page(
    "/return-requests",
    title="Returns",
    any_of=(*DECIDES_RETURNS, "orders:read"),
    menu="Returns",
    menu_for=("returns:decide", "orders:read"),
)
async def returns_page(visit: Visit) -> Response:
    return await show_list(visit, RETURNS)


@SCREENS.page("/return-requests/{id:uuid}", title="Return", any_of=(*DECIDES_RETURNS, "orders:read"))
async def return_page(visit: Visit) -> Response:
    request: Json = await visit.api.get(f"/api/return-requests/{visit['id']}")
    order: Json = await visit.api.get(f"/api/orders/{request['orderId']}")
    return visit.render("support/return.html", request=request, order=order, lines=_returned_lines(request, order))


@SCREENS.action("/return-requests/{id:uuid}/approve", any_of=DECIDES_RETURNS, page=return_page)
async def approve_return(visit: Visit) -> Response:
    return await command(visit, dict(visit.form.given("reason")), "The return is approved; the refund is on its way.")


@SCREENS.action("/return-requests/{id:uuid}/reject", any_of=DECIDES_RETURNS, page=return_page)
async def reject_return(visit: Visit) -> Response:
    return await command(visit, dict(visit.form.given("reason")), "The return is rejected.")


def _returned_lines(request: Json, order: Json) -> list[Json]:
    """Return the items of the return with name and worth, in kobo."""
    items = {item["id"]: item for item in order["items"]}
    return [
        {
            "name": items[line["itemId"]]["name"],
            "quantity": line["quantity"],
            "worthMinor": items[line["itemId"]]["unitPriceMinor"] * line["quantity"],
        }
        for line in request["items"]
        if line["itemId"] in items
    ]
