"""Dead letters and dead webhooks, with replay and closure."""

import asyncio
from collections.abc import Sequence
from typing import Final

from starlette.responses import Response

from common.observability.logging import REQUEST_ID
from console.api import ApiProblem, Json, Rows
from console.families import Screens
from console.lists import Column, Filter, ListView, show_list
from console.parts import names_of
from console.visit import Visit

SCREENS = Screens()

SERVICES: Final = ("identity", "orders", "payments", "payouts", "notifications")

DEAD_LETTER_READERS: Final = ("dead_letters:read",)
DEAD_LETTER_TABS: Final = (
    ("/dead-letters", "Overview"),
    *((f"/dead-letters/{service}", service.capitalize()) for service in SERVICES),
    ("/dead-letter-webhooks", "Webhooks"),
)


def dead_letters_of(service: str) -> ListView:
    return ListView(
        f"/api/dead-letters/{service}",
        columns=(
            Column("Message", "eventType", link=f"/dead-letters/{service}/{{id}}"),
            Column("About", "subject"),
            Column("Error", "error"),
            Column("Attempts", "attempts", "number"),
            Column("Failed", "failedAt", "time"),
            Column("Replayed", "replayedAt", "time"),
            Column("Closed", "closedAt", "time"),
        ),
        filters=(Filter("awaiting", "Awaiting"),),
        empty=f"No message of {service} failed for good.",
    )


WEBHOOKS = ListView(
    "/api/dead-letter-webhooks",
    columns=(
        Column("Event", "eventType", link="/dead-letter-webhooks/{id}"),
        Column("About", "subject"),
        Column("From", "provider"),
        Column("Key", "eventId"),
        Column("Error", "error"),
        Column("Attempts", "attempts", "number"),
        Column("Failed", "failedAt", "time"),
        Column("Outcome", "outcome", "badge"),
        Column("Replayed", "replayedAt", "time"),
        Column("Closed", "closedAt", "time"),
    ),
    filters=(
        Filter("outcome", "Outcome"),
        Filter("eventType", "Event"),
        Filter("eventId", "Key", kind="search"),
    ),
    empty="No webhook of the payment gateway or the messaging app failed for good.",
)


@SCREENS.page("/dead-letters", title="Dead letters", any_of=DEAD_LETTER_READERS, menu="Dead letters")
async def dead_letters_overview(visit: Visit) -> Response:
    """Open dead letters, by service."""
    return visit.render(
        "oncall/dead_letters.html", counts=await count_dead_letters(visit), tabs_of_page=DEAD_LETTER_TABS
    )


@SCREENS.page("/dead-letters/{service}", title="Dead letters", any_of=DEAD_LETTER_READERS)
async def dead_letters_page(visit: Visit) -> Response:
    view = dead_letters_of(_service_of(visit))
    return await show_list(visit, view, "oncall/tabbed_list.html", tabs_of_page=DEAD_LETTER_TABS)


@SCREENS.page("/dead-letters/{service}/{id:uuid}", title="Dead letter", any_of=DEAD_LETTER_READERS)
async def dead_letter_page(visit: Visit) -> Response:
    service = _service_of(visit)
    dead_letter: Json = await visit.api.get(f"/api/dead-letters/{service}/{visit['id']}")
    return await _show(visit, dead_letter, f"/dead-letters/{service}/{dead_letter['id']}", _DEAD_LETTER_STEPS)


@SCREENS.action("/dead-letters/{service}/{id:uuid}/replay", any_of=("webhooks:replay",), page=dead_letter_page)
async def replay_dead_letter(visit: Visit) -> Response:
    service = _service_of(visit)
    await visit.api.post(f"/api/dead-letters/{service}/{visit['id']}/replay")
    return visit.go(f"/dead-letters/{service}", "The message is queued again.")


@SCREENS.action("/dead-letters/{service}/{id:uuid}/close", any_of=("webhooks:replay",), page=dead_letter_page)
async def close_dead_letter(visit: Visit) -> Response:
    service = _service_of(visit)
    return await _close(visit, f"/api/dead-letters/{service}/{visit['id']}/close", f"/dead-letters/{service}")


@SCREENS.page("/dead-letter-webhooks", title="Dead webhooks", any_of=DEAD_LETTER_READERS)
async def webhooks_page(visit: Visit) -> Response:
    return await show_list(visit, WEBHOOKS, "oncall/tabbed_list.html", tabs_of_page=DEAD_LETTER_TABS)


