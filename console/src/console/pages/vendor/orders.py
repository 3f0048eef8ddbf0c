"""A vendor's orders and the entry of the delivery PIN, for phones."""

import asyncio
from collections.abc import Mapping
from typing import Final

from starlette.responses import Response

from common.primitives.clock import SystemClock
from common.primitives.typed_text import compact
from console.api import Json
from console.families import Screens
from console.formats import LAGOS, lagos, naira
from console.lists import Column, Filter, ListView, show_list
from console.pages.support.timeline import transitions_of
from console.parts import all_rows, cancel_item, cancelled_minor, item_choices, nothing, part
from console.visit import InvalidField, Visit

SCREENS = Screens()

VENDOR: Final = ("orders:fulfil",)
DELIVERS: Final = ("orders:fulfil", "orders:verify")
"""The vendor, and the agents of the hub where its goods are handed out."""
TODAY_ORDERS_MAX: Final = 50
COLLECTED_SHOWN_MAX: Final = 10
"""An agent looks up an earlier parcel by its number."""


def items_of(order: Json) -> str:
    return ", ".join(
        f"{item['quantity']} \N{MULTIPLICATION SIGN} {item['name']}{' (cancelled)' if item['cancelledAt'] else ''}"
        for item in order["items"]
    )


def share_of(order: Json) -> int | None:
    """Return the vendor's part of the order in kobo. None where it is not shown."""
    return order.get("vendorShareMinor")


ORDERS = ListView(
    "/api/orders",
    columns=(
        Column("Order", "number", link="/orders/{id}/fulfil"),
        Column("Status", "status", "badge"),
        Column("Buyer", "buyerName"),
        Column("Items", items_of),
        Column("Total", "totalMinor", "naira"),
        Column("Your share", share_of, "naira"),
        Column("Placed", "createdAt", "time"),
    ),
    filters=(
        Filter("q", "Number or item", kind="search"),
        Filter(
            "status",
            "Status",
        ),
        Filter("from", "From", kind="date"),
        Filter("to", "Before", kind="date"),
    ),
    empty="No order yet. Orders appear here when a buyer checks out one of your products.",
    fixed={"as": "vendor"},
)
HUB_ORDERS = ListView(
    "/api/orders",
    columns=tuple(column for column in ORDERS.columns if column.label not in ("Total", "Your share")),
    filters=ORDERS.filters,
    empty="No order is on its way to your hub.",
    fixed={"as": "hub"},
)


LOW_STOCK_MAX: Final = 5
"""A vendor has a day or two left to buy more, at the usual one to three pieces a day."""
LOW_STOCK_SHOWN_MAX: Final = 10


@SCREENS.page("/today", title="Today", any_of=VENDOR, menu="Today", icon="today")
async def today_page(visit: Visit) -> Response:
    """Return what is to hand over, what is under way, and the day's sales. The page reloads that part by itself."""
    today = SystemClock().now().astimezone(LAGOS).date().isoformat()
    waiting, under_way, disputed, sales, low = await asyncio.gather(
        _orders(visit, "paid_escrow"),
        _orders(visit, "dispatched"),
        _orders(visit, "disputed"),
        visit.api.page(f"/api/vendors/{visit.user.vendor_id}/sales", **{"from": today}),
        # The page reloads its orders alone.
        nothing() if visit.request.headers.get("hx-request") else _low_stock(visit),
    )
    groups = (
        ("To hand over", waiting, "Nothing waits. A paid order appears here by itself."),
        ("Waiting for the PIN", under_way, "No parcel is under way."),
        ("Disputed", disputed, ""),
    )
    return visit.render("vendor/today.html", groups=groups, sales=next(iter(sales.items), None), low=low)


async def _low_stock(visit: Visit) -> list[Json]:
    """Return the published products with the fewest pieces left."""
    products = await all_rows(visit, "/api/products/mine", status="published")
    low = [one for one in products if one["stock"] <= LOW_STOCK_MAX]
    return sorted(low, key=lambda one: (one["stock"], one["name"]))[:LOW_STOCK_SHOWN_MAX]


async def _orders(visit: Visit, status: str) -> list[Json]:
    return (await visit.api.page("/api/orders", status=status, limit=TODAY_ORDERS_MAX, **{"as": "vendor"})).items


