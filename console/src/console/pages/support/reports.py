"""Reports of users, and their decisions."""

import asyncio
from typing import Final

from starlette.responses import Response

from console.families import Screens
from console.lists import Column, Filter, ListView, show_list
from console.visit import Visit

SCREENS = Screens()

MESSAGES_SHOWN: Final = 100
OUTCOMES = {"dismiss": "dismissed", "hide": "hidden", "suspend_vendor": "vendor suspended"}

REPORTS = ListView(
    "/api/reports",
    columns=(
        Column("Kind", lambda report: report["subject"]["kind"]),
        Column("Reported", "subjectText"),
        Column("Vendor", "vendorName"),
        Column("Reason", "reason"),
        Column(
            "Conversation",
            lambda report: report["conversationId"] and "Read it",
            link="/reports/conversations/{conversationId}",
        ),
        Column("Details", "details"),
        Column("Decision", lambda report: OUTCOMES.get(report["outcome"], "")),
        Column("Reported at", "createdAt", "time"),
    ),
    filters=(
        Filter("kind", "Kind"),
        Filter("status", "Status"),
        Filter("awaiting", "Waits for", (("decision", "my decision"),)),
    ),
    empty="No report. Users report products, reviews, vendors and messages that break the rules.",
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


@SCREENS.page(
    "/reports/conversations/{id:uuid}", title="Reported conversation", any_of=("reports:decide", "disputes:prepare")
)
async def reported_conversation_page(visit: Visit) -> Response:
    """Show a conversation that a report, a dispute or a return opens to support. The API records each read."""
    path = f"/api/conversations/{visit['id']}"
    conversation, messages = await asyncio.gather(
        visit.api.get(path), visit.api.page(f"{path}/messages", limit=MESSAGES_SHOWN)
    )
    return visit.render(
        "support/conversation.html",
        conversation=conversation,
        messages=messages.items[::-1],
        is_longer=messages.next_cursor is not None,
    )
