"""An alert in the words of whoever keeps the people on call awake: Alertmanager, PagerDuty Events v2, or a plain webhook."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from notifications.domain.errors import AlertUnheardOf

ALERTMANAGER_PATH: Final = "/api/v2/alerts"
PAGERDUTY_PATH: Final = "/v2/enqueue"
# An alert that repeats is one alert. Still open after an hour and raised again, it is said again: the first page was missed.
PAGE_AGAIN_AFTER: Final = timedelta(hours=1)

# Alertmanager keeps what it was told in memory: whoever tells it says it again, as Prometheus does, or a restart loses it.
REPEAT_AFTER: Final = timedelta(minutes=1)

Dialect = Literal["alertmanager", "pagerduty", "webhook"]

_PAGERDUTY_SEVERITIES: Final[Mapping[str, str]] = {"SEV-1": "critical", "SEV-2": "error", "SEV-3": "warning"}


@dataclass(frozen=True, slots=True)
class Alert:
    """What somebody must look at. `raised_at` is ISO 8601 UTC."""

    alert_id: str
    severity: str
    title: str
    detail: str
    runbook: str
    dedup_key: str
    about: str | None
    source: str
    raised_at: str
    # ISO 8601 UTC; None while it is open.
    closed_at: str | None = None
    # Raised again while it was open, and perhaps graver than the first time.
    is_repeated: bool = False


def dialect_of(url: str) -> Dialect:
    """The words that the address understands, told by its path."""
    path = urlsplit(url).path.rstrip("/")
    if path.endswith(ALERTMANAGER_PATH):
        return "alertmanager"
    return "pagerduty" if path.endswith(PAGERDUTY_PATH) else "webhook"


def page_of_alert(dialect: Dialect, alert: Alert, routing_key: str) -> Any:
    """The JSON body of one page."""
    return {"alertmanager": _alertmanager, "pagerduty": _pagerduty, "webhook": _webhook}[dialect](alert, routing_key)


def _alertmanager(alert: Alert, _: str) -> Any:
    labels = {"alertname": alert.title, "service": alert.source, "dedup_key": alert.dedup_key}
    notes = {
        "summary": alert.title,
        "description": alert.detail,
        "runbook": f"docs/runbooks/{alert.runbook}.md",
        "subject": alert.about or "",
        "alert_id": alert.alert_id,
    }
    page = {"annotations": notes, "startsAt": alert.raised_at}
    # An alert with an end is resolved there.
    end = {} if alert.closed_at is None else {"endsAt": alert.closed_at}
    said = [{"labels": {**labels, "severity": alert.severity}, **page, **end}]
    # Its labels are its name there: what was said under a milder severity, before it grew worse, would stand for a week.
    return said + [
        {"labels": {**labels, "severity": milder}, **page, "endsAt": alert.closed_at or alert.raised_at}
        for milder in _PAGERDUTY_SEVERITIES
        if alert.is_repeated and milder > alert.severity
    ]


def _pagerduty(alert: Alert, routing_key: str) -> Any:
    # PagerDuty takes at most 255 characters of a key and 1024 of a summary.
    joined = {"routing_key": routing_key, "dedup_key": alert.dedup_key[:255]}
    if alert.closed_at is not None:
        return {**joined, "event_action": "resolve"}
    details = {"detail": alert.detail, "runbook": alert.runbook, "subject": alert.about, "severity": alert.severity}
    return {
        **joined,
        "event_action": "trigger",
        "payload": {
            "summary": f"{alert.severity} {alert.title}"[:1024],
            "source": alert.source,
            "severity": _PAGERDUTY_SEVERITIES[alert.severity],
            "timestamp": alert.raised_at,
            "custom_details": {**details, "alertId": alert.alert_id},
        },
    }


def _webhook(alert: Alert, _: str) -> Any:
    return {
        "id": alert.alert_id,
        "severity": alert.severity,
        "title": alert.title,
        "summary": alert.title,
        "message": alert.detail,
        "runbook": alert.runbook,
        "dedupKey": alert.dedup_key,
        "subject": alert.about,
        "source": alert.source,
        "raisedAt": alert.raised_at,
        "closedAt": alert.closed_at,
    }


def evaluate_clearing(
    dedup_key: str, *, cleared_at: datetime, raised_at: datetime | None, closed_at: datetime | None
) -> bool:
    """Whether the clearing takes effect on the open alert, raised last at `raised_at`; False when it is stale or repeated.

    Raises AlertUnheardOf when what it clears was not heard of yet.
    """
    if raised_at is not None:
        return raised_at <= cleared_at
    if closed_at is None or closed_at < cleared_at:
        raise AlertUnheardOf(dedup_key)
    return False


@dataclass(frozen=True, slots=True)
class PageNow:
    """The people on call must hear of it now."""


@dataclass(frozen=True, slots=True)
class Counted:
    """They were told a moment ago; it is counted only."""


def evaluate_repetition(
    *, was_severity: str, was_paged_at: datetime | None, severity: str, now: datetime
) -> PageNow | Counted:
    """Whether an alert that is raised again while it is open is said again: when it grew worse, or the last page is old."""
    if severity < was_severity:  # SEV-1 is the worst.
        return PageNow()
    if was_paged_at is None or now - was_paged_at >= PAGE_AGAIN_AFTER:
        return PageNow()
    return Counted()
