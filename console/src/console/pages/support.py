"""Support's screens: orders, tickets, disputes, returns, deliveries."""

import asyncio
from typing import Any, Final

from starlette.responses import Response

from console.api import ApiProblem, Json
from console.families import Family
from console.lists import Column, Filter, ListView, choices, show_list
from console.visit import Visit

FAMILY = Family("Support", order=10)

ORDER_READERS: Final = ("orders:read", "campus_orders:read")
ORDER_STATES: Final = choices(
    "Processing",
    "expired",
    "cancelled",
    "paid_escrow",
    "dispatched",
    "delivered",
    "paid",
    "disputed",
    "refund_pending",
    "refunded",
)

ORDERS = ListView(
    "/api/campus-orders",
    columns=(
        Column("Order", "number", link="/orders/{id}"),
        Column("Status", "status", "badge"),
        Column("Total", "totalMinor", "naira"),
        Column("Buyer", "buyerName"),
        Column("Vendor", "vendorName"),
        Column("Placed", "createdAt", "time"),
    ),
    filters=(
        Filter("q", "Number, mail or phone", kind="search"),
        Filter("status", "Status", ORDER_STATES),
        Filter("awaiting", "Awaiting", choices("resolution")),
    ),
    empty="No order has been placed yet.",
)


@FAMILY.page("/campus-orders", title="Orders", any_of=ORDER_READERS, menu="Orders")
async def orders_page(visit: Visit) -> Response:
    return await show_list(visit, ORDERS)


@FAMILY.page("/orders/{id:uuid}", title="Order")
async def order_page(visit: Visit) -> Response:
    """The order with its money, its refunds, its dispute and returns. The API decides who reads which part."""
    order_id = visit["id"]
    order: Json = await visit.api.get(f"/api/orders/{order_id}")
    payments, refunds, returns, dispute = await asyncio.gather(
        _rows(visit, "/api/payments", orderId=order_id),
        _rows(visit, "/api/refunds", orderId=order_id),
        _rows(visit, f"/api/orders/{order_id}/return-requests"),
        _one(visit, f"/api/orders/{order_id}/dispute"),
    )
    return visit.render(
        "support/order.html",
        title=f"Order {order['number']}",
        order=order,
        payments=payments,
        refunds=refunds,
        returns=returns,
        dispute=dispute,
        timeline=_timeline(order, payments, refunds, returns, dispute),
        payment_columns=PAYMENTS,
        refund_columns=REFUNDS,
    )


@FAMILY.action("/orders/{id:uuid}/cancel", any_of=("orders:cancel",), page=order_page)
async def cancel_order(visit: Visit) -> Response:
    await visit.api.post(f"/api/orders/{visit['id']}/cancel", {"reason": visit.form["reason"]})
    return visit.go(f"/orders/{visit['id']}", "The order is cancelled.")


PAYMENTS: Final = (
    Column("Reference", "reference"),
    Column("Status", "status", "badge"),
    Column("Amount", "amountMinor", "naira"),
    Column("Channel", "channel"),
    Column("Paid", "paidAt", "time"),
)
REFUNDS: Final = (
    Column("Refund", "id", "id"),
    Column("Kind", "kind"),
    Column("Status", "status", "badge"),
    Column("Amount", "amountMinor", "naira"),
)


async def _rows(visit: Visit, path: str, **parameters: Any) -> list[Json]:
    """Rows of a part of the page; none where the person may not read it."""
    try:
        return (await visit.api.page(path, **parameters)).items
    except ApiProblem as problem:
        if problem.status in (403, 404):
            return []
        raise


async def _one(visit: Visit, path: str) -> Json | None:
    try:
        found: Json = await visit.api.get(path)
    except ApiProblem as problem:
        if problem.status in (403, 404):
            return None
        raise
    return found


def _timeline(
    order: Json, payments: list[Json], refunds: list[Json], returns: list[Json], dispute: Json | None
) -> list[tuple[str, str]]:
    """Instant and event, oldest first."""
    events = [(order["createdAt"], "Placed")]
    events += [
        (one["paidAt"], f"Paid by {one.get('channel') or 'the gateway'}") for one in payments if one.get("paidAt")
    ]
    events += [(order["deliveredAt"], "Delivered: the PIN was accepted")] if order.get("deliveredAt") else []
    events += [(one["createdAt"], f"Refund {one['status']}") for one in refunds if one.get("createdAt")]
    events += [(one["createdAt"], f"Return {one['status']}") for one in returns if one.get("createdAt")]
    if dispute:
        events.append((dispute["raisedAt"], f"Disputed: {dispute['reason']}"))
        events += [(dispute["endedAt"], f"Dispute ended for {dispute['outcome']}")] if dispute.get("endedAt") else []
    return sorted(events)
