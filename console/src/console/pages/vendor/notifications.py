"""The notices of a person who works for a shop, as the app shows them: those of the shop and of the own account."""

from dataclasses import replace
from typing import Final

from starlette.responses import Response

from console.api import Json
from console.families import Screens
from console.lists import Column, ListView, show_list
from console.visit import Visit

SCREENS = Screens()

SELLS: Final = ("orders:fulfil",)
PACKS: Final = ("orders:pack",)
OF_ORDERS: Final = frozenset({"vendor_dispatch_alert", "order_to_pack"})
"""Templates about an order of the shop. A notice of an own purchase has no page here."""


def _order_page(notice: Json) -> str:
    return f"/orders/{notice['subject']['id']}/fulfil" if notice["template"] in OF_ORDERS else ""


def _packing_page(notice: Json) -> str:
    return f"/packing-orders/{notice['subject']['id']}/deliver" if notice["template"] in OF_ORDERS else ""


_TEXT: Final = Column("Text", "body")
_WHEN: Final = Column("When", "createdAt", "time")
NOTIFICATIONS: Final = ListView(
    "/api/notifications",
    columns=(Column("Notice", "title", link=_order_page), _TEXT, _WHEN),
    empty="No notice yet. A paid order appears here by itself.",
)
NOTIFICATIONS_OF_PACKERS: Final = replace(
    NOTIFICATIONS, columns=(Column("Notice", "title", link=_packing_page), _TEXT, _WHEN)
)


@SCREENS.page("/notifications", title="Notices", any_of=(*SELLS, *PACKS), menu="Notices")
async def notifications_page(visit: Visit) -> Response:
    """Return the feed, newest first. A notice of an order of the shop leads to it."""
    return await show_list(visit, NOTIFICATIONS if visit.may(*SELLS) else NOTIFICATIONS_OF_PACKERS)
