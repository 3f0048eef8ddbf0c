"""Saved views of lists: a list with its filters under a name, as a link over the list."""

from collections.abc import Sequence
from typing import Final

from starlette.responses import Response

from console.api import Json
from console.families import Screens
from console.visit import Visit

SCREENS = Screens()

VIEWS: Final = "/api/saved-views"


@SCREENS.page("/saved-views", title="Saved views")
async def views_page(visit: Visit) -> Response:
    """Return all views of the user, to rename and delete."""
    views: Sequence[Json] = await visit.api.get(VIEWS)
    return visit.render("everyone/saved_views.html", views=views, refused=dict(visit.form.given("path", "query")))


@SCREENS.action("/saved-views", page=views_page)
async def save_view(visit: Visit) -> Response:
    form = visit.form
    view: Json = await visit.api.post(VIEWS, {name: form[name] for name in ("path", "name", "query")})
    return visit.go(f"{view['path']}?{view['query']}", f"The view “{view['name']}” is saved.")


@SCREENS.action("/saved-views/{id:uuid}/rename", page=views_page)
async def rename_view(visit: Visit) -> Response:
    view: Json = await visit.api.patch(f"{VIEWS}/{visit['id']}", {"name": visit.form["viewName"]})
    return visit.go("/saved-views", f"The view is named “{view['name']}” now.")


@SCREENS.action("/saved-views/{id:uuid}/delete", page=views_page)
async def delete_view(visit: Visit) -> Response:
    await visit.api.delete(f"{VIEWS}/{visit['id']}")
    return visit.go("/saved-views", "The view is deleted.")
