"""Commissions of vendors; a change needs a second admin."""

import asyncio
from typing import Final

from starlette.responses import Response

from console.api import Json
from console.families import Screens
from console.lists import Column, Filter, ListView, show_list
from console.pages.campus.names import percent
from console.pages.campus.vendors import vendor_page
from console.pages.platform.directory import may_decide, member
from console.parts import command, part
from console.visit import InvalidField, Visit

SCREENS = Screens()

COMMISSION_READERS: Final = ("vendors:commission", "vendors:read")


def _from_to(change: Json) -> str:
    return f"{percent(change['beforeBasisPoints'])} → {percent(change['commissionBasisPoints'])}"


CHANGES = ListView(
    "/api/commission-changes",
    columns=(
        Column("Change", _from_to, link="/commission-changes/{id}"),
        Column("Vendor", "vendorName", link="/vendors/{vendorId}"),
        Column("Status", "status", "badge"),
        Column("Prepared", "preparedAt", "time"),
        Column("Expires", lambda one: one["expiresAt"] if one["status"] == "prepared" else None, "left"),
        Column("Decided", "decidedAt", "time"),
    ),
    filters=(
        Filter("status", "Status"),
        Filter("awaiting", "Awaiting"),
    ),
    empty="No commission was changed. Open a vendor to prepare a change.",
)


@SCREENS.page("/commission-changes", title="Commission changes", any_of=COMMISSION_READERS, menu="Commission changes")
async def changes_page(visit: Visit) -> Response:
    names: dict[str, str] = {}

    async def name(row: Json) -> None:
        if row["vendorId"] not in names:
            vendor = await part(visit, f"/api/vendors/{row['vendorId']}")
            names[row["vendorId"]] = vendor["businessName"] if vendor else "former vendor"
        row["vendorName"] = names[row["vendorId"]]

    return await show_list(visit, CHANGES, complete=name)


@SCREENS.page("/commission-changes/{id:uuid}", title="Commission change", any_of=COMMISSION_READERS)
async def change_page(visit: Visit) -> Response:
    change: Json = await visit.api.get(f"/api/commission-changes/{visit['id']}")
    vendor, maker, decider = await asyncio.gather(
        visit.api.get(f"/api/vendors/{change['vendorId']}"),
        member(visit, change["preparedBy"]),
        member(visit, change["decidedBy"]),
    )
    return visit.render(
        "platform/change.html",
        title=f"Commission of {vendor['businessName']}",
        change=change,
        vendor=vendor,
        before=percent(change["beforeBasisPoints"]),
        after=percent(change["commissionBasisPoints"]),
        now=percent(vendor.get("commissionBasisPoints")),
        has_moved=vendor.get("commissionBasisPoints") != change["beforeBasisPoints"],
        maker=maker,
        decider=decider,
        may_decide=may_decide(visit, "vendors:commission", change),
    )


@SCREENS.action("/vendors/{id:uuid}/commission", any_of=("vendors:commission",), page=vendor_page)
async def prepare_change(visit: Visit) -> Response:
    body = {"commissionBasisPoints": _basis_points(visit), "revision": visit.form.number("revision")}
    vendor: Json = await visit.api.patch(f"/api/vendors/{visit['id']}", body)
    change = vendor.get("commissionChange")
    if not change:
        return visit.go(f"/vendors/{visit['id']}", "The vendor has this commission already.")
    return visit.go(
        f"/commission-changes/{change['id']}", "The change is prepared. A second platform admin approves it."
    )


def _basis_points(visit: Visit) -> int | None:
    """Per cent with two digits are basis points as naira with two digits are kobo. Raises InvalidField."""
    try:
        return visit.form.minor("percent")
    except InvalidField as error:
        raise InvalidField("percent", "write per cent, such as 4.50") from error


@SCREENS.action("/commission-changes/{id:uuid}/approve", any_of=("vendors:commission",), page=change_page)
async def approve_change(visit: Visit) -> Response:
    return await command(visit, {"hash": visit.form["hash"]}, "The commission holds for new orders.")


@SCREENS.action("/commission-changes/{id:uuid}/reject", any_of=("vendors:commission",), page=change_page)
async def reject_change(visit: Visit) -> Response:
    return await command(visit, visit.form.given("reason"), "The change is rejected.")
