"""Support's screens: orders, tickets, disputes, returns, deliveries."""

import asyncio
from typing import Any, Final

from starlette.responses import Response

from console.api import ApiProblem, Json
from console.families import Family
from console.formats import naira
from console.lists import Column, Filter, ListView, choices, show_list
from console.visit import InvalidField, Visit

FAMILY = Family("Support", order=10)

# ---- Orders ----------------------------------------------------------------------------------------------------------

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
    """The order with its money, refunds, dispute and returns. The API decides who reads which part."""
    order_id = visit["id"]
    order: Json = await visit.api.get(f"/api/orders/{order_id}")
    if visit.may("orders:fulfil", "orders:verify") and not visit.may(*ORDER_READERS):
        # A vendor and a hub agent have a page of their own for it.
        return visit.go(f"/orders/{order_id}/fulfil", visit.session.notice)
    payments, refunds, returns, dispute, resolutions, transactions = await asyncio.gather(
        _rows(visit, "/api/payments", orderId=order_id),
        _rows(visit, "/api/refunds", orderId=order_id),
        _rows(visit, f"/api/orders/{order_id}/return-requests"),
        _one(visit, f"/api/orders/{order_id}/dispute"),
        _rows(visit, "/api/dispute-resolutions", orderId=order_id),
        _rows(visit, "/api/transactions", orderId=order_id) if visit.may("ledger:read") else _no_rows(),
    )
    return visit.render(
        "support/order.html",
        title=f"Order {order['number']}",
        order=order,
        payments=payments,
        refunds=refunds,
        returns=returns,
        dispute=dispute,
        resolutions=resolutions,
        transactions=transactions,
        timeline=order_timeline(order, payments, refunds, returns, dispute, resolutions),
        payment_columns=PAYMENTS,
        refund_columns=REFUNDS,
        return_columns=RETURNS_OF_ORDER,
        resolution_columns=RESOLUTIONS,
    )


@FAMILY.action("/orders/{id:uuid}/cancel", any_of=("orders:cancel",), page=order_page)
async def cancel_order(visit: Visit) -> Response:
    await visit.api.post(f"/api/orders/{visit['id']}/cancel", {"reason": visit.form["reason"]})
    return visit.go(f"/orders/{visit['id']}", "The order is cancelled.")


@FAMILY.action("/orders/{id:uuid}/resolve", any_of=("disputes:prepare",), page=order_page)
async def resolve_dispute(visit: Visit) -> Response:
    """Prepare how a dispute ends. A finance checker approves it before any money moves."""
    body: Json = {"outcome": visit.form["outcome"]}
    if body["outcome"] == "split":
        body["refundMinor"] = visit.form.minor("refundMinor")
        if body["refundMinor"] is None:
            raise InvalidField("refundMinor", "a split needs the amount for the buyer")
    await visit.api.post(f"/api/orders/{visit['id']}/resolve", body)
    return visit.go(f"/orders/{visit['id']}", "The resolution is prepared. A finance checker decides on it.")


@FAMILY.page("/orders/{id:uuid}/dispute/evidence/{evidence_id:uuid}", title="Evidence")
async def evidence_image(visit: Visit) -> Response:
    return await show_image(visit, f"/api/orders/{visit['id']}/dispute/evidence/{visit['evidence_id']}")


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


RETURNS_OF_ORDER: Final = (
    Column("Return", "id", "id", link="/return-requests/{id}"),
    Column("Status", "status", "badge"),
    Column("Reason", "reason"),
    Column("Refund", "refundMinor", "naira"),
    Column("Asked", "createdAt", "time"),
)
RESOLUTIONS: Final = (
    Column("Outcome", "outcome", link="/dispute-resolutions/{id}"),
    Column("Status", "status", "badge"),
    Column("For the buyer", "refundMinor", "naira"),
    Column("For the vendor", "releaseMinor", "naira"),
    Column("Prepared", "createdAt", "time"),
    Column("Decided", "decidedAt", "time"),
)

# ---- Tickets ---------------------------------------------------------------------------------------------------------

