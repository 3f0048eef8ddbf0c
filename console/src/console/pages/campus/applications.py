"""Vendor applications beside what is known about the applicant."""

import asyncio
import re
from typing import Final

from starlette.responses import Response

from console.api import Json
from console.families import Screens
from console.lists import Column, Filter, ListView, show_list
from console.parts import all_rows, command
from console.visit import Visit

SCREENS = Screens()

APPLICATION_READERS: Final = ("vendor_applications:decide", "vendor_applications:read")
APPLICATIONS = ListView(
    "/api/vendor-applications",
    columns=(
        Column("Business", "businessName", link="/vendor-applications/{id}"),
        Column("Legal name", "legalName"),
        Column("Category", "category"),
        Column("Status", "status", "badge"),
        Column("Waiting", lambda one: one["createdAt"] if one["status"] == "pending" else None, "ago"),
        Column("Sent", "createdAt", "time"),
        Column("Decided", "decidedAt", "time"),
    ),
    filters=(
        Filter("status", "Status"),
        Filter("awaiting", "Awaiting"),
    ),
    empty="No student has applied yet. Applications appear here when they are sent.",
)


@SCREENS.page(
    "/vendor-applications", title="Vendor applications", any_of=APPLICATION_READERS, menu="Vendor applications"
)
async def applications_page(visit: Visit) -> Response:
    return await show_list(visit, APPLICATIONS)


@SCREENS.page("/vendor-applications/{id:uuid}", title="Vendor application", any_of=APPLICATION_READERS)
async def application_page(visit: Visit) -> Response:
    """Return what was stated beside what is known: the applicant, the campus, other applications and vendors."""
    application: Json = await visit.api.get(f"/api/vendor-applications/{visit['id']}")
    campus, others, vendors = await asyncio.gather(
        visit.api.get(f"/api/campuses/{application['campusId']}"),
        all_rows(visit, "/api/vendor-applications", campusId=application["campusId"]),
        all_rows(visit, "/api/vendors", campusId=application["campusId"], status="active"),
    )
    earlier = [one for one in others if one["userId"] == application["userId"] and one["id"] != application["id"]]
    return visit.render(
        "campus/application.html",
        title=f"Application of {application['businessName']}",
        application=application,
        campus=campus,
        checks=application_checks(application, campus, earlier, vendors),
        earlier=earlier,
        columns=APPLICATIONS.columns,
        is_own=application["userId"] == visit.user.id,
    )


def application_checks(
    application: Json, campus: Json, earlier: list[Json], vendors: list[Json]
) -> list[tuple[str, str, str]]:
    """Return what is checked, what was found, and `good`, `waiting` (look at it) or `bad` (an approval is refused)."""
    own_vendors = [one for one in vendors if one.get("ownerUserId") == application["userId"]]
    others = [one for one in vendors if one["id"] != application["vendorId"]]
    alike = [one["businessName"] for one in others if _alike(one["businessName"], application["businessName"])]
    legal = [one["businessName"] for one in others if _alike(one.get("legalName") or "", application["legalName"])]
    rejected = [one for one in earlier if one["status"] == "rejected"]
    checks = [("The campus is open", campus["name"], "good" if campus["active"] else "bad")]
    if applicant := application.get("applicant"):
        is_proven = applicant["emailConfirmed"]
        checks += [
            ("The mail address is proven", applicant["email"], "good" if is_proven else "bad"),
            (
                "The student belongs to this campus",
                "by the domain of the mail address"
                if applicant["campusId"] == campus["id"]
                else "not by the mail address",
                "good" if applicant["campusId"] == campus["id"] else "waiting",
            ),
        ]
        shares_name = bool(_words(applicant["fullName"] or "") & _words(application["legalName"]))
        checks.append(
            (
                "The legal name fits the person",
                applicant["fullName"] or "no name is given",
                "good" if shares_name else "waiting",
            )
        )
    owned = ", ".join(one["businessName"] for one in own_vendors if one["id"] != application["vendorId"])
    checks += [
        ("The applicant owns no vendor yet", owned or "none", "bad" if owned else "good"),
        ("No vendor has this business name", ", ".join(alike) or "none", "waiting" if alike else "good"),
        ("No vendor has this legal name", ", ".join(legal) or "none", "waiting" if legal else "good"),
        (
            "No earlier application was rejected",
            "; ".join(one["reason"] or "without a reason" for one in rejected) or "none",
            "waiting" if rejected else "good",
        ),
    ]
    return checks


def _words(text: str) -> set[str]:
    return {word for word in re.findall(r"\w+", text.casefold()) if len(word) > 1}


def _alike(one: str, other: str) -> bool:
    """Return whether two names are the same without case, blanks and punctuation."""
    return bool(one) and re.sub(r"\W", "", one.casefold()) == re.sub(r"\W", "", other.casefold())


@SCREENS.action("/vendor-applications/{id:uuid}/approve", any_of=("vendor_applications:decide",), page=application_page)
async def approve_application(visit: Visit) -> Response:
    approved: Json = await visit.api.post(f"/api/vendor-applications/{visit['id']}/approve")
    return visit.go(
        f"/vendors/{approved['vendorId']}",
        "The application is approved. The student may sell from the next sign-in on.",
    )


@SCREENS.action("/vendor-applications/{id:uuid}/reject", any_of=("vendor_applications:decide",), page=application_page)
async def reject_application(visit: Visit) -> Response:
    return await command(
        visit, {"reason": visit.form["reason"]}, "The application is rejected. The student is notified of the reason."
    )
