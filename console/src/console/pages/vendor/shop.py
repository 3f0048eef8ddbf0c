"""A vendor's shop: when it is away, and its opening hours."""

from starlette.responses import Response

from console.api import Json
from console.families import Screens
from console.formats import LAGOS, instant
from console.opening_hours import days_of, hours_of
from console.pages.vendor.products import CATALOG
from console.parts import lagos_instant
from console.visit import Visit

SCREENS = Screens()


@SCREENS.page("/shop", title="Opening hours", any_of=CATALOG, menu="Opening hours")
async def shop_page(visit: Visit) -> Response:
    vendor: Json = await visit.api.get(_vendor(visit))
    until = instant(vendor["away"]["until"]) if vendor["away"] else None
    return visit.render(
        "vendor/shop.html",
        away=vendor["away"],
        until=f"{until.astimezone(LAGOS):%Y-%m-%dT%H:%M}" if until else "",
        days=days_of(vendor["openingHours"]),
    )


@SCREENS.action("/shop/away", any_of=CATALOG, page=shop_page)
async def start_absence(visit: Visit) -> Response:
    absence = {"until": lagos_instant(visit, "until"), **visit.form.given("message")}
    await visit.api.patch(_vendor(visit), {"away": absence})
    return visit.go("/shop", "The shop is away. Paid orders continue.")


@SCREENS.action("/shop/back", any_of=CATALOG, page=shop_page)
async def end_absence(visit: Visit) -> Response:
    await visit.api.patch(_vendor(visit), {"away": None})
    return visit.go("/shop", "The shop takes orders again.")


@SCREENS.action("/shop/hours", any_of=CATALOG, page=shop_page)
async def set_hours(visit: Visit) -> Response:
    await visit.api.patch(_vendor(visit), {"openingHours": hours_of(visit)})
    return visit.go("/shop", "The opening hours are saved.")


def _vendor(visit: Visit) -> str:
    return f"/api/vendors/{visit.user.vendor_id}"