TICKET_READERS: Final = ("tickets:manage", "tickets:read")
PRIORITIES: Final = choices("low", "normal", "high", "urgent")
CANNED_REPLIES: Final = (
    (
        "Payment under review",
        "We have your payment and are checking it. You need not pay again; we write as soon as it is settled.",
    ),
    (
        "Delivery PIN",
        "Give the PIN to the vendor only when you hold your order. Nobody of us will ever ask you for it.",
    ),
    ("New PIN", "You can have a new PIN sent in the app: open the order and choose “Send the PIN again”."),
    ("Refund on its way", "Your refund was sent. Banks usually show it within three working days."),
    ("More details", "Could you send us the order number and a photo? Then we can decide at once."),
)
"""Replies to start from; they are edited before they are sent."""

TICKETS = ListView(
    "/api/support-tickets",
    columns=(
        Column("Subject", "subject", link="/support-tickets/{id}"),
        Column("Status", "status", "badge"),
        Column("Priority", "priority", "badge"),
        Column("Customer", "customer.name"),
        Column("Unread", "unread", "number"),
        Column("From", "source"),
        Column("Opened", "createdAt", "time"),
        Column("Last change", "updatedAt", "ago"),
    ),
    filters=(
        Filter("status", "Status", choices("open", "pending", "closed")),
        Filter("priority", "Priority", PRIORITIES),
        Filter("awaiting", "Awaiting", choices("answer")),
    ),
    empty="No ticket is here. Customers open them in the app or by the messaging app.",
)


@FAMILY.page("/support-tickets", title="Tickets", any_of=TICKET_READERS, menu="Tickets")
async def tickets_page(visit: Visit) -> Response:
    return await show_list(visit, TICKETS)


@FAMILY.page("/support-tickets/{id:uuid}", title="Ticket", any_of=TICKET_READERS)
async def ticket_page(visit: Visit) -> Response:
    path = f"/api/support-tickets/{visit['id']}"
    ticket, messages, attachments = await asyncio.gather(
        visit.api.get(path), visit.api.page(f"{path}/messages", limit=100), _rows(visit, f"{path}/attachments")
    )
    if visit.may("tickets:manage") and ticket["unread"] and visit.error is None:
        await visit.api.post(f"{path}/read")
    return visit.render(
        "support/ticket.html",
        title=ticket["subject"],
        ticket=ticket,
        messages=sorted(messages.items, key=lambda message: message["createdAt"]),
        is_longer=messages.next_cursor is not None,
        attachments=attachments,
        priorities=PRIORITIES,
        canned=CANNED_REPLIES,
        draft=dict(CANNED_REPLIES).get(visit.query.get("reply", ""), ""),
    )


@FAMILY.action("/support-tickets/{id:uuid}/messages", any_of=("tickets:manage",), page=ticket_page)
async def reply_to_ticket(visit: Visit) -> Response:
    path = f"/support-tickets/{visit['id']}"
    await visit.api.post(f"/api{path}/messages", {"text": visit.form["text"]})
    return visit.go(path, "The answer is sent.")


@FAMILY.action("/support-tickets/{id:uuid}/assign", any_of=("tickets:manage",), page=ticket_page)
async def assign_ticket(visit: Visit) -> Response:
    path = f"/support-tickets/{visit['id']}"
    await visit.api.post(f"/api{path}/assign", {"assigneeId": visit.form["assigneeId"] or visit.user.id})
    return visit.go(path, "The ticket is assigned.")


@FAMILY.action("/support-tickets/{id:uuid}/priority", any_of=("tickets:manage",), page=ticket_page)
async def change_priority(visit: Visit) -> Response:
    path = f"/support-tickets/{visit['id']}"
    await visit.api.patch(
        f"/api{path}", {"priority": visit.form["priority"], "revision": visit.form.number("revision")}
    )
    return visit.go(path, "The priority is changed.")


@FAMILY.action("/support-tickets/{id:uuid}/close", any_of=("tickets:manage",), page=ticket_page)
async def close_ticket(visit: Visit) -> Response:
    path = f"/support-tickets/{visit['id']}"
    await visit.api.post(f"/api{path}/close")
    return visit.go(path, "The ticket is closed.")


