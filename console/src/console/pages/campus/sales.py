"""Sales of the campus."""

from dataclasses import replace
from typing import Final

from starlette.responses import Response

from console.charts import bar_chart, column_chart
from console.families import Screens
from console.formats import naira, naira_short
from console.lists import Column, Filter, ListView, csv_response, load_list
from console.sales import FIGURE_COLUMNS, sums
from console.visit import Visit

SCREENS = Screens()

BARS_MAX: Final = 20

GROUPS: Final = (("vendor", "By vendor"), ("category", "By category"), ("day", "By day"), ("campus", "By campus"))
CAMPUS_SALES = ListView(
    "/api/sales",
    columns=(
        Column("", "label"),
        *FIGURE_COLUMNS,
    ),
    filters=(
        Filter("groupBy", "Grouped", GROUPS),
        Filter("from", "From", kind="date"),
        Filter("to", "Before", kind="date"),
    ),
    empty="Nothing was sold yet. A sale is counted when its money is held in escrow.",
)


@SCREENS.page("/campus-sales", title="Sales of the campus", any_of=("campus_orders:read",), menu="Sales of the campus")
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
    chart = (
        column_chart(points, title, naira, naira_short)
        if group == "day"
        else bar_chart(points[:BARS_MAX], title, naira)
    )
    return visit.render("campus/sales.html", shown=shown, chart=chart, sums=sums(shown.rows.items))