@SCREENS.page("/dead-letter-webhooks/{id:uuid}", title="Dead webhook", any_of=DEAD_LETTER_READERS)
async def webhook_page(visit: Visit) -> Response:
    dead_letter: Json = await visit.api.get(f"/api/dead-letter-webhooks/{visit['id']}")
    steps = _WEBHOOK_STEPS if dead_letter["service"] == "payments" else _MESSAGE_STEPS
    return await _show(visit, dead_letter, f"/dead-letter-webhooks/{dead_letter['id']}", steps)


@SCREENS.action("/dead-letter-webhooks/{id:uuid}/replay", any_of=("webhooks:replay",), page=webhook_page)
async def replay_webhook(visit: Visit) -> Response:
    result: Json = await visit.api.post(f"/api/dead-letter-webhooks/{visit['id']}/replay")
    done = "The event is queued again." if result["requeued"] else "It was processed in the meantime: nothing changed."
    return visit.go("/dead-letter-webhooks", done)


@SCREENS.action("/dead-letter-webhooks/{id:uuid}/close", any_of=("webhooks:replay",), page=webhook_page)
async def close_webhook(visit: Visit) -> Response:
    return await _close(visit, f"/api/dead-letter-webhooks/{visit['id']}/close", "/dead-letter-webhooks")


_DEAD_LETTER_STEPS: Final = (
    "Read the error. It names the fault, never the content of the message.",
    "PermanentFault: the publisher broke its contract, or the consumer was released too late. Correct the code first.",
    "Anything else: mend the cause first, such as a provider that was down or a missing row.",
)
_WEBHOOK_STEPS: Final = (
    "Money may have moved at the gateway without an entry in our ledger.",
    "Look the event's reference up at the gateway: is the money there?",
    "Mend the cause.",
)
_MESSAGE_STEPS: Final = (
    "A customer wrote to us in the messaging app, or a message of ours has a new status. No money moved.",
    "Read the error, and mend the cause. The replay opens the ticket that the customer is waiting for.",
)


async def _close(visit: Visit, path: str, screen: str) -> Response:
    """Close the dead letter, or request it where money is concerned."""
    result: Json = await visit.api.post(path, {"reason": visit.form["reason"]})
    if result["status"] == "closed":
        return visit.go(f"{screen}/{visit['id']}", "It is closed.")
    return visit.go(f"{screen}/{visit['id']}", "The closure is requested. Another person must close it, too.")


async def _show(visit: Visit, dead_letter: Json, path: str, steps: Sequence[str]) -> Response:
    names = await names_of(visit, *(line["by"] for line in dead_letter["history"]))
    is_own_request = dead_letter["closureRequestedBy"] == visit.session.user_id
    return visit.render(
        "oncall/dead_letter.html",
        dead_letter=dead_letter,
        path=path,
        steps=steps,
        names=names,
        is_own_request=is_own_request,
    )


def _service_of(visit: Visit) -> str:
    service = visit["service"]
    if service not in SERVICES:
        raise ApiProblem(404, {"code": "RESOURCE_NOT_FOUND"}, REQUEST_ID.get())
    return service


async def count_dead_letters(visit: Visit) -> list[Json]:
    """Return a row for each service and for the webhooks: how many are open, and since when."""
    calls = [
        _oldest(visit, f"/api/dead-letters/{service}", f"/dead-letters/{service}", awaiting="replay")
        for service in SERVICES
    ]
    calls.append(_oldest(visit, "/api/dead-letter-webhooks", "/dead-letter-webhooks", outcome="dead"))
    names = (*SERVICES, "webhooks")
    rows = await asyncio.gather(*calls)
    return [{"name": name, **row} for name, row in zip(names, rows, strict=True)]


async def _oldest(visit: Visit, path: str, screen: str, **parameters: str) -> Json:
    (filter_name, word), *_ = parameters.items()
    link = f"{screen}?{filter_name}={word}"
    try:
        rows: Rows = await visit.api.page(path, limit=1, order="asc", **parameters)
    except ApiProblem as problem:
        if problem.status < 500:
            raise
        return {"count": None, "oldestAt": None, "link": link}
    return {"count": rows.total, "oldestAt": rows.items[0]["failedAt"] if rows.items else None, "link": link}