@FAMILY.action("/support-tickets/{id:uuid}/attachments", any_of=("tickets:manage",), page=ticket_page)
async def attach_image(visit: Visit) -> Response:
    path = f"/support-tickets/{visit['id']}"
    await visit.api.post(f"/api{path}/attachments", files={"file": await visit.form.image("file")})
    return visit.go(path, "The image is attached.")


@FAMILY.page("/support-tickets/{id:uuid}/attachments/{image_id:uuid}", title="Attachment", any_of=TICKET_READERS)
async def attachment_image(visit: Visit) -> Response:
    return await show_image(visit, f"/api/support-tickets/{visit['id']}/attachments/{visit['image_id']}")


# ---- Returns ---------------------------------------------------------------------------------------------------------

RETURNS = ListView(
    "/api/return-requests",
    columns=(
        Column("Return", "id", "id", link="/return-requests/{id}"),
        Column("Order", "orderId", "id", link="/orders/{orderId}"),
        Column("Status", "status", "badge"),
        Column("Reason", "reason"),
        Column("Refund", "refundMinor", "naira"),
        Column("Asked", "createdAt", "time"),
    ),
    filters=(
        Filter("status", "Status", choices("requested", "approved", "rejected")),
        Filter("awaiting", "Awaiting", choices("decision")),
    ),
    empty="No return is here. Buyers ask for one within 7 days of the delivery.",
)
DECIDES_RETURNS: Final = ("returns:decide", "orders:fulfil")


@FAMILY.page("/return-requests", title="Returns", any_of=(*DECIDES_RETURNS, "orders:read"), menu="Returns")
async def returns_page(visit: Visit) -> Response:
    return await show_list(visit, RETURNS)


@FAMILY.page("/return-requests/{id:uuid}", title="Return", any_of=(*DECIDES_RETURNS, "orders:read"))
async def return_page(visit: Visit) -> Response:
    request: Json = await visit.api.get(f"/api/return-requests/{visit['id']}")
    order: Json = await visit.api.get(f"/api/orders/{request['orderId']}")
    return visit.render("support/return.html", request=request, order=order, lines=_returned_lines(request, order))


@FAMILY.action("/return-requests/{id:uuid}/approve", any_of=DECIDES_RETURNS, page=return_page)
async def approve_return(visit: Visit) -> Response:
    await visit.api.post(f"/api/return-requests/{visit['id']}/approve", dict(visit.form.given("reason")))
    return visit.go(f"/return-requests/{visit['id']}", "The return is approved; the refund is on its way.")


@FAMILY.action("/return-requests/{id:uuid}/reject", any_of=DECIDES_RETURNS, page=return_page)
async def reject_return(visit: Visit) -> Response:
    await visit.api.post(f"/api/return-requests/{visit['id']}/reject", dict(visit.form.given("reason")))
    return visit.go(f"/return-requests/{visit['id']}", "The return is rejected.")


def _returned_lines(request: Json, order: Json) -> list[Json]:
    """The items of the return with name and worth, in kobo."""
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


# ---- Messages --------------------------------------------------------------------------------------------------------

DELIVERIES = ListView(
    "/api/notification-delivery-logs",
    columns=(
        Column("Template", "template", link="/notification-delivery-logs?notificationId={notificationId}"),
        Column("Channel", "channel"),
        Column("Recipient", "recipient"),
        Column("Status", "status", "badge"),
        Column("Provider", "provider"),
        Column("Error", "error"),
        Column("Tried", "attemptedAt", "time"),
    ),
    filters=(
        Filter("channel", "Channel", choices("push", "messaging", "sms", "email")),
        Filter("status", "Status", choices("sending", "unknown", "sent", "delivered", "read", "failed", "bounced")),
        Filter("notificationId", "Notification id"),
    ),
    empty="No message has been sent yet.",
)
DELIVERY_READERS: Final = ("delivery_logs:read", "notifications:resend")


@FAMILY.page("/notification-delivery-logs", title="Messages", any_of=DELIVERY_READERS, menu="Messages")
async def deliveries_page(visit: Visit) -> Response:
    return await show_list(visit, DELIVERIES, "support/deliveries.html")