@SCREENS.page("/orders", title="Orders", any_of=DELIVERS, menu="Orders", icon="orders")
async def orders_page(visit: Visit) -> Response:
    return await show_list(visit, ORDERS if visit.may(*VENDOR) else HUB_ORDERS, "vendor/orders.html")


@SCREENS.page("/parcels", title="Parcels", any_of=("orders:verify",), menu="Parcels", icon="today")
async def parcels_page(visit: Visit) -> Response:
    """Return the parcels of the own hub: coming, to be collected, and collected last. It reloads by itself."""
    coming, arrived, delivered, completed = await asyncio.gather(
        _parcels(visit, "dispatched", arrived="false"),
        _parcels(visit, "dispatched", arrived="true"),
        _parcels(visit, "delivered"),
        _parcels(visit, "paid"),
    )
    collected = sorted(delivered + completed, key=lambda order: str(order["deliveredAt"]), reverse=True)
    groups = (
        ("Coming", coming, "No parcel is on its way to your hub."),
        ("To be collected", arrived, "No parcel waits for its buyer."),
        ("Collected", collected[:COLLECTED_SHOWN_MAX], "No parcel was collected yet."),
    )
    return visit.render("vendor/parcels.html", groups=groups)


async def _parcels(visit: Visit, status: str, **filters: str) -> list[Json]:
    query = {"as": "hub", "status": status, **filters}
    return (await visit.api.page("/api/orders", limit=TODAY_ORDERS_MAX, **query)).items


@SCREENS.action("/orders/{id:uuid}/arrive", any_of=("orders:verify",), page=parcels_page)
async def arrive(visit: Visit) -> Response:
    order: Json = await visit.api.post(f"/api/orders/{visit['id']}/arrive")
    return visit.go("/parcels", f"{order['number']} is at your hub. The buyer is notified.")


@SCREENS.page("/orders/{id:uuid}/fulfil", title="Order", any_of=DELIVERS)
async def order_page(visit: Visit) -> Response:
    """One order as its vendor sees it: the next step, the buyer, and the money to the kobo."""
    order: Json = await visit.api.get(f"/api/orders/{visit['id']}")
    timeline, lines, schedule, returns, dispute = await asyncio.gather(
        visit.api.get(f"/api/orders/{visit['id']}/timeline"),
        part(visit, "/api/wallets/current/statement", orderId=order["id"], limit=100, **{"from": order["createdAt"]}),
        part(visit, f"/api/vendors/{visit.user.vendor_id}/payout-schedule"),
        part(visit, f"/api/orders/{order['id']}/return-requests"),
        part(visit, f"/api/orders/{order['id']}/dispute") if order["status"] in _AFTER_DISPUTES else nothing(),
    )
    return visit.render(
        "vendor/order.html",
        title=f"Order {order['number']}",
        order=order,
        items=item_choices(order),
        cancelled_minor=cancelled_minor(order),
        timeline=transitions_of(timeline),
        share=share_of(order),
        expectation=expectation_of(order, schedule),
        lines=lines or [],
        line_columns=LINES_OF_ORDER,
        returns=[one for one in returns or [] if not one["cancelsLines"]],
        return_columns=RETURNS_OF_ORDER,
        dispute=dispute,
    )


_AFTER_DISPUTES: Final = ("disputed", "delivered", "paid", "refund_pending", "refunded")
LINES_OF_ORDER: Final = (
    Column("When", "at", "time"),
    Column("What", lambda line: LINE_NAMES.get(line["kind"], line["kind"])),
    Column("To the wallet", "netMinor", "naira"),
)
RETURNS_OF_ORDER: Final = (
    Column("Return", "createdAt", "time", link="/return-requests/{id}"),
    Column("Status", "status", "badge"),
    Column("Reason", "reason"),
    Column("Refund", "refundMinor", "naira"),
)
LINE_NAMES: Final[Mapping[str, str]] = {
    "release": "Order delivered",
    "debt_repaid": "Debt repaid",
    "refund": "Refund to the buyer",
    "debt_taken": "Debt: the wallet was empty",
    "payout": "Payout to the bank",
    "hold": "Held: chargeback, or a payout that may be paid twice",
    "hold_released": "Hold ended",
    "chargeback": "Chargeback lost",
    "chargeback_won": "Chargeback won",
    "restitution": "Payout failed, money back",
    "reversal": "Payout came back",
    "recovery": "Unrecorded transfer",
    "recovery_returned": "Unrecorded transfer came back",
    "correction": "Correction",
    "waiver": "Remainder given up",
}
"""The kinds of statement lines, for people."""


