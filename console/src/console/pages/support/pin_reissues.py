"""Reissues of delivery PINs beyond the buyer's limit: support prepares, a finance checker decides."""

from typing import Final

from starlette.responses import Response

from console.api import Json
from console.families import Screens
from console.lists import Column, Filter, ListView, show_list
from console.pages.finance.decisions import is_outdated, names_of_decision
from console.pages.support.orders import order_page
from console.parts import command
from console.visit import Visit

SCREENS = Screens()

READERS: Final = ("pin_reissues:prepare", "pin_reissues:approve", "orders:read")
PIN_REISSUES = ListView(
    "/api/pin-reissues",
    columns=(
        Column("Prepared", "preparedAt", "time", link="/pin-reissues/{id}"),
        Column("Order", "orderNumber"),
        Column("By", "preparedBy", "staff"),
        Column("Reason", "reason"),
        Column("Status", "status", "badge"),
        Column("Expires", lambda one: one["expiresAt"] if one["status"] == "prepared" else None, "left"),
    ),
    filters=(
        Filter("status", "Status"),
        Filter("awaiting", "Awaiting"),
        Filter("orderId", "Order", kind="order"),
    ),
    empty="No delivery PIN was reissued by staff. Open an order to prepare one.",
)


@SCREENS.page("/pin-reissues", title="Reissues of delivery PINs", any_of=READERS, menu="Reissues of PINs")
async def pin_reissues_page(visit: Visit) -> Response:
    return await show_list(visit, PIN_REISSUES)


@SCREENS.page("/pin-reissues/{id:uuid}", title="Reissue of a delivery PIN", any_of=READERS)
async def pin_reissue_page(visit: Visit) -> Response:
    reissue: Json = await visit.api.get(f"/api/pin-reissues/{visit['id']}")
    return visit.render(
        "support/pin_reissue.html",
        reissue=reissue,
        outdated=is_outdated(visit, reissue["hash"]),
        names=await names_of_decision(visit, reissue),
    )


@SCREENS.action("/orders/{id:uuid}/pin-reissue", any_of=("pin_reissues:prepare",), page=order_page)
async def prepare_pin_reissue(visit: Visit) -> Response:
    body = {"orderId": str(visit["id"]), "reason": visit.form["identification"]}
    reissue: Json = await visit.api.post("/api/pin-reissues", body)
    return visit.go(f"/pin-reissues/{reissue['id']}", "The reissue is prepared. A finance checker decides.")


@SCREENS.action("/pin-reissues/{id:uuid}/approve", any_of=("pin_reissues:approve",), page=pin_reissue_page)
async def approve_pin_reissue(visit: Visit) -> Response:
    return await command(visit, {"hash": visit.form["hash"]}, "A new PIN is sent to the buyer. The old one is invalid.")


@SCREENS.action("/pin-reissues/{id:uuid}/reject", any_of=("pin_reissues:approve",), page=pin_reissue_page)
async def reject_pin_reissue(visit: Visit) -> Response:
    return await command(visit, {"reason": visit.form["reason"]}, "The reissue is rejected. The PIN stays.")