@FAMILY.action("/notification-delivery-logs/{id:uuid}/resend", any_of=("notifications:resend",), page=deliveries_page)
async def resend(visit: Visit) -> Response:
    await visit.api.post(f"/api/notification-delivery-logs/{visit['id']}/resend")
    return visit.go(
        f"/notification-delivery-logs?notificationId={visit.form['notificationId']}", "The message is sent again."
    )


# ---- Reviews ---------------------------------------------------------------------------------------------------------

REVIEWS = ListView(
    "/api/reviews",
    columns=(
        Column("Rating", "rating", "number"),
        Column("Text", "text"),
        Column("Hidden", "hiddenAt", "time"),
        Column("Because", "hiddenBecause"),
        Column("Order", "orderId", "id", link="/orders/{orderId}"),
        Column("Written", "createdAt", "time"),
    ),
    filters=(Filter("hidden", "Hidden", (("true", "hidden"), ("false", "shown"))),),
    empty="No review has been written yet.",
)


@FAMILY.page("/reviews", title="Reviews", any_of=("reviews:read",), menu="Reviews")
async def reviews_page(visit: Visit) -> Response:
    return await show_list(visit, REVIEWS, "support/reviews.html")


@FAMILY.action("/reviews/moderate", any_of=("reviews:moderate",), page=reviews_page)
async def moderate_review(visit: Visit) -> Response:
    """Hide a review with a reason, or show it again without one."""
    path, reason = f"/api/reviews/{visit.form['review']}", visit.form["reason"]
    if reason:
        await visit.api.post(f"{path}/hide", {"reason": reason})
        return visit.go("/reviews", "The review is hidden.")
    await visit.api.post(f"{path}/restore")
    return visit.go("/reviews", "The review is shown again.")


# ---- Parts -----------------------------------------------------------------------------------------------------------


async def show_image(visit: Visit, path: str) -> Response:
    """An image that only its parties and staff may see, under the person's own token."""
    image = await visit.api.document(path)
    if not image.media_type.startswith("image/"):
        raise ApiProblem(415, {"title": "This is no image"})
    return Response(image.content, media_type=image.media_type)


async def _no_rows() -> list[Json]:
    return []


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


def order_timeline(
    order: Json,
    payments: list[Json],
    refunds: list[Json],
    returns: list[Json],
    dispute: Json | None,
    resolutions: list[Json],
) -> list[tuple[str, str]]:
    """Instant and event, oldest first."""
    events: list[tuple[str | None, str]] = [(order["createdAt"], "Placed")]
    for payment in payments:
        amount = naira(payment["amountMinor"])
        events.append((payment["createdAt"], f"Payment of {amount} started"))
        events.append((payment["paidAt"], f"{amount} paid by {payment.get('channel') or 'the gateway'}"))
    is_decided = bool(dispute and dispute["outcome"])
    events.append(
        (order.get("deliveredAt"), "Completed by decision" if is_decided else "Delivered: the PIN was accepted")
    )
    if dispute:
        events.append((dispute["raisedAt"], f"Disputed: {dispute['reason']}"))
        events.append((dispute["endedAt"], f"Dispute ended: {dispute['outcome']}"))
    for resolution in resolutions:
        events.append((resolution["createdAt"], f"Resolution for {resolution['outcome']} prepared"))
        events.append((resolution["decidedAt"], f"Resolution {resolution['status']}"))
    for request in returns:
        events.append((request["createdAt"], f"Return requested: {request['reason']}"))
        events.append((request["decidedAt"], f"Return {request['status']}"))
    for refund in refunds:
        events.append((refund["createdAt"], f"Refund of {naira(refund['amountMinor'])} opened"))
        events.append((refund["settledAt"], f"Refund of {naira(refund['amountMinor'])} settled"))
    if order["status"] in ("cancelled", "expired", "dispatched", "refund_pending"):
        events.append((order["updatedAt"], f"Now {order['status'].replace('_', ' ')}"))
    return sorted((at, event) for at, event in events if at)
