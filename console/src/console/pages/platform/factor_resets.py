"""Resets of lost second factors, which two people decide after a waiting time."""

import asyncio
from datetime import UTC, datetime
from typing import Final

from starlette.responses import Response

from console.api import Json
from console.families import Screens
from console.lists import Column, Filter, ListView, show_list
from console.pages.platform.directory import may_decide, member
from console.pages.support.users import user_page
from console.parts import command, names_of
from console.visit import Visit

SCREENS = Screens()

READERS: Final = ("factor_resets:prepare", "factor_resets:approve", "staff:read")
RESETS = ListView(
    "/api/factor-resets",
    columns=(
        Column("Prepared", "preparedAt", "time", link="/factor-resets/{id}"),
        Column("By", "preparedBy", "staff"),
        Column("Reason", "reason"),
        Column("Status", "status", "badge"),
        Column("Expires", lambda one: one["expiresAt"] if one["status"] == "prepared" else None, "left"),
        Column("Decided by", "decidedBy", "staff"),
    ),
    filters=(
        Filter("status", "Status"),
        Filter("awaiting", "Awaiting"),
        Filter("userId", "Person", kind="hidden"),
    ),
    empty="No second factor was reset. Open a person's page to prepare a reset.",
)


@SCREENS.page("/factor-resets", title="Resets of second factors", any_of=READERS, menu="Resets of second factors")
async def resets_page(visit: Visit) -> Response:
    return await show_list(visit, RESETS)


@SCREENS.page("/factor-resets/{id:uuid}", title="Reset of second factors", any_of=READERS)
async def reset_page(visit: Visit) -> Response:
    reset: Json = await visit.api.get(f"/api/factor-resets/{visit['id']}")
    subject, names = await asyncio.gather(
        member(visit, reset["userId"]), names_of(visit, reset["preparedBy"], reset["decidedBy"])
    )
    return visit.render(
        "platform/reset.html",
        reset=reset,
        subject=subject,
        names=names,
        is_due=datetime.fromisoformat(reset["waitsUntil"]) <= datetime.now(UTC),
        may_decide=may_decide(visit, "factor_resets:approve", reset, reset["userId"]),
    )


@SCREENS.action("/users/{id:uuid}/factor-reset", any_of=("factor_resets:prepare",), page=user_page)
async def prepare_reset(visit: Visit) -> Response:
    body = {"userId": str(visit["id"]), "reason": visit.form["reason"]}
    reset: Json = await visit.api.post("/api/factor-resets", body)
    return visit.go(
        f"/factor-resets/{reset['id']}", "The reset is prepared, and the person is notified. A platform admin decides."
    )


@SCREENS.action("/factor-resets/{id:uuid}/approve", any_of=("factor_resets:approve",), page=reset_page)
async def approve_reset(visit: Visit) -> Response:
    return await command(visit, {"hash": visit.form["hash"]}, "The second factors are removed, and all sessions end.")


@SCREENS.action("/factor-resets/{id:uuid}/reject", any_of=("factor_resets:approve",), page=reset_page)
async def reject_reset(visit: Visit) -> Response:
    return await command(visit, None, "The reset is rejected. The second factors stay.")
