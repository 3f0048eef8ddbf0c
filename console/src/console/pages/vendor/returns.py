"""Return requests about a vendor's orders. Their page is that of support."""

from starlette.responses import Response

from console.families import Screens
from console.lists import show_list
from console.pages.support.returns import RETURNS
from console.visit import Visit

SCREENS = Screens()


@SCREENS.page("/own-returns", title="Returns", any_of=("orders:fulfil",), menu="Returns")
async def own_returns_page(visit: Visit) -> Response:
    return await show_list(visit, RETURNS)
