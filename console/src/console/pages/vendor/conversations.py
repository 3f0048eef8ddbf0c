"""Conversations of a vendor with its buyers, and the offers that it makes in them."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Final

from starlette.responses import Response

from console.api import Json
from console.families import Screens
from console.formats import naira
from console.lists import Column, ListView, show_list
from console.pages.vendor.variants import listed_variants
from console.parts import command, needed, show_image
from console.visit import Visit

SCREENS = Screens()

CATALOG_OWNER: Final = ("catalog:own",)
MESSAGES_SHOWN: Final = 50
VALID_HOURS: Final = (("48", "2 days"), ("24", "1 day"), ("6", "6 hours"), ("1", "1 hour"))
REPORT_REASON: Final = "The message breaks the rules of the market."

CONVERSATIONS = ListView(
    "/api/conversations",
    columns=(
        Column("Buyer", lambda one: one["buyerName"] or "A buyer", link="/conversations/{id}"),
        Column("About", lambda one: "An order" if one["orderId"] else "A product"),
        Column("Unread", "unreadCount", "number"),
        Column("Last message", "lastMessageAt", "ago"),
        Column("Opened", "createdAt", "time"),
    ),
    empty="No buyer has written yet. Buyers ask about a product or an order.",
)


@SCREENS.page("/conversations", title="Messages", any_of=CATALOG_OWNER, menu="Messages")
async def conversations_page(visit: Visit) -> Response:
    return await show_list(visit, CONVERSATIONS)


@SCREENS.page("/conversations/{id:uuid}", title="Conversation", any_of=CATALOG_OWNER)
async def conversation_page(visit: Visit) -> Response:
    path = f"/api/conversations/{visit['id']}"
    conversation, messages = await asyncio.gather(
        visit.api.get(path), visit.api.page(f"{path}/messages", limit=MESSAGES_SHOWN)
    )
    if conversation["unreadCount"] and visit.error is None:
        await visit.api.post(f"{path}/read")
    products = [product async for product in visit.api.every_row("/api/products/mine", status="published")]
    # The list has no variants: those of the product that the form is about are loaded.
    offered_id = visit.form["productId"] or conversation["productId"]
    offered = next((one for one in products if one["id"] == offered_id), None)
    if offered is not None and offered["options"]:
        offered = await visit.api.get(f"/api/products/{offered_id}")
    return visit.render(
        "vendor/conversation.html",
        title=conversation["buyerName"] or "A buyer",
        conversation=conversation,
        messages=messages.items[::-1],
        is_longer=messages.next_cursor is not None,
        options=[
            (one["id"], f"{one['name']} ({naira(one['priceMinor'])}, {one['stock']} in stock)") for one in products
        ],
        offered=offered,
        variants=[] if offered is None else _variants(offered),
        valid_hours=VALID_HOURS,
    )


@SCREENS.action("/conversations/{id:uuid}/messages", any_of=CATALOG_OWNER, page=conversation_page)
async def post_message(visit: Visit) -> Response:
    body = {"text": visit.form["text"]}
    if "file" in visit.form.files:
        images = f"/api/conversations/{visit['id']}/images"
        image = await visit.api.post(images, files={"file": await visit.form.image("file")})
        # The API's text is required; a photo alone is sent with this one.
        body = {"text": body["text"] or "Photo", "imageId": image["id"]}
    message = await visit.api.post(f"/api{visit.path}", body)
    return visit.go(f"/conversations/{visit['id']}", message["maskedReason"] or "The message is sent.")


@SCREENS.page("/conversations/{id:uuid}/images/{image_id:uuid}", title="Photo")
async def message_image(visit: Visit) -> Response:
    return await show_image(visit, f"/api{visit.path}")


@SCREENS.action("/conversations/{id:uuid}/offers", any_of=CATALOG_OWNER, page=conversation_page)
async def make_offer(visit: Visit) -> Response:
    form = visit.form
    # A variant of the product that the form showed before another one was chosen is none of it.
    of_product, _, variant_id = form["variant"].partition(" ")
    hours = timedelta(hours=needed(form.number("hours"), "hours"))
    body = {
        "productId": form["productId"],
        **({"variantId": variant_id} if of_product == form["productId"] else {}),
        "quantity": needed(form.number("quantity"), "quantity"),
        "unitPriceMinor": needed(form.minor("unitPriceMinor"), "unitPriceMinor"),
        # The API's clock may be behind: the default is the longest time.
        **({} if hours >= timedelta(hours=48) else {"expiresAt": (datetime.now(UTC) + hours).isoformat()}),
    }
    await visit.api.post(f"/api{visit.path}", body)
    return visit.go(f"/conversations/{visit['id']}", "The offer is made. The buyer accepts it by paying.")


@SCREENS.action(
    "/conversations/{id:uuid}/offers/{offer_id:uuid}/withdraw", any_of=CATALOG_OWNER, page=conversation_page
)
async def withdraw_offer(visit: Visit) -> Response:
    await visit.api.post(f"/api{visit.path}")
    return visit.go(f"/conversations/{visit['id']}", "The offer is withdrawn.")


@SCREENS.action("/conversations/{id:uuid}/block", any_of=CATALOG_OWNER, page=conversation_page)
async def block_buyer(visit: Visit) -> Response:
    return await command(visit, None, "The buyer is blocked.")


@SCREENS.action("/conversations/{id:uuid}/unblock", any_of=CATALOG_OWNER, page=conversation_page)
async def unblock_buyer(visit: Visit) -> Response:
    path = f"/conversations/{visit['id']}"
    await visit.api.delete(f"/api{path}/block")
    return visit.go(path, "The buyer can write again.")


@SCREENS.action("/conversations/{id:uuid}/reports/{message_id:uuid}", any_of=CATALOG_OWNER, page=conversation_page)
async def report_message(visit: Visit) -> Response:
    body = {"subject": {"kind": "message", "id": str(visit["message_id"])}, "reason": REPORT_REASON}
    await visit.api.post("/api/reports", body)
    return visit.go(f"/conversations/{visit['id']}", "The message is reported. Our staff read this conversation now.")


def _variants(product: Json) -> list[tuple[str, str]]:
    """Return the variants that an offer may name, each after its product, with their texts."""
    return [
        (
            f"{product['id']} {one['id']}",
            f"{', '.join(one['values'].values())} ({naira(one['priceMinor'])}, {one['stock']} in stock)",
        )
        for one in listed_variants(product)
        if one["active"]
    ]
