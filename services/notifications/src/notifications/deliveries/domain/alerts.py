"""Request bodies that page the on-call staff: Alertmanager, PagerDuty Events v2 or a plain webhook."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal
from urllib.parse import urlsplit

from common.primitives.json_records import Json, JsonObject
from notifications.deliveries.domain.errors import AlertNotRaisedYet

ALERTMANAGER_PATH: Final = "/api/v2/alerts"
PAGERDUTY_PATH: Final = "/v2/enqueue"
# A repetition of an open alert pages again only after this time.
PAGE_AGAIN_AFTER: Final = timedelta(hours=1)

# Alertmanager holds alerts in memory and loses them at a restart, so open alerts are sent repeatedly, as Prometheus
# does.
REPEAT_AFTER: Final = timedelta(minutes=1)
# The specification's times to respond, from the first report.
RESPOND_WITHIN: Final[Mapping[str, timedelta]] = {
    "SEV-1": timedelta(minutes=15),
    "SEV-2": timedelta(hours=1),
    "SEV-3": timedelta(hours=4),
}
# An alert that is not acknowledged goes to the second user on call after this time: SEV-1 at half of its time.
ESCALATE_AFTER: Final[Mapping[str, timedelta]] = {**RESPOND_WITHIN, "SEV-1": RESPOND_WITHIN["SEV-1"] / 2}

DELIVERY_LOST: Final = "delivery-failed:"
"""What the keys of alerts about lost messages begin with: nothing that happens later ends their cause."""
MESSAGES_REMOVED: Final = "The messages were not delivered, and retention removed them."

Dialect = Literal["alertmanager", "pagerduty", "webhook"]

_PAGERDUTY_SEVERITIES: Final[Mapping[str, str]] = {"SEV-1": "critical", "SEV-2": "error", "SEV-3": "warning"}


def provider_paused_key(provider: str) -> str:
    """Return the deduplication key of the alert about a provider that fails repeatedly."""
    return f"provider-rests:{provider}"


def account_fault_key(provider: str) -> str:
    """Return the deduplication key of the alert about a provider that rejects our account."""
    return f"provider-account:{provider}"


def delivery_lost_key(channel: str, template: str) -> str:
    """Return the deduplication key of the alert about messages of one template that failed for good."""
    return f"{DELIVERY_LOST}{channel}:{template}"


@dataclass(frozen=True, slots=True)
class Alert:
    """One alert. `raised_at` and `closed_at` are ISO 8601 UTC; `closed_at` is None while the alert is open."""

    alert_id: str
    severity: str
    title: str
    detail: str
    runbook: str
    dedup_key: str
    about: str | None
    source: str
    raised_at: str
    closed_at: str | None = None
    # True after a repetition while open. The severity may have risen since the first occurrence.
    is_repeated: bool = False
    # True once it was not acknowledged in time.
    is_escalated: bool = False
    # Who took it on and when, while it is open or after.
    acknowledged_at: str | None = None
    acknowledged_by: str | None = None
    # True once the receiver has it.
    is_paged: bool = False


def dialect_of(url: str) -> Dialect:
    """Return the request format that the path of the URL implies."""
    path = urlsplit(url).path.rstrip("/")
    if path.endswith(ALERTMANAGER_PATH):
        return "alertmanager"
    return "pagerduty" if path.endswith(PAGERDUTY_PATH) else "webhook"


def page_bodies(dialect: Dialect, alert: Alert, routing_key: str, *, is_acknowledgement: bool = False) -> list[Json]:
    """Return the JSON bodies of one page, or of an acknowledgement.

    PagerDuty gets `acknowledge` under the key of the alert, after `trigger` where it has not got the alert yet.
    Alertmanager has no acknowledgement, and a silence would also hide the alert's end: it gets an annotation; a webhook
    gets fields.

    An escalated alert is a second alert of the receiver, which routes it to the second user on call: by the label
    `escalated` (Alertmanager), the class `escalated` (PagerDuty), or the field `escalated` (webhook).
    """
    if dialect == "pagerduty":
        is_acknowledgement = is_acknowledgement and alert.closed_at is None
        actions = [_pagerduty] if not (is_acknowledgement and alert.is_paged) else []
        actions += [_pagerduty_acknowledgement] if is_acknowledgement else []
        return [
            action(alert, routing_key, is_escalated=is_second)
            for action in actions
            for is_second in (False, True)[: 1 + alert.is_escalated]
        ]
    return [_alertmanager(alert) if dialect == "alertmanager" else _webhook(alert)]


def _alertmanager(alert: Alert) -> Json:
    labels: JsonObject = {"alertname": alert.title, "service": alert.source, "dedup_key": alert.dedup_key}
    annotations: JsonObject = {
        "summary": alert.title,
        "description": alert.detail,
        "runbook": f"docs/runbooks/{alert.runbook}.md",
        "subject": alert.about or "",
        "alert_id": alert.alert_id,
        **({} if alert.acknowledged_at is None else {"acknowledged_at": alert.acknowledged_at}),
    }
    page: JsonObject = {"annotations": annotations, "startsAt": alert.raised_at}
    # Alertmanager resolves an alert that has `endsAt`.
    end: JsonObject = {} if alert.closed_at is None else {"endsAt": alert.closed_at}
    alerts: list[Json] = [{"labels": {**labels, "severity": alert.severity}, **page, **end}]
    if alert.is_escalated:
        alerts.append({"labels": {**labels, "severity": alert.severity, "escalated": "true"}, **page, **end})
    # Labels identify an alert in Alertmanager. The variants with a lower severity are resolved explicitly.
    return alerts + [
        {"labels": {**labels, "severity": milder}, **page, "endsAt": alert.closed_at or alert.raised_at}
        for milder in _PAGERDUTY_SEVERITIES
        if alert.is_repeated and milder > alert.severity
    ]


def _pagerduty_event(alert: Alert, routing_key: str, *, is_escalated: bool) -> JsonObject:
    # PagerDuty accepts at most 255 characters of a key and 1024 of a summary.
    key = f"{alert.dedup_key[:245]}:escalated" if is_escalated else alert.dedup_key[:255]
    return {"routing_key": routing_key, "dedup_key": key}


def _pagerduty_acknowledgement(alert: Alert, routing_key: str, *, is_escalated: bool) -> Json:
    return {**_pagerduty_event(alert, routing_key, is_escalated=is_escalated), "event_action": "acknowledge"}


def _pagerduty(alert: Alert, routing_key: str, *, is_escalated: bool) -> Json:
    joined = _pagerduty_event(alert, routing_key, is_escalated=is_escalated)
    if alert.closed_at is not None:
        return {**joined, "event_action": "resolve"}
    details: JsonObject = {
        "detail": alert.detail,
        "runbook": alert.runbook,
        "subject": alert.about,
        "severity": alert.severity,
    }
    return {
        **joined,
        "event_action": "trigger",
        "payload": {
            "summary": f"{alert.severity} {'not acknowledged: ' if is_escalated else ''}{alert.title}"[:1024],
            **({"class": "escalated"} if is_escalated else {}),
            "source": alert.source,
            "severity": _PAGERDUTY_SEVERITIES[alert.severity],
            "timestamp": alert.raised_at,
            "custom_details": {**details, "alertId": alert.alert_id},
        },
    }


def _webhook(alert: Alert) -> Json:
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
        "escalated": alert.is_escalated,
        "acknowledgedAt": alert.acknowledged_at,
        "acknowledgedBy": alert.acknowledged_by,
    }


def evaluate_clearing(
    dedup_key: str, *, cleared_at: datetime, raised_at: datetime | None, closed_at: datetime | None
) -> bool:
    """Return whether a clearing closes the open alert that was last raised at `raised_at`.

    False for a stale or repeated clearing. Raises AlertNotRaisedYet when no matching alert has arrived.
    """
    if raised_at is not None:
        return raised_at <= cleared_at
    if closed_at is None or closed_at < cleared_at:
        raise AlertNotRaisedYet(dedup_key)
    return False


@dataclass(frozen=True, slots=True)
class PageNow:
    """The on-call staff are paged."""


@dataclass(frozen=True, slots=True)
class CountOnly:
    """The repetition is counted without a page."""


def evaluate_repetition(
    *, was_severity: str, was_paged_at: datetime | None, severity: str, now: datetime
) -> PageNow | CountOnly:
    """Return whether a repetition of an open alert pages again: after a higher severity, or when the last page is
    old.
    """
    if severity < was_severity:  # SEV-1 is the worst.
        return PageNow()
    if was_paged_at is None or now - was_paged_at >= PAGE_AGAIN_AFTER:
        return PageNow()
    return CountOnly()