@SCREENS.action("/orders/{id:uuid}/dispatch", any_of=VENDOR, page=order_page)
async def dispatch(visit: Visit) -> Response:
    await visit.api.post(f"/api/orders/{visit['id']}/dispatch")
    return visit.go(f"/orders/{visit['id']}/fulfil", "The order is handed over. Ask the buyer for the PIN on delivery.")


@SCREENS.action("/orders/{id:uuid}/decline", any_of=VENDOR, page=order_page)
async def decline(visit: Visit) -> Response:
    """Cancel the order. A paid one is refunded in full."""
    await visit.api.post(f"/api/orders/{visit['id']}/cancel", {"reason": visit.form["reason"]})
    return visit.go(f"/orders/{visit['id']}/fulfil", "The order is cancelled.")


@SCREENS.action("/orders/{id:uuid}/decline-item", any_of=VENDOR, page=order_page)
async def decline_item(visit: Visit) -> Response:
    """Cancel one item of a paid order; its price is refunded."""
    await cancel_item(visit)
    return visit.go(f"/orders/{visit['id']}/fulfil", "The item is cancelled. Hand over the rest of the order.")


@SCREENS.page("/orders/{id:uuid}/deliver", title="Enter the PIN", any_of=DELIVERS)
async def pin_page(visit: Visit) -> Response:
    """Return the entry of the buyer's PIN. What was typed is never shown again."""
    order: Json = await visit.api.get(f"/api/orders/{visit['id']}")
    remaining = visit.error.extensions.get("attemptsRemaining") if visit.error else None
    is_locked = visit.error is not None and (visit.error.status == 429 or remaining == 0)
    return visit.render("vendor/pin.html", order=order, remaining=remaining, is_locked=is_locked)


@SCREENS.action("/orders/{id:uuid}/deliver", any_of=DELIVERS, page=pin_page)
async def deliver(visit: Visit) -> Response:
    pin = compact(visit.form["pin"])
    if not (pin.isascii() and pin.isdigit() and 4 <= len(pin) <= 8):
        raise InvalidField("pin", "type the digits of the buyer's message")
    await visit.api.post(f"/api/orders/{visit['id']}/verify-delivery", {"pin": pin})
    return visit.go(f"/orders/{visit['id']}/fulfil", "The PIN is right. The money is on its way to the wallet.")


@SCREENS.action("/orders/{id:uuid}/evidence", any_of=VENDOR, page=order_page)
async def add_evidence(visit: Visit) -> Response:
    """Add an image to an open dispute."""
    await visit.api.post(f"/api/orders/{visit['id']}/dispute/evidence", files={"file": await visit.form.image("file")})
    return visit.go(f"/orders/{visit['id']}/fulfil", "The image is added. Support sees it.")


def expectation_of(order: Json, schedule: Json | None) -> str:
    """Return what will be paid for the order, and when."""
    share = naira(share_of(order))
    bank = "You request the payout to the bank yourself."
    if schedule and schedule.get("nextAt"):
        bank = f"The next automatic payout is on {lagos(schedule['nextAt']).striptags()}."
    return {
        "Processing": "Not paid yet. Nothing is due to you until the buyer has paid.",
        "paid_escrow": f"{share} is held for you. It reaches your wallet when the buyer's PIN is entered. {bank}",
        "dispatched": f"{share} is held for you. It reaches your wallet when the buyer's PIN is entered. {bank}",
        "delivered": f"{share} is on its way to your wallet; it takes a few seconds. {bank}",
        "paid": f"The money is in your wallet, as the lines below show. {bank}",
        "disputed": f"{share} is frozen until the dispute is decided.",
        "refund_pending": "The money goes back to the buyer.",
        "refunded": "The money went back to the buyer.",
    }.get(order["status"], "The order ended before it was paid. Nothing is due to you.")
