"""Screens of a campus admin: vendor applications, vendors, campuses and hubs, sales and flash sales of the campus."""

import asyncio
import re
from base64 import urlsafe_b64decode
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

import msgspec
from starlette.responses import Response

from console.api import ApiProblem, Json
from console.charts import bar_chart, line_chart
from console.families import Family
from console.formats import naira, spoken
from console.lists import Column, Filter, ListView, choices, csv_response, load_list, show_list
from console.visit import InvalidField, Visit

FAMILY = Family("Campus", order=50)

LAGOS: Final = ZoneInfo("Africa/Lagos")


async def campus_names(visit: Visit) -> dict[str, str]:
    """The names of all campuses by id."""
    return {campus["id"]: campus["name"] async for campus in visit.api.every_row("/api/campuses")}


def own_campus(visit: Visit) -> str:
    """The campus of an admin of one campus, from the token's claims (contract section 5.1); empty for those who see all.

    The profile names the campus where somebody studies, which may be another one or none.
    """
    if not visit.may("vendor_applications:decide", "campuses:manage"):
        return ""
    claims = visit.session.access_token.split(".")[1]
    decoded: Json = msgspec.json.decode(urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))
    return decoded["app_metadata"]["campus_id"] or ""


# Vendor applications

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
        Filter("status", "Status", choices("pending", "approved", "rejected")),
        Filter("awaiting", "Awaiting", choices("decision")),
    ),
    empty="No student has applied yet. Applications appear here when they are sent.",
)


@FAMILY.page(
    "/vendor-applications", title="Vendor applications", any_of=APPLICATION_READERS, menu="Vendor applications"
)
async def applications_page(visit: Visit) -> Response:
    return await show_list(visit, APPLICATIONS)


