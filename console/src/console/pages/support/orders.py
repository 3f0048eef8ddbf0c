"""Orders of all campuses: search, one order with its money, and the preparation of a resolution."""

import asyncio
from typing import Final

from starlette.responses import Response

from console.api import ApiProblem, Json
from console.families import Screens
from console.formats import spoken
from console.lists import Column, Filter, ListView, show_list
from console.pages.support.returns import return_kind
from console.pages.support.timeline import order_timeline
from console.parts import (
    account_names,
    cancel_item,
    cancelled_minor,
    command,
    item_choices,
    nothing,
    part,
    rows_of_part,
    show_image,
)
from console.visit import Form, InvalidField, Visit

SCREENS = Screens()

ORDER_READERS: Final = ("orders:read", "campus_orders:read")

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
        Filter("status", "Status"),
        Filter("awaiting", "Awaiting"),
        Filter("buyerId", "Buyer", kind="hidden"),
    ),
    empty="No order has been placed yet.",
)


ORDERS_OF_PURCHASE: Final = (
    Column("Order", "number", link="/orders/{id}"),
    Column("Status", "status", "badge"),
    Column("Vendor", "vendorName"),
    Column("Total", "totalMinor", "naira"),
)


@SCREENS.page("/campus-orders", title="Orders", any_of=ORDER_READERS, menu="Orders")
async def orders_page(visit: Visit) -> Response:
    return await show_list(visit, ORDERS)


@SCREENS.page("/orders/{id:uuid}", title="Order")
async def order_page(visit: Visit) -> Response:
    """Return the order with its money, refunds, dispute and returns. The API decides who reads which part."""
    order_id = visit["id"]
    order: Json = await visit.api.get(f"/api/orders/{order_id}")
    if visit.may("orders:fulfil", "orders:verify") and not visit.may(*ORDER_READERS, "charged_orders:read"):
        # A vendor and a hub agent have a page of their own for it.
        return visit.go(f"/orders/{order_id}/fulfil", visit.session.notice)
    purchase_id = order.get("purchaseId")
    timeline, payments, refunds, returns, dispute, resolutions, messages, purchase, *ledgers = await asyncio.gather(
        visit.api.get(f"/api/orders/{order_id}/timeline"),
        rows_of_part(visit, "/api/payments", orderId=order_id),
        rows_of_part(visit, "/api/refunds", orderId=order_id),
        rows_of_part(visit, f"/api/orders/{order_id}/return-requests"),
        part(visit, f"/api/orders/{order_id}/dispute"),
        rows_of_part(visit, "/api/dispute-resolutions", orderId=order_id),
        rows_of_part(visit, "/api/notification-delivery-logs", orderId=order_id, limit=100),
        part(visit, f"/api/purchases/{purchase_id}") if purchase_id else nothing(),
        *(
            rows_of_part(visit, path, orderId=order_id, **parameters) if visit.may(permission) else nothing()
            for _, path, permission, parameters in LEDGERS
        ),
    )
    return visit.render(
        "support/order.html",
        title=f"Order {order['number']}",
        order=order,
        items=item_choices(order),
        cancelled_minor=cancelled_minor(order),
        payments=payments,
        refunds=refunds,
        returns=returns,
        dispute=dispute,
        purchase=purchase,
        plan=await _plan_of_split(visit, order),
        purchase_columns=ORDERS_OF_PURCHASE,
        resolutions=resolutions,
        ledgers=[(name, found) for (name, *_), found in zip(LEDGERS, ledgers, strict=True) if found],
        account_names=await account_names(visit, [one for found in ledgers for one in found or []]),
        timeline=order_timeline(timeline, payments, refunds, returns, resolutions, messages),
        payment_columns=PAYMENTS,
        refund_columns=REFUNDS,
        return_columns=RETURNS_OF_ORDER,
        resolution_columns=RESOLUTIONS,
    )


async def _plan_of_split(visit: Visit, order: Json) -> Json | None:
    """Return what each party gets by the split of the address; None without one, or for an amount that is refused."""
    if "split" not in visit.query or order["status"] != "disputed" or not visit.may("disputes:prepare"):
        return None
    try:
        amount_minor = Form([("split", visit.query["split"])]).minor("split")
        plan: Json = await visit.api.get(f"/api/orders/{order['id']}/resolution-plan", refundMinor=amount_minor)
    except ApiProblem as problem:
        if problem.status != 422:
            raise
        visit.error = visit.error or problem
        return None
    return plan


@SCREENS.action("/orders/{id:uuid}/cancel", any_of=("orders:cancel",), page=order_page)
async def cancel_order(visit: Visit) -> Response:
    return await command(visit, {"reason": visit.form["reason"]}, "The order is cancelled.")


@SCREENS.action("/orders/{id:uuid}/cancel-item", any_of=("orders:cancel",), page=order_page)
async def cancel_one_item(visit: Visit) -> Response:
    await cancel_item(visit)
    return visit.go(f"/orders/{visit['id']}", "The item is cancelled, and its price goes back to the buyer.")


@SCREENS.action("/orders/{id:uuid}/resolve", any_of=("disputes:prepare",), page=order_page)
async def resolve_dispute(visit: Visit) -> Response:
    """Prepare how a dispute ends. A finance checker approves it before any money moves."""
    body: Json = {"outcome": visit.form["outcome"], "reason": visit.form["decisionReason"]}
    if body["outcome"] == "split":
        body["refundMinor"] = visit.form.minor("refundMinor")
        if body["refundMinor"] is None:
            raise InvalidField("refundMinor", "a split needs the amount for the buyer")
    return await command(visit, body, "The resolution is prepared. A finance checker decides on it.")


@SCREENS.page("/orders/{id:uuid}/dispute/evidence/{evidence_id:uuid}", title="Evidence")
async def evidence_image(visit: Visit) -> Response:
    return await show_image(visit, f"/api/orders/{visit['id']}/dispute/evidence/{visit['evidence_id']}")


LEDGERS: Final[tuple[tuple[str, str, str, dict[str, str]], ...]] = (
    ("Ledger of payments", "/api/transactions", "ledger:read", {"order": "asc"}),
    ("Ledger of wallets", "/api/wallet-transactions", "payouts:read", {}),
)
"""Heading, list, permission and parameters of each ledger."""
PAYMENTS: Final = (
    Column("Payment", lambda row: row["channel"] or "no charge yet", link="/payments/{id}"),
    Column("Status", "status", "badge"),
    Column("Amount", "amountMinor", "naira"),
    Column("From the balance", "balanceMinor", "naira"),
    Column("Paid", "paidAt", "time"),
)
REFUNDS: Final = (
    Column("Refund", lambda row: spoken(row["kind"])),
    Column("Status", "status", "badge"),
    Column("Amount", "amountMinor", "naira"),
)


RETURNS_OF_ORDER: Final = (
    Column("Return", "createdAt", "time", link="/return-requests/{id}"),
    Column("Kind", return_kind),
    Column("Status", "status", "badge"),
    Column("Reason", "reason"),
    Column("Refund", "refundMinor", "naira"),
)
RESOLUTIONS: Final = (
    Column("Outcome", "outcome", link="/dispute-resolutions/{id}"),
    Column("Status", "status", "badge"),
    Column("For the buyer", "refundMinor", "naira"),
    Column("For the vendor", "releaseMinor", "naira"),
    Column("Prepared", "createdAt", "time"),
    Column("Decided", "decidedAt", "time"),
)
