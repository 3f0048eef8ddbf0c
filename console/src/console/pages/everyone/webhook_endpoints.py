"""Webhook endpoints of the own shop and of the platform, with their deliveries."""

from typing import Final

from starlette.responses import Response

from console.api import Json
from console.families import Screens
from console.lists import Column, Filter, ListView, load_list, show_list
from console.parts import lagos_instant
from console.visit import InvalidField, Visit
from contracts.webhook_types import EVENT_TYPES, VENDOR_TYPES

SCREENS = Screens()

OWNERS: Final = ("webhooks:own", "webhooks:manage")
_PATH: Final = "/api/webhook-endpoints"
_WHY_DISABLED: Final = {
    "owner": "its owner disabled it",
    "gone": "the server said that the address is removed",
    "failing": "no delivery succeeded for five days",
}


def event_words(event_type: str) -> str:
    """Return an event type in words: `orders.order_placed.v1` as `order placed`."""
    return event_type.split(".")[1].replace("_", " ")


ENDPOINTS = ListView(
    _PATH,
    columns=(
        Column("Address", "url", link="/webhook-endpoints/{id}"),
        Column("Status", "status", "badge"),
        Column("Because", lambda one: _WHY_DISABLED.get(one["disabledReason"] or "")),
        Column("Events", lambda one: len(one["eventTypes"]), "number"),
        Column("Of", lambda one: "a shop" if one["vendorId"] else "the platform"),
        Column("Since", "createdAt", "time"),
    ),
    empty="No server receives events. Add its address to get each order and payout as it happens.",
)
_DELIVERIES: Final = (
    Column("Event", lambda one: event_words(one["eventType"])),
    Column("Status", "status", "badge"),
    Column("Attempts", "attempts", "number"),
    Column("Response", lambda one: one["responseStatus"] or one["error"]),
    Column("Beginning of the response", "responseExcerpt"),
    Column("Next attempt", "nextAttemptAt", "time"),
    Column("Since", "createdAt", "time"),
)


@SCREENS.page("/webhook-endpoints", title="Webhooks", any_of=OWNERS, menu="Webhooks")
async def endpoints_page(visit: Visit) -> Response:
    return await show_list(visit, ENDPOINTS, "everyone/webhook_endpoints.html")


def _offered_types(visit: Visit) -> list[tuple[str, str]]:
    return [(one, event_words(one)) for one in (EVENT_TYPES if visit.may("webhooks:manage") else VENDOR_TYPES)]


@SCREENS.page("/webhook-endpoints/new", title="New webhook endpoint", any_of=OWNERS)
async def new_endpoint_page(visit: Visit) -> Response:
    return visit.render("everyone/new_webhook_endpoint.html", types=_offered_types(visit))


@SCREENS.action("/webhook-endpoints/new", any_of=OWNERS, page=new_endpoint_page)
async def create_endpoint(visit: Visit) -> Response:
    form = visit.form
    if not form.every("eventTypes"):
        raise InvalidField("eventTypes", "choose at least one")
    body = {"url": form["url"], "description": form["description"], "eventTypes": form.every("eventTypes")}
    created: Json = await visit.api.post(_PATH, body)
    return _show_secret(visit, created)


@SCREENS.page("/webhook-endpoints/{id:uuid}", title="Webhook endpoint", any_of=OWNERS)
async def endpoint_page(visit: Visit) -> Response:
    endpoint: Json = await visit.api.get(f"{_PATH}/{visit['id']}")
    deliveries = ListView(
        f"{_PATH}/{endpoint['id']}/deliveries",
        _DELIVERIES,
        (Filter("status", "Status"),),
        empty="Nothing was sent in the last 30 days. Send a test event.",
    )
    if visit.query.get("format") == "csv":
        return await show_list(visit, deliveries)
    shown = await load_list(visit, deliveries)
    return visit.render(
        "everyone/webhook_endpoint.html",
        endpoint=endpoint,
        because=_WHY_DISABLED.get(endpoint["disabledReason"] or ""),
        events=[event_words(one) for one in endpoint["eventTypes"]],
        shown=shown,
        sent=[(one["eventId"], f"{event_words(one['eventType'])}, {one['status']}") for one in shown.rows.items],
    )


@SCREENS.action("/webhook-endpoints/{id:uuid}/test", any_of=OWNERS, page=endpoint_page)
async def send_test(visit: Visit) -> Response:
    await visit.api.post(f"{_PATH}/{visit['id']}/test")
    return visit.go(_own_path(visit), "A test event is on its way. Load the page again to see its result.")


@SCREENS.action("/webhook-endpoints/{id:uuid}/replay", any_of=OWNERS, page=endpoint_page)
async def replay(visit: Visit) -> Response:
    """Send one event again, or every event since a time."""
    event_id = visit.form["eventId"]
    body = {"eventId": event_id} if event_id else {"since": lagos_instant(visit, "since")}
    result: Json = await visit.api.post(f"{_PATH}/{visit['id']}/replay", body)
    return visit.go(_own_path(visit), f"{result['queued']} sent again.")


@SCREENS.action("/webhook-endpoints/{id:uuid}/rotate-secret", any_of=OWNERS, page=endpoint_page)
async def rotate_secret(visit: Visit) -> Response:
    return _show_secret(visit, await visit.api.post(f"{_PATH}/{visit['id']}/rotate-secret"))


@SCREENS.action("/webhook-endpoints/{id:uuid}/status", any_of=OWNERS, page=endpoint_page)
async def change_status(visit: Visit) -> Response:
    await visit.api.patch(f"{_PATH}/{visit['id']}", {"status": visit.form["status"]})
    notice = "The endpoint is enabled." if visit.form["status"] == "enabled" else "The endpoint is disabled."
    return visit.go(_own_path(visit), notice)


@SCREENS.action("/webhook-endpoints/{id:uuid}/remove", any_of=OWNERS, page=endpoint_page)
async def remove_endpoint(visit: Visit) -> Response:
    await visit.api.delete(f"{_PATH}/{visit['id']}")
    return visit.go("/webhook-endpoints", "The endpoint is removed with its deliveries.")


def _own_path(visit: Visit) -> str:
    return f"/webhook-endpoints/{visit['id']}"


def _show_secret(visit: Visit, endpoint: Json) -> Response:
    return visit.render(
        "everyone/secret.html",
        title="The secret of the endpoint",
        advice="Your server verifies the signature of each event with this secret.",
        secret=endpoint["secret"],
        back=f"/webhook-endpoints/{endpoint['id']}",
    )
