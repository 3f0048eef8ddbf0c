"""Support tickets with their conversation, images and assignment."""

import asyncio
from typing import Final

from starlette.responses import Response

from console.choices import api_values, choices
from console.families import Screens
from console.lists import Column, Filter, ListView, show_list
from console.parts import NAMED_MAX, command, names_of, rows_of_part, show_image
from console.visit import Visit

SCREENS = Screens()

TICKET_READERS: Final = ("tickets:manage", "tickets:read")
PRIORITIES: Final = choices(*api_values("/api/support-tickets", "priority"))
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
        Column("Number", "number", link="/support-tickets/{id}"),
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
        Filter("number", "Number"),
        Filter("q", "Text", kind="search"),
        Filter("orderId", "Order", kind="order"),
        Filter("userId", "Customer", kind="hidden"),
        Filter("status", "Status"),
        Filter("priority", "Priority"),
        Filter("awaiting", "Awaiting"),
    ),
    empty="No ticket is here. Customers open them in the app or by the messaging app.",
)


@SCREENS.page("/support-tickets", title="Tickets", any_of=TICKET_READERS, menu="Tickets")
async def tickets_page(visit: Visit) -> Response:
    return await show_list(visit, TICKETS)


@SCREENS.page("/support-tickets/{id:uuid}", title="Ticket", any_of=TICKET_READERS)
async def ticket_page(visit: Visit) -> Response:
    path = f"/api/support-tickets/{visit['id']}"
    ticket, notes, messages, attachments, agents = await asyncio.gather(
        visit.api.get(path),
        rows_of_part(visit, f"{path}/notes", limit=100),
        visit.api.page(f"{path}/messages", limit=100),
        rows_of_part(visit, f"{path}/attachments"),
        rows_of_part(visit, "/api/staff-names", role="support_agent", order="asc", limit=NAMED_MAX),
    )
    names = {one["id"]: one["name"] for one in agents}
    unnamed = {ticket["assigneeId"], *(note["authorId"] for note in notes)} - names.keys()
    names |= await names_of(visit, *unnamed)
    if visit.may("tickets:manage") and ticket["unread"] and visit.error is None:
        await visit.api.post(f"{path}/read")
    return visit.render(
        "support/ticket.html",
        title=ticket["subject"],
        ticket=ticket,
        messages=sorted(messages.items, key=lambda message: message["createdAt"]),
        notes=notes,
        is_longer=messages.next_cursor is not None,
        attachments=attachments,
        priorities=PRIORITIES,
        canned=CANNED_REPLIES,
        names=names,
        colleagues=[(one["id"], one["name"]) for one in agents if one["id"] != visit.user.id],
        draft=dict(CANNED_REPLIES).get(visit.query.get("reply", ""), ""),
    )


@SCREENS.action("/support-tickets/{id:uuid}/messages", any_of=("tickets:manage",), page=ticket_page)
async def reply_to_ticket(visit: Visit) -> Response:
    return await command(visit, {"text": visit.form["text"]}, "The answer is sent.")


@SCREENS.action("/support-tickets/{id:uuid}/notes", any_of=("tickets:manage",), page=ticket_page)
async def note_on_ticket(visit: Visit) -> Response:
    return await command(visit, {"text": visit.form["note"]}, "The note is kept. The customer does not see it.")


@SCREENS.action("/support-tickets/{id:uuid}/assign", any_of=("tickets:manage",), page=ticket_page)
async def assign_ticket(visit: Visit) -> Response:
    return await command(visit, {"assigneeId": visit.form["assigneeId"] or visit.user.id}, "The ticket is assigned.")


@SCREENS.action("/support-tickets/{id:uuid}/priority", any_of=("tickets:manage",), page=ticket_page)
async def change_priority(visit: Visit) -> Response:
    path = f"/support-tickets/{visit['id']}"
    await visit.api.patch(
        f"/api{path}", {"priority": visit.form["priority"], "revision": visit.form.number("revision")}
    )
    return visit.go(path, "The priority is changed.")


@SCREENS.action("/support-tickets/{id:uuid}/close", any_of=("tickets:manage",), page=ticket_page)
async def close_ticket(visit: Visit) -> Response:
    return await command(visit, None, "The ticket is closed.")


@SCREENS.action("/support-tickets/{id:uuid}/attachments", any_of=("tickets:manage",), page=ticket_page)
async def attach_image(visit: Visit) -> Response:
    return await command(visit, None, "The image is attached.", files={"file": await visit.form.image("file")})


@SCREENS.page("/support-tickets/{id:uuid}/attachments/{image_id:uuid}", title="Attachment", any_of=TICKET_READERS)
async def attachment_image(visit: Visit) -> Response:
    return await show_image(visit, f"/api/support-tickets/{visit['id']}/attachments/{visit['image_id']}")