@FAMILY.page("/vendor-applications/{id:uuid}", title="Vendor application", any_of=APPLICATION_READERS)
async def application_page(visit: Visit) -> Response:
    """What was stated beside what is known: the applicant, the campus, other applications and vendors."""
    application: Json = await visit.api.get(f"/api/vendor-applications/{visit['id']}")
    campus, others, vendors = await asyncio.gather(
        visit.api.get(f"/api/campuses/{application['campusId']}"),
        _all(visit, "/api/vendor-applications", campusId=application["campusId"]),
        _all(visit, "/api/vendors", campusId=application["campusId"], status="active"),
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
    """What is checked, what was found, and `good`, `waiting` (look at it) or `bad` (an approval is refused)."""
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
    """Whether two names are the same without case, blanks and punctuation."""
    return bool(one) and re.sub(r"\W", "", one.casefold()) == re.sub(r"\W", "", other.casefold())


@FAMILY.action("/vendor-applications/{id:uuid}/approve", any_of=("vendor_applications:decide",), page=application_page)
async def approve_application(visit: Visit) -> Response:
    approved: Json = await visit.api.post(f"/api/vendor-applications/{visit['id']}/approve")
    return visit.go(
        f"/vendors/{approved['vendorId']}",
        "The application is approved. The student may sell from the next sign-in on.",
    )


@FAMILY.action("/vendor-applications/{id:uuid}/reject", any_of=("vendor_applications:decide",), page=application_page)
async def reject_application(visit: Visit) -> Response:
    await visit.api.post(f"/api/vendor-applications/{visit['id']}/reject", {"reason": visit.form["reason"]})
    return visit.go(
        f"/vendor-applications/{visit['id']}", "The application is rejected. The student was told the reason."
    )


async def _all(visit: Visit, path: str, **parameters: Any) -> list[Json]:
    return [row async for row in visit.api.every_row(path, **parameters)]


# Vendors

VENDOR_READERS: Final = ("vendors:suspend", "vendors:commission", "vendors:read")
VENDORS = ListView(
    "/api/vendors",
    columns=(
        Column("Business", "businessName", link="/vendors/{id}"),
        Column("Legal name", "legalName"),
        Column("Category", "category"),
        Column("Status", "status", "badge"),
        Column("Commission", lambda one: percent(one.get("commissionBasisPoints")), "number"),
        Column("Since", "createdAt", "time"),
    ),
    filters=(Filter("status", "Status", choices("active", "suspended")),),
    empty="No vendor is listed. A vendor appears when an application is approved.",
)


def percent(basis_points: int | None) -> str:
    """Basis points as per cent: 500 is 5.00 %."""
    return "default" if basis_points is None else f"{basis_points // 100}.{basis_points % 100:02d} %"


@FAMILY.page("/vendors", title="Vendors", any_of=VENDOR_READERS, menu="Vendors")
async def vendors_page(visit: Visit) -> Response:
    """Active vendors unless the filter says otherwise: the API lists in full by status only."""
    fixed = {"campusId": own_campus(visit), **({} if visit.query.get("status") else {"status": "active"})}
    return await show_list(visit, replace(VENDORS, fixed=fixed), "campus/vendors.html")


@FAMILY.page("/vendors/{id:uuid}", title="Vendor", any_of=VENDOR_READERS)
async def vendor_page(visit: Visit) -> Response:
    vendor: Json = await visit.api.get(f"/api/vendors/{visit['id']}")
    days: list[Json] = []
    orders: list[Json] = []
    if visit.may("campus_orders:read"):
        days, found = await asyncio.gather(
            _all(visit, f"/api/vendors/{vendor['id']}/sales", groupBy="day", sort="key", order="asc"),
            visit.api.page("/api/campus-orders", vendorId=vendor["id"], limit=10),
        )
        orders = found.items
    change = vendor.get("commissionChange")
    return visit.render(
        "campus/vendor.html",
        title=vendor["businessName"],
        vendor=vendor,
        campus=(await campus_names(visit)).get(vendor["campusId"], vendor["campusId"]),
        commission=percent(vendor.get("commissionBasisPoints")),
        change=change,
        chart=line_chart([(day["label"], day["netMinor"]) for day in days], "Net sales by day", naira) if days else "",
        sums={name: sum(day[name] for day in days) for name in ("orders", "grossMinor", "commissionMinor", "netMinor")},
        orders=orders,
        order_columns=ORDERS,
    )


ORDERS: Final = (
    Column("Order", "number", link="/orders/{id}"),
    Column("Status", "status", "badge"),
    Column("Total", "totalMinor", "naira"),
    Column("Buyer", "buyerName"),
    Column("Placed", "createdAt", "time"),
)


@FAMILY.action("/vendors/{id:uuid}/suspend", any_of=("vendors:suspend",), page=vendor_page)
async def suspend_vendor(visit: Visit) -> Response:
    await visit.api.post(f"/api/vendors/{visit['id']}/suspend", {"reason": visit.form["reason"]})
    return visit.go(f"/vendors/{visit['id']}", "The vendor is suspended. Open orders finish; payouts are held.")


@FAMILY.action("/vendors/{id:uuid}/reinstate", any_of=("vendors:suspend",), page=vendor_page)
async def reinstate_vendor(visit: Visit) -> Response:
    await visit.api.post(f"/api/vendors/{visit['id']}/reinstate", visit.form.given("reason"))
    return visit.go(f"/vendors/{visit['id']}", "The vendor is active again.")


# Campuses and hubs

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


@FAMILY.page("/campuses", title="Campuses and hubs", any_of=CAMPUS_MANAGERS, menu="Campuses and hubs")
async def campuses_page(visit: Visit) -> Response:
    return await show_list(visit, CAMPUSES, "campus/campuses.html")


@FAMILY.action("/campuses", any_of=("campuses:manage_all",), page=campuses_page)
async def open_campus(visit: Visit) -> Response:
    campus: Json = await visit.api.post("/api/campuses", visit.form.given("name", "domain"))
    return visit.go(f"/campuses/{campus['id']}", "The campus is open. Its vendors and hubs can be added now.")


@FAMILY.page("/campuses/{id:uuid}", title="Campus", any_of=CAMPUS_MANAGERS)
async def campus_page(visit: Visit) -> Response:
    campus, hubs = await asyncio.gather(
        visit.api.get(f"/api/campuses/{visit['id']}"), _all(visit, f"/api/campuses/{visit['id']}/hubs")
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


@FAMILY.action("/campuses/{id:uuid}/change", any_of=("campuses:manage", "campuses:manage_all"), page=campus_page)
async def change_campus(visit: Visit) -> Response:
    body = {
        "name": visit.form["name"],
        "active": visit.form["active"] == "yes",
        "revision": visit.form.number("revision"),
    }
    await visit.api.patch(f"/api/campuses/{visit['id']}", body)
    return visit.go(f"/campuses/{visit['id']}", "The campus is changed.")


@FAMILY.action("/campuses/{id:uuid}/hubs", any_of=("campuses:manage", "campuses:manage_all"), page=campus_page)
async def open_hub(visit: Visit) -> Response:
    body = {**_hub_of(visit), "deliveryFeeMinor": visit.form.minor("deliveryFeeMinor") or 0}
    await visit.api.post(f"/api/campuses/{visit['id']}/hubs", body)
    return visit.go(f"/campuses/{visit['id']}", "The hub is open.")


@FAMILY.page("/hubs/{id:uuid}", title="Hub", any_of=CAMPUS_MANAGERS)
async def hub_page(visit: Visit) -> Response:
    hub: Json = await visit.api.get(f"/api/hubs/{visit['id']}")
    return visit.render("campus/hub.html", title=hub["name"], hub=hub, may_change=_may_change(visit, hub["campusId"]))


@FAMILY.action("/hubs/{id:uuid}/change", any_of=("campuses:manage", "campuses:manage_all"), page=hub_page)
async def change_hub(visit: Visit) -> Response:
    body = {
        **_hub_of(visit),
        "deliveryFeeMinor": visit.form.minor("deliveryFeeMinor") or 0,
        "active": visit.form["active"] == "yes",
        "revision": visit.form.number("revision"),
    }
    await visit.api.patch(f"/api/hubs/{visit['id']}", body)
    return visit.go(f"/hubs/{visit['id']}", "The hub is changed. New orders use it as it is now.")


def _hub_of(visit: Visit) -> Json:
    return {"name": visit.form["name"], "address": visit.form["address"]}


# Sales of the campus

GROUPS: Final = (("vendor", "By vendor"), ("category", "By category"), ("day", "By day"), ("campus", "By campus"))
CAMPUS_SALES = ListView(
    "/api/sales",
    columns=(
        Column("", "label"),
        Column("Orders", "orders", "number"),
        Column("Units", "units", "number"),
        Column("Gross", "grossMinor", "naira"),
        Column("Commission", "commissionMinor", "naira"),
        Column("Refunded", "refundedMinor", "naira"),
        Column("Net to vendors", "netMinor", "naira"),
    ),
    filters=(
        Filter("groupBy", "Grouped", GROUPS),
        Filter("from", "From", kind="date"),
        Filter("to", "Before", kind="date"),
    ),
    empty="Nothing was sold yet. A sale is counted when its money is held in escrow.",
)


@FAMILY.page("/campus-sales", title="Sales of the campus", any_of=("campus_orders:read",), menu="Sales of the campus")
async def campus_sales_page(visit: Visit) -> Response:
    """Sales by vendor, category or day, with their chart."""
    group = visit.query.get("groupBy", "vendor")
    fixed = {"groupBy": group, "sort": "gross", "order": "desc"}
    if group == "day":
        fixed |= {"sort": "key", "order": "asc"}
    view = replace(
        CAMPUS_SALES,
        columns=(replace(CAMPUS_SALES.columns[0], label=group.capitalize()), *CAMPUS_SALES.columns[1:]),
        fixed=fixed,
    )
    if visit.query.get("format") == "csv":
        return await csv_response(visit, view)
    loaded = await load_list(visit, view)
    shown = replace(loaded, query={"groupBy": group, **loaded.query})
    points = [(row["label"], row["grossMinor"]) for row in shown.rows.items]
    title = f"Gross sales by {group}"
    chart = (line_chart if group == "day" else bar_chart)(points[:20], title, naira) if points else ""
    return visit.render("campus/sales.html", shown=shown, chart=chart, group=group)


# Flash sales that staff propose to a vendor

FLASH_SALES = ListView(
    "/api/flash-sales",
    columns=(
        Column("Product", "productName", link="/campus-flash-sales/{id}"),
        Column("Status", lambda one: spoken(one["status"]), "badge"),
        Column("Price", "priceMinor", "naira"),
        Column("Regular price", "regularPriceMinor", "naira"),
        Column("Left", lambda one: f"{one['remaining']} of {one['quantity']}", "number"),
        Column("Starts", "startsAt", "time"),
        Column("Ends", "endsAt", "time"),
    ),
    filters=(Filter("status", "Status", choices("prepared", "upcoming", "running", "ended")),),
    empty="No flash sale is listed. Propose one below: it needs the vendor's consent.",
)
PROPOSERS: Final = ("flash_sales:propose",)


@FAMILY.page("/campus-flash-sales", title="Flash sales of the campus", any_of=PROPOSERS, menu="Flash sales")
async def flash_sales_page(visit: Visit) -> Response:
    view = replace(FLASH_SALES, fixed={"campusId": own_campus(visit)})
    words = visit.query.get("product", "")
    found = []
    if words:
        rows = await visit.api.page("/api/products", campusId=own_campus(visit), q=words, limit=20)
        found = rows.items
    if visit.query.get("format") == "csv":
        return await csv_response(visit, view)
    return visit.render("campus/flash_sales.html", shown=await load_list(visit, view), words=words, products=found)


@FAMILY.page("/campus-flash-sales/propose/{id:uuid}", title="Propose a flash sale", any_of=PROPOSERS)
async def propose_page(visit: Visit) -> Response:
    product: Json = await visit.api.get(f"/api/products/{visit['id']}")
    return visit.render("campus/propose.html", product=product)


@FAMILY.action("/campus-flash-sales/propose/{id:uuid}", any_of=PROPOSERS, page=propose_page)
async def propose_flash_sale(visit: Visit) -> Response:
    body = {
        "productId": visit["id"],
        "priceMinor": visit.form.minor("priceMinor"),
        "quantity": visit.form.number("quantity"),
        "perBuyerLimit": visit.form.number("perBuyerLimit"),
        "startsAt": lagos_instant(visit, "startsAt"),
        "endsAt": lagos_instant(visit, "endsAt"),
    }
    sale: Json = await visit.api.post("/api/flash-sales", body)
    return visit.go(
        f"/campus-flash-sales/{sale['id']}", "The flash sale is proposed. It waits for the vendor's consent."
    )


def lagos_instant(visit: Visit, name: str) -> str:
    """The instant of a `datetime-local` field, which holds Lagos time. Raises InvalidField."""
    try:
        return datetime.fromisoformat(visit.form[name]).replace(tzinfo=LAGOS).astimezone(UTC).isoformat()
    except ValueError as error:
        raise InvalidField(name, "write a day and a time, such as 2026-11-23T18:00") from error


@FAMILY.page("/campus-flash-sales/{id:uuid}", title="Flash sale", any_of=PROPOSERS)
async def flash_sale_page(visit: Visit) -> Response:
    sale: Json = await visit.api.get(f"/api/flash-sales/{visit['id']}")
    try:
        vendor: Json = await visit.api.get(f"/api/vendors/{sale['vendorId']}")
    except ApiProblem as problem:
        if problem.status != 404:
            raise
        vendor = {}
    return visit.render("campus/flash_sale.html", title=f"Flash sale: {sale['productName']}", sale=sale, vendor=vendor)


@FAMILY.action("/campus-flash-sales/{id:uuid}/end", any_of=PROPOSERS, page=flash_sale_page)
async def end_flash_sale(visit: Visit) -> Response:
    await visit.api.post(f"/api/flash-sales/{visit['id']}/end")
    return visit.go(f"/campus-flash-sales/{visit['id']}", "The flash sale is ended.")
