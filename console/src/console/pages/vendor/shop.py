"""A vendor's shop: when it is away, and its opening hours."""

from typing import Final

from starlette.responses import Response

from console.api import Json
from console.families import Screens
from console.formats import LAGOS, instant
from console.pages.vendor.products import CATALOG
from console.parts import lagos_instant
from console.visit import InvalidField, Visit

SCREENS = Screens()

DAYS: Final = (
    ("mon", "Monday"),
    ("tue", "Tuesday"),
    ("wed", "Wednesday"),
    ("thu", "Thursday"),
    ("fri", "Friday"),
    ("sat", "Saturday"),
    ("sun", "Sunday"),
)


@SCREENS.page("/shop", title="Opening hours", any_of=CATALOG, menu="Opening hours")
async def shop_page(visit: Visit) -> Response:
    vendor: Json = await visit.api.get(_vendor(visit))
    until = instant(vendor["away"]["until"]) if vendor["away"] else None
    return visit.render(
        "vendor/shop.html",
        away=vendor["away"],
        until=f"{until.astimezone(LAGOS):%Y-%m-%dT%H:%M}" if until else "",
        days=[(day, name, _periods_text(vendor, day)) for day, name in DAYS],
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
    hours = [period for day, _ in DAYS for period in _periods(visit, day)]
    await visit.api.patch(_vendor(visit), {"openingHours": hours})
    return visit.go("/shop", "The opening hours are saved.")


def _vendor(visit: Visit) -> str:
    return f"/api/vendors/{visit.user.vendor_id}"


def _periods_text(vendor: Json, day: str) -> str:
    return ", ".join(f"{one['from']}-{one['to']}" for one in vendor["openingHours"] if one["day"] == day)


def _periods(visit: Visit, day: str) -> list[Json]:
    """Return the periods of a day as they are typed: `08:00-12:00, 13:00-17:00`. Raises InvalidField."""
    periods = []
    for text in visit.form[day].replace("\N{EN DASH}", "-").split(","):
        opens, dash, closes = (part.strip() for part in text.partition("-"))
        if dash:
            # The API reads 08:00 only.
            periods.append({"day": day, "from": opens.zfill(5), "to": closes.zfill(5)})
        elif text.strip():
            raise InvalidField(day, "write periods such as 08:00-12:00, 13:00-17:00")
    return periods
