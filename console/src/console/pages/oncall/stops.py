"""The switches that stop checkout and dispatch."""

import asyncio
from datetime import timedelta
from typing import Final

from starlette.responses import Response

from common.primitives.clock import SystemClock, iso
from console.api import ApiProblem, Json
from console.families import Screens
from console.lists import Column, name_rows
from console.visit import Visit

SCREENS = Screens()

READERS: Final = ("staff_names:read",)
STOPPERS: Final = ("operations:stop",)
OPERATIONS: Final = {"checkout": "Checkout", "dispatch": "Dispatch of payouts"}
HOURS: Final = (("1", "1 hour"), ("2", "2 hours"), ("4", "4 hours"), ("8", "8 hours"), ("24", "24 hours"))
EARLIER: Final = (
    Column("Stopped", "stoppedAt", "time"),
    Column("By", "stoppedBy", "staff"),
    Column("Reason", "reason"),
    Column("Until", "expiresAt", "time"),
    Column("Lifted", "liftedAt", "time"),
    Column("Lifted by", "liftedBy", "staff"),
    Column("Why it was lifted", "liftReason"),
)


async def present_stops(visit: Visit) -> list[Json]:
    """Return the stops in force with the name of their operation; a service that does not respond shows none."""
    found = await asyncio.gather(*(_stops_of(visit, operation) for operation in OPERATIONS))
    return [{**one["current"], "name": OPERATIONS[one["operation"]]} for one in found if one and one["current"]]


async def _stops_of(visit: Visit, operation: str) -> Json | None:
    try:
        found: Json = await visit.api.get(f"/api/stops/{operation}")
    except ApiProblem as problem:
        if problem.status < 500:
            raise
        return None
    return found


@SCREENS.page("/stops", title="Stop checkout or dispatch", any_of=READERS, menu="Stop switches", menu_for=STOPPERS)
async def stops_page(visit: Visit) -> Response:
    found = [one for one in await asyncio.gather(*(_stops_of(visit, name) for name in OPERATIONS)) if one]
    for one in found:
        await name_rows(visit, EARLIER, [*one["earlier"], *([one["current"]] if one["current"] else [])])
    return visit.render("oncall/stops.html", switches=found, names=OPERATIONS, hours=HOURS, columns=EARLIER)


async def _stop(visit: Visit, operation: str) -> Response:
    hours = int(visit.form["hours"]) if visit.form["hours"].isdecimal() else 0
    body = {
        "reason": visit.form["reason"],
        "message": visit.form["message"],
        "expiresAt": iso(SystemClock().now() + timedelta(hours=hours)),
    }
    await visit.api.post(f"/api/stops/{operation}", body)
    return visit.go("/stops", f"{OPERATIONS[operation]} is stopped. The stop ends by itself.")


async def _lift(visit: Visit, operation: str) -> Response:
    await visit.api.post(f"/api/stops/{operation}/lift", {"reason": visit.form["reason"]})
    return visit.go("/stops", f"{OPERATIONS[operation]} runs again.")


@SCREENS.action("/stops/checkout", any_of=STOPPERS, page=stops_page)
async def stop_checkout(visit: Visit) -> Response:
    return await _stop(visit, "checkout")


@SCREENS.action("/stops/dispatch", any_of=STOPPERS, page=stops_page)
async def stop_dispatch(visit: Visit) -> Response:
    return await _stop(visit, "dispatch")


@SCREENS.action("/stops/checkout/lift", any_of=STOPPERS, page=stops_page)
async def lift_checkout(visit: Visit) -> Response:
    return await _lift(visit, "checkout")


@SCREENS.action("/stops/dispatch/lift", any_of=STOPPERS, page=stops_page)
async def lift_dispatch(visit: Visit) -> Response:
    return await _lift(visit, "dispatch")
