"""Alerts with their clock."""

from datetime import timedelta
from typing import Final

from starlette.responses import Response

from console.api import Json
from console.families import Screens
from console.formats import instant
from console.lists import Column, Filter, ListView, choices, is_id, show_list
from console.visit import Visit

SCREENS = Screens()

SEVERITIES: Final = ("SEV-1", "SEV-2", "SEV-3")
RESPOND_WITHIN: Final = {
    "SEV-1": timedelta(minutes=15),
    "SEV-2": timedelta(hours=1),
    "SEV-3": timedelta(hours=4),
}
"""The specification's times to respond, counted from the first report."""

# The screen on which an alert with this runbook is worked on.
_SCREENS: Final = {
    "payout-exceptions": "/payout-exceptions?status=open",
    "credit-not-released": "/payout-exceptions?status=open",
    "payout-failure-rate": "/payout-exceptions/observations",
    "dead-letters": "/dead-letters",
    "unproven-publisher": "/dead-letters",
    "dead-letter-webhooks": "/dead-letter-webhooks?outcome=dead",
    "quarantined-charge": "/quarantined-charges?status=quarantined",
    "gateway-settlement": "/reconciliation-cases?status=open",
    "unexplained-kobo": "/reconciliation-cases?status=open",
}


# The page of the subject of an alert with this runbook.
_SUBJECTS: Final = {
    "audit-broken": "/audits/{}",
    "chargeback": "/chargebacks/{}",
    "outside-refund": "/refunds/{}",
    "quarantined-charge": "/quarantined-charges/{}",
    "refund-failed": "/refunds/{}",
    "refund-needs-attention": "/refunds/{}",
    "unexplained-kobo": "/reconciliation-cases/{}",
    "dead-letter-webhooks": "/dead-letter-webhooks/{}",
    "payout-exceptions": "/payout-exceptions/of/{}",
    "credit-not-released": "/payout-exceptions/of/{}",
}


def alert_deadline(alert: Json) -> str | None:
    """When an open alert has to be responded to; None for a closed one."""
    raised = instant(alert["raisedAt"])
    if alert["closedAt"] or raised is None:
        return None
    return (raised + RESPOND_WITHIN[alert["severity"]]).isoformat()


def alert_screen(alert: Json) -> str:
    """Return the page of the alert's subject, else the list on which it is worked on; empty where only its runbook
    helps.
    """
    runbook, subject = alert["runbook"], alert["subject"] or ""
    if runbook in _SUBJECTS and is_id(subject):
        return _SUBJECTS[runbook].format(subject)
    return _SCREENS.get(runbook, "")


ALERTS = ListView(
    "/api/alerts",
    columns=(
        Column("Severity", "severity", "badge"),
        Column("Respond", alert_deadline, "left"),
        Column("Alert", "title", link=alert_screen),
        Column("Detail", "detail"),
        Column("Raised", "raisedAt", "ago"),
        Column("Closed", "closedAt", "ago"),
        Column("Runbook", lambda alert: f"{alert['runbook']}.md"),
    ),
    filters=(Filter("status", "Status", choices("open", "closed")),),
    empty="No alert was raised. Alerts appear here by themselves, and are sent to the people on call.",
    fixed={"sort": "severity", "order": "desc"},
)


@SCREENS.page("/alerts", title="Alerts", any_of=("alerts:read", "money_alerts:read"), menu="Alerts")
async def alerts_page(visit: Visit) -> Response:
    return await show_list(visit, ALERTS, "oncall/alerts.html")
