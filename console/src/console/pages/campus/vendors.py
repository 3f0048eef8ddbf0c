"""Vendors of a campus: their sales, suspension and reinstatement."""

import asyncio
from dataclasses import replace
from typing import Final

from starlette.responses import Response

from console.api import Json
from console.charts import column_chart
from console.families import Screens
from console.formats import naira, naira_short
from console.lists import Column, Filter, ListView, show_list
from console.pages.campus.names import campus_names, own_campus, percent
from console.parts import all_rows, command
from console.visit import Visit

SCREENS = Screens()

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
    filters=(Filter("status", "Status"),),
    empty="No vendor is listed. A vendor appears when an application is approved.",
)


@SCREENS.page("/vendors", title="Vendors", any_of=VENDOR_READERS, menu="Vendors")
async def vendors_page(visit: Visit) -> Response:
    """Active vendors unless the filter says otherwise: the API lists in full by status only."""
    fixed = {"campusId": own_campus(visit), **({} if visit.query.get("status") else {"status": "active"})}
    return await show_list(visit, replace(VENDORS, fixed=fixed), "campus/vendors.html")


@SCREENS.page("/vendors/{id:uuid}", title="Vendor", any_of=VENDOR_READERS)
async def vendor_page(visit: Visit) -> Response:
    vendor: Json = await visit.api.get(f"/api/vendors/{visit['id']}")
    days: list[Json] = []
    orders: list[Json] = []
    if visit.may("campus_orders:read"):
        days, found = await asyncio.gather(
            all_rows(visit, f"/api/vendors/{vendor['id']}/sales", groupBy="day", sort="key", order="asc"),
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
        chart=column_chart([(day["label"], day["netMinor"]) for day in days], "Net sales by day", naira, naira_short),
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


@SCREENS.action("/vendors/{id:uuid}/suspend", any_of=("vendors:suspend",), page=vendor_page)
async def suspend_vendor(visit: Visit) -> Response:
    return await command(
        visit, {"reason": visit.form["reason"]}, "The vendor is suspended. Open orders finish; payouts are held."
    )


@SCREENS.action("/vendors/{id:uuid}/reinstate", any_of=("vendors:suspend",), page=vendor_page)
async def reinstate_vendor(visit: Visit) -> Response:
    return await command(visit, visit.form.given("reason"), "The vendor is active again.")
