"""A vendor's reviews and sales."""

from datetime import timedelta
from typing import Final

from starlette.responses import Response

from common.primitives.clock import SystemClock
from console.charts import bar_chart, column_chart
from console.families import Screens
from console.formats import LAGOS, naira, naira_short
from console.lists import Column, Filter, ListView, load_list, show_list
from console.sales import FIGURE_COLUMNS, sums
from console.visit import Visit

SCREENS = Screens()

REVIEW_COLUMNS: Final = (
    Column("Rating", lambda review: "★" * review["rating"] + f" {review['rating']} of 5"),
    Column("Text", "text"),
    Column("About", lambda review: "the product" if review["productId"] else "the shop"),
    Column("Written", "createdAt", "time"),
    Column("Your reply", "reply.text"),
)


@SCREENS.page("/own-reviews", title="Reviews", any_of=("catalog:own",), menu="Reviews")
async def own_reviews_page(visit: Visit) -> Response:
    view = ListView(
        f"/api/vendors/{visit.user.vendor_id}/reviews",
        REVIEW_COLUMNS,
        empty="No review yet. Buyers are asked for one after the delivery.",
    )
    return await show_list(visit, view, "vendor/reviews.html")


@SCREENS.action("/own-reviews/{id:uuid}/reply", any_of=("catalog:own",), page=own_reviews_page)
async def reply_to_review(visit: Visit) -> Response:
    """Reply once to a review of the shop or of one of its products."""
    review = await visit.api.post(f"/api/reviews/{visit['id']}/reply", {"text": visit.form["text"]})
    page = f"/products/{review['productId']}" if review["productId"] else "/own-reviews"
    return visit.go(page, "The reply is published.")


DAYS_SHOWN: Final = 30


@SCREENS.page("/sales-report", title="Sales", any_of=("wallet:own",), menu="Sales")
async def sales_page(visit: Visit) -> Response:
    """Return the vendor's sales by day, week, month, product or variant, with a chart. The last 30 days when no day is
    chosen.
    """
    first = SystemClock().now().astimezone(LAGOS).date() - timedelta(days=DAYS_SHOWN - 1)
    group = visit.query.get("groupBy", "day")
    by_product = group in ("product", "variant")
    sort = {"sort": "gross", "order": "desc"} if by_product else {}
    view = ListView(
        f"/api/vendors/{visit.user.vendor_id}/sales",
        columns=(Column("Product" if by_product else "Period", "label"), *FIGURE_COLUMNS),
        filters=(
            Filter("groupBy", "By", blank="day"),
            Filter("from", "From", kind="date"),
            Filter("to", "Before", kind="date"),
        ),
        empty="No sale in this period. Choose an earlier first day.",
        fixed={**sort, **({} if visit.query.get("from") else {"from": first.isoformat()})},
    )
    if visit.query.get("format") == "csv":
        return await show_list(visit, view)
    shown = await load_list(visit, view)
    rows = shown.rows.items if by_product else sorted(shown.rows.items, key=lambda row: str(row["key"]))
    points = [(row["label"], row["grossMinor"]) for row in rows]
    if by_product:
        chart = bar_chart(points, "Paid by buyers", naira)
    else:
        chart = column_chart(points, "Paid by buyers", naira, naira_short)
    return visit.render("vendor/sales.html", shown=shown, chart=chart, sums=sums(rows), first=first.isoformat())
