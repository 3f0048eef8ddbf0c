"""Reports of users, and their decisions."""

from starlette.responses import Response

from console.families import Screens
from console.lists import Column, Filter, ListView, choices, show_list
from console.visit import Visit

SCREENS = Screens()

KINDS = choices("product", "review", "vendor")
OUTCOMES = {"dismiss": "dismissed", "hide": "hidden", "suspend_vendor": "vendor suspended"}

REPORTS = ListView(
    "/api/reports",
    columns=(
        Column("Kind", lambda report: report["subject"]["kind"]),
        Column("Reported", "subjectText"),
        Column("Vendor", "vendorName"),
        Column("Reason", "reason"),
        Column("Details", "details"),
        Column("Decision", lambda report: OUTCOMES.get(report["outcome"], "")),
        Column("Reported at", "createdAt", "time"),
    ),
    filters=(
        Filter("kind", "Kind", KINDS),
        Filter("status", "Status", choices("open", "decided")),
        Filter("awaiting", "Waits for", (("decision", "my decision"),)),
    ),
    empty="No report. Users report products, reviews and vendors that break the rules.",
)


@SCREENS.page("/reports", title="Reports", any_of=("reports:read", "vendors:suspend"), menu="Reports")
async def reports_page(visit: Visit) -> Response:
    outcomes = [("dismiss", "Dismiss it"), ("hide", "Hide what is reported")] if visit.may("reports:decide") else []
    if visit.may("vendors:suspend"):
        outcomes.append(("suspend_vendor", "Suspend the vendor"))
    return await show_list(visit, REPORTS, "support/reports.html", outcomes=outcomes)


@SCREENS.action("/reports/decide", any_of=("reports:decide", "vendors:suspend"), page=reports_page)
async def decide_report(visit: Visit) -> Response:
    """Decide on a report; the reason is shown to the owner of what is hidden or suspended."""
    outcome, reason = visit.form["outcome"], visit.form["reason"]
    body = {"outcome": outcome, **({"reason": reason} if reason else {})}
    await visit.api.post(f"/api/reports/{visit.form['report']}/decide", body)
    return visit.go("/reports?status=open", f"The report is decided: {OUTCOMES.get(outcome, outcome)}.")
