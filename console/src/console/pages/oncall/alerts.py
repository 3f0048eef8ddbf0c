"""Alerts with their clock; one of them with its runbook, its history and its steps."""

from typing import Final

from starlette.responses import Response

from console.api import ApiProblem, Json
from console.choices import api_values
from console.families import Screens
from console.lists import Column, Filter, ListView, is_id, show_list
from console.live import wants_events
from console.messages import plain_message
from console.pages.oncall.runbooks import find_runbook, may_open, permissions_of_page
from console.parts import NAMED_MAX, command, names_of, rows_of_part
from console.roles import who_may
from console.visit import InvalidField, Visit

SCREENS = Screens()

SEVERITIES: Final = api_values("/api/payout-exceptions", "severity")
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
    "repeated-pin-reissue": "/orders/{}",
    "quarantined-charge": "/quarantined-charges/{}",
    "refund-failed": "/refunds/{}",
    "refund-needs-attention": "/refunds/{}",
    "unexplained-kobo": "/reconciliation-cases/{}",
    "dead-letter-webhooks": "/dead-letter-webhooks/{}",
    "notification-not-delivered": "/notification-delivery-logs?notificationId={}",
    "payout-exceptions": "/payout-exceptions/of/{}",
    "credit-not-released": "/payout-exceptions/of/{}",
}


def alert_screen(alert: Json) -> str:
    """Return the page of the alert's subject, else the list on which it is worked on; empty where only its runbook
    helps.
    """
    runbook, subject = alert["runbook"], alert["subject"] or ""
    if runbook in _SUBJECTS and is_id(subject):
        return _SUBJECTS[runbook].format(subject)
    return _SCREENS.get(runbook, "")


def alert_deadline(alert: Json) -> str | None:
    """Return the time to respond of an alert that still needs a response."""
    return None if alert["closedAt"] or alert["acknowledgedAt"] else str(alert["respondBy"])


ALERTS = ListView(
    "/api/alerts",
    columns=(
        Column("Severity", "severity", "badge"),
        Column("Respond", alert_deadline, "left"),
        Column("Alert", lambda alert: plain_message(alert["title"]), link="/alerts/{id}"),
        Column("Detail", lambda alert: plain_message(alert["detail"])),
        Column("Assigned to", "assigneeId", "staff"),
        Column("Raised", "raisedAt", "ago"),
        Column("Closed", "closedAt", "ago"),
    ),
    filters=(Filter("status", "Status"),),
    empty="No alert was raised. New alerts are announced here, and are sent to the people on call.",
    fixed={"sort": "severity", "order": "desc"},
)


READERS: Final = ("alerts:read", "money_alerts:read")
ACTORS: Final = ("alerts:acknowledge",)
TOGETHER_MAX: Final = 50
"""A page of the list: what a person can read before it is acknowledged."""


@SCREENS.page("/alerts", title="Alerts", any_of=READERS, menu="Alerts")
async def alerts_page(visit: Visit) -> Response:
    waiting = []
    if visit.may(*ACTORS) and not wants_events(visit):
        found = await visit.api.page("/api/alerts", status="open", sort="severity", order="desc", limit=TOGETHER_MAX)
        waiting = [alert for alert in found.items if alert["acknowledgedAt"] is None]
    return await show_list(visit, ALERTS, "oncall/alerts.html", waiting=waiting)


@SCREENS.action("/alerts/acknowledge", any_of=ACTORS, page=alerts_page)
async def acknowledge_alerts(visit: Visit) -> Response:
    """Acknowledge each chosen alert. One that closed since the page was opened is left out and counted."""
    chosen, closed = visit.form.every("alertId")[:TOGETHER_MAX], 0
    if not chosen:
        raise InvalidField("alertId", "choose at least one alert")
    for alert_id in chosen:
        try:
            await visit.api.post(f"/api/alerts/{alert_id}/acknowledge")
        except ApiProblem as problem:
            if problem.status != 409:
                raise
            closed += 1
    left_out = f" {closed} closed meanwhile." if closed else ""
    return visit.go("/alerts?status=open", f"{_counted(len(chosen) - closed)} acknowledged.{left_out}")


def _counted(alerts: int) -> str:
    return "1 alert is" if alerts == 1 else f"{alerts} alerts are"


@SCREENS.page("/alerts/{id:uuid}", title="Alert", any_of=READERS)
async def alert_page(visit: Visit) -> Response:
    """Return the alert beside the steps of its runbook."""
    alert: Json = await visit.api.get(f"/api/alerts/{visit['id']}")
    colleagues = await rows_of_part(visit, "/api/staff-names", role="ops_oncall", order="asc", limit=NAMED_MAX)
    named = [alert["acknowledgedBy"], alert["assigneeId"], alert["closedBy"]]
    named += [one for action in alert["actions"] for one in (action["by"], action["assigneeId"])]
    subject_page = alert_screen(alert)
    return visit.render(
        "oncall/alert.html",
        title=plain_message(alert["title"]),
        alert=alert,
        deadline=alert_deadline(alert),
        subject_page=subject_page,
        may_open_subject=may_open(visit, subject_page),
        subject_readers=permissions_of_page(subject_page),
        who_may=who_may,
        runbook=find_runbook(visit, alert["runbook"], subject_page),
        names=await names_of(visit, *named),
        colleagues=[(one["id"], one["name"]) for one in colleagues if one["id"] != alert["assigneeId"]],
        may_act=visit.may(*ACTORS),
    )


@SCREENS.action("/alerts/{id:uuid}/acknowledge", any_of=ACTORS, page=alert_page)
async def acknowledge_alert(visit: Visit) -> Response:
    return await command(visit, None, "The alert is acknowledged. It is not escalated.")


@SCREENS.action("/alerts/{id:uuid}/assign", any_of=ACTORS, page=alert_page)
async def assign_alert(visit: Visit) -> Response:
    return await command(visit, {"assigneeId": visit.form["assigneeId"] or None}, "The alert is assigned.")


@SCREENS.action("/alerts/{id:uuid}/notes", any_of=ACTORS, page=alert_page)
async def add_alert_note(visit: Visit) -> Response:
    return await command(visit, {"text": visit.form["text"]}, "The note is added.")


@SCREENS.action("/alerts/{id:uuid}/discard", any_of=ACTORS, page=alert_page)
async def discard_alert(visit: Visit) -> Response:
    return await command(visit, {"reason": visit.form["reason"]}, "The messages are discarded. The alert is closed.")
