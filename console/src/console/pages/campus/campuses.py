"""Campuses and their hubs."""

import asyncio
from typing import Final

from starlette.responses import Response

from console.api import Json
from console.choices import user_choices
from console.families import Screens
from console.lists import Column, ListView, show_list
from console.opening_hours import days_of, hours_of
from console.pages.campus.names import own_campus
from console.parts import all_rows, command
from console.visit import Visit

SCREENS = Screens()

CAMPUS_MANAGERS: Final = ("campuses:manage", "campuses:manage_all", "campuses:read")
CAMPUSES = ListView(
    "/api/campuses",
    columns=(
        Column("Campus", "name", link="/campuses/{id}"),
        Column("Mail domain", "domain"),
        Column("Status", lambda one: "active" if one["active"] else "closed", "badge"),
        Column("Since", "createdAt", "time"),
    ),
    empty="No campus is open.",
)
HUBS: Final = (
    Column("Hub", "name", link="/hubs/{id}"),
    Column("Address", "address"),
    Column("Delivery fee", "deliveryFeeMinor", "naira"),
    Column("Status", lambda one: "active" if one["active"] else "closed", "badge"),
)

AGENTS: Final = (
    Column("Agent", lambda one: one["fullName"] or one["email"]),
    Column("Mail", "email"),
    Column("Since", "since", "time"),
)


@SCREENS.page("/campuses", title="Campuses and hubs", any_of=CAMPUS_MANAGERS, menu="Campuses and hubs")
async def campuses_page(visit: Visit) -> Response:
    return await show_list(visit, CAMPUSES, "campus/campuses.html")


@SCREENS.action("/campuses", any_of=("campuses:manage_all",), page=campuses_page)
async def open_campus(visit: Visit) -> Response:
    campus: Json = await visit.api.post("/api/campuses", visit.form.given("name", "domain"))
    return visit.go(f"/campuses/{campus['id']}", "The campus is open. Its vendors and hubs can be added now.")


@SCREENS.page("/campuses/{id:uuid}", title="Campus", any_of=CAMPUS_MANAGERS)
async def campus_page(visit: Visit) -> Response:
    campus, hubs = await asyncio.gather(
        visit.api.get(f"/api/campuses/{visit['id']}"), all_rows(visit, f"/api/campuses/{visit['id']}/hubs")
    )
    return visit.render(
        "campus/campus.html",
        title=campus["name"],
        campus=campus,
        hubs=hubs,
        hub_columns=HUBS,
        may_change=_may_change(visit, campus["id"]),
    )


def _may_change(visit: Visit, campus_id: str) -> bool:
    return visit.may("campuses:manage_all") or (visit.may("campuses:manage") and own_campus(visit) == campus_id)


@SCREENS.action("/campuses/{id:uuid}/change", any_of=("campuses:manage", "campuses:manage_all"), page=campus_page)
async def change_campus(visit: Visit) -> Response:
    body = {
        "name": visit.form["name"],
        "active": visit.form["active"] == "yes",
        "revision": visit.form.number("revision"),
    }
    await visit.api.patch(f"/api/campuses/{visit['id']}", body)
    return visit.go(f"/campuses/{visit['id']}", "The campus is changed.")


@SCREENS.action("/campuses/{id:uuid}/hubs", any_of=("campuses:manage", "campuses:manage_all"), page=campus_page)
async def open_hub(visit: Visit) -> Response:
    body = {**_hub_of(visit), "deliveryFeeMinor": visit.form.minor("deliveryFeeMinor") or 0}
    return await command(visit, body, "The hub is open.")


@SCREENS.page("/hubs/{id:uuid}", title="Hub", any_of=CAMPUS_MANAGERS)
async def hub_page(visit: Visit) -> Response:
    hub: Json = await visit.api.get(f"/api/hubs/{visit['id']}")
    days = days_of(hub["openingHours"])
    manages_agents = visit.may("hub_agents:manage") and own_campus(visit) == hub["campusId"]
    agents: list[Json] = await visit.api.get(f"/api/hubs/{hub['id']}/agents") if manages_agents else []
    return visit.render(
        "campus/hub.html",
        title=hub["name"],
        hub=hub,
        days=days,
        hours="; ".join(f"{name} {periods}" for _, name, periods in days if periods),
        may_change=_may_change(visit, hub["campusId"]),
        manages_agents=manages_agents,
        agents=agents,
        agent_columns=AGENTS,
        choices_of_agents=user_choices(agents),
    )


@SCREENS.action("/hubs/{id:uuid}/agents", any_of=("hub_agents:manage",), page=hub_page)
async def appoint_hub_agent(visit: Visit) -> Response:
    return await command(
        visit,
        {"email": visit.form["email"], "reason": visit.form["reason"]},
        "The agent is appointed. The role holds from the next sign-in.",
    )


@SCREENS.action("/hubs/{id:uuid}/agents/dismiss", any_of=("hub_agents:manage",), page=hub_page)
async def dismiss_hub_agent(visit: Visit) -> Response:
    path = f"/api/hubs/{visit['id']}/agents/{visit.form['agent']}/dismiss"
    await visit.api.post(path, {"reason": visit.form["reason"]})
    return visit.go(f"/hubs/{visit['id']}", "The agent is dismissed and signed out.")


@SCREENS.action("/hubs/{id:uuid}/change", any_of=("campuses:manage", "campuses:manage_all"), page=hub_page)
async def change_hub(visit: Visit) -> Response:
    body = {
        **_hub_of(visit),
        "openingHours": hours_of(visit),
        "deliveryFeeMinor": visit.form.minor("deliveryFeeMinor") or 0,
        "active": visit.form["active"] == "yes",
        "revision": visit.form.number("revision"),
    }
    await visit.api.patch(f"/api/hubs/{visit['id']}", body)
    return visit.go(f"/hubs/{visit['id']}", "The hub is changed. New orders use it as it is now.")


def _hub_of(visit: Visit) -> Json:
    return {"name": visit.form["name"], "address": visit.form["address"]}
