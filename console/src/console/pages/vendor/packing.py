"""The orders that a packer packs and hands over, for phones. No page of a packer has an amount."""

import asyncio
from typing import Final

from starlette.responses import Response

from common.primitives.typed_text import compact
from console.api import Json
from console.families import Screens
from console.lists import Column, ListView
from console.pages.vendor.orders import TODAY_ORDERS_MAX
from console.visit import InvalidField, Visit

SCREENS = Screens()

PACKS: Final = ("orders:pack",)


def _pieces_of(order: Json) -> str:
    return ", ".join(f"{item['quantity']} \N{MULTIPLICATION SIGN} {item['name']}" for item in order["items"])


PACKING = ListView(
    "/api/packing-orders",
    columns=(
        Column("Order", "number", link="/packing-orders/{id}/deliver"),
        Column("Buyer", "buyerName"),
        Column("Items", _pieces_of),
        Column("Placed", "createdAt", "time"),
    ),
    empty="No order waits to be packed.",
)


@SCREENS.page("/packing-orders", title="To pack", any_of=PACKS, menu="To pack", icon="orders")
async def packing_page(visit: Visit) -> Response:
    """Return what is to pack and what is under way. The page reloads by itself."""
    waiting, under_way = await asyncio.gather(_orders(visit, "paid_escrow"), _orders(visit, "dispatched"))
    groups = (
        ("To pack", waiting, "Nothing waits. A paid order appears here by itself."),
        ("Waiting for the PIN", under_way, "No parcel is under way."),
    )
    return visit.render("vendor/packing.html", groups=groups)


async def _orders(visit: Visit, status: str) -> list[Json]:
    return (await visit.api.page("/api/packing-orders", status=status, limit=TODAY_ORDERS_MAX)).items


@SCREENS.action("/packing-orders/{id:uuid}/dispatch", any_of=PACKS, page=packing_page)
async def dispatch(visit: Visit) -> Response:
    order: Json = await visit.api.post(f"/api/packing-orders/{visit['id']}/dispatch")
    return visit.go("/packing-orders", f"{order['number']} is handed over. Ask the buyer for the PIN on delivery.")


@SCREENS.page("/packing-orders/{id:uuid}/deliver", title="Enter the PIN", any_of=PACKS)
async def pin_page(visit: Visit) -> Response:
    """Return the entry of the buyer's PIN. What was typed is never shown again."""
    order: Json = await visit.api.get(f"/api/packing-orders/{visit['id']}")
    remaining = visit.error.extensions.get("attemptsRemaining") if visit.error else None
    is_locked = visit.error is not None and (visit.error.status == 429 or remaining == 0)
    return visit.render(
        "vendor/pin.html", order=order, remaining=remaining, is_locked=is_locked, page="/packing-orders"
    )


@SCREENS.action("/packing-orders/{id:uuid}/deliver", any_of=PACKS, page=pin_page)
async def deliver(visit: Visit) -> Response:
    pin = compact(visit.form["pin"])
    if not (pin.isascii() and pin.isdigit() and 4 <= len(pin) <= 8):
        raise InvalidField("pin", "type the digits of the buyer's message")
    order: Json = await visit.api.post(f"/api/packing-orders/{visit['id']}/verify-delivery", {"pin": pin})
    return visit.go("/packing-orders", f"The PIN is right. {order['number']} is delivered.")
