"""Reviews and their moderation."""

from starlette.responses import Response

from console.families import Screens
from console.lists import ORDER_COLUMN, Column, Filter, ListView, show_list
from console.visit import Visit

SCREENS = Screens()

REVIEWS = ListView(
    "/api/reviews",
    columns=(
        Column("Rating", "rating", "number"),
        Column("Text", "text"),
        Column("Hidden", "hiddenAt", "time"),
        Column("Because", "hiddenBecause"),
        ORDER_COLUMN,
        Column("Written", "createdAt", "time"),
    ),
    filters=(Filter("hidden", "Hidden", (("true", "hidden"), ("false", "shown"))),),
    empty="No review has been written yet.",
)


@SCREENS.page("/reviews", title="Reviews", any_of=("reviews:read",), menu="Reviews")
async def reviews_page(visit: Visit) -> Response:
    return await show_list(visit, REVIEWS, "support/reviews.html")


@SCREENS.action("/reviews/moderate", any_of=("reviews:moderate",), page=reviews_page)
async def moderate_review(visit: Visit) -> Response:
    """Hide a review with a reason, or show it again without one."""
    path, reason = f"/api/reviews/{visit.form['review']}", visit.form["reason"]
    if reason:
        await visit.api.post(f"{path}/hide", {"reason": reason})
        return visit.go("/reviews", "The review is hidden.")
    await visit.api.post(f"{path}/restore")
    return visit.go("/reviews", "The review is shown again.")
