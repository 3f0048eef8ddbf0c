"""Products of a campus: one is taken down with a reason for its vendor, and restored."""

from dataclasses import replace
from typing import Final

from starlette.responses import Response

from console.families import Screens
from console.lists import Column, Filter, ListView, show_list
from console.pages.campus.names import own_campus
from console.visit import Visit

SCREENS = Screens()

READERS: Final = ("listings:delist", "reports:read")
LISTINGS = ListView(
    "/api/products",
    columns=(
        Column("Product", "name", link="/listings/{id}"),
        Column("Vendor", "vendorName"),
        Column("Category", "category"),
        Column("Price", "priceMinor", "naira"),
        Column("Stock", "stock", "number"),
        Column("Since", "createdAt", "time"),
    ),
    filters=(Filter("q", "Search"),),
    empty="No product matches.",
)
TAKEDOWNS = ListView(
    "/api/product-takedowns",
    columns=(
        Column("Product", lambda one: one["productName"] or "removed by its vendor", link="/listings/{productId}"),
        Column("Vendor", "vendorName"),
        Column("Reason", "reason"),
        Column("Taken down", "createdAt", "time"),
        Column("Restored", "restoredAt", "time"),
        Column("Why restored", "restoredBecause"),
    ),
    filters=(Filter("open", "Status", (("true", "taken down"), ("false", "restored"))),),
    empty="No product was taken down. Take one down from its page under Listings.",
)


@SCREENS.page("/listings", title="Listings", any_of=("listings:delist",), menu="Listings")
async def listings_page(visit: Visit) -> Response:
    return await show_list(visit, replace(LISTINGS, fixed={"campusId": own_campus(visit)}))


@SCREENS.page("/product-takedowns", title="Taken down", any_of=READERS, menu="Taken down")
async def takedowns_page(visit: Visit) -> Response:
    return await show_list(visit, TAKEDOWNS)


@SCREENS.page("/listings/{id:uuid}", title="Product", any_of=READERS)
async def listing_page(visit: Visit) -> Response:
    product = await visit.api.get(f"/api/products/{visit['id']}")
    takedowns = (await visit.api.page("/api/product-takedowns", productId=product["id"])).items
    current = next((one for one in takedowns if one["restoredAt"] is None), None)
    return visit.render(
        "campus/listing.html",
        title=product["name"],
        product=product,
        takedowns=takedowns,
        current=current,
        columns=TAKEDOWNS.columns[2:],
    )


@SCREENS.action("/listings/{id:uuid}/delist", any_of=("listings:delist",), page=listing_page)
async def delist_product(visit: Visit) -> Response:
    path = f"/api/products/{visit['id']}/delist"
    await visit.api.post(path, {"reason": visit.form["reason"]})
    return visit.go(f"/listings/{visit['id']}", "The product is taken down. Its vendor is notified.")


@SCREENS.action("/listings/{id:uuid}/restore", any_of=("listings:delist",), page=listing_page)
async def restore_listing(visit: Visit) -> Response:
    path = f"/api/product-takedowns/{visit.form['takedown']}/restore"
    await visit.api.post(path, {"reason": visit.form["reason"]})
    return visit.go(f"/listings/{visit['id']}", "The takedown is over. Its vendor is notified.")
