"""Dead letters, dead webhooks and alerts."""

from dataclasses import replace
from enum import StrEnum
from http import HTTPStatus
from typing import Annotated, Any
from urllib.parse import quote
from uuid import UUID

import typer

from common.primitives.ids import parse_uuid
from operations.campusctl.exits import Refused
from operations.campusctl.registering import Key, Limit, Operator, Page, command
from operations.campusctl.showing import Output

_DEAD_LETTER_COLUMNS = ("id", "eventType", "attempts", "failedAt", "replayedAt", "closedAt", "error")
_WEBHOOK_COLUMNS = ("id", "provider", "eventType", "eventId", "outcome", "attempts", "failedAt", "closedAt", "error")
_ALERT_COLUMNS = ("id", "severity", "title", "runbook", "repetitions", "raisedAt", "closedAt")
_ID = "018f2a6b-5c1d-7e4a-9b3f-2d6c8a1e0f47"
_LIST_WEBHOOKS = "List them: campusctl webhooks dead list"
_ROWS_OF_A_PAGE = 100
# A list ends at page x limit = 10,000 (contract section 1).
_PAGES_MAX = 100

WebhookId = Annotated[str, typer.Argument(metavar="ID", help="The id of the dead letter, or of its event.")]
Reason = Annotated[str, typer.Option(help="Why no replay is needed; it stays in the audit trail.")]


class Service(StrEnum):
    identity = "identity"
    orders = "orders"
    payments = "payments"
    payouts = "payouts"
    notifications = "notifications"


class AlertStatus(StrEnum):
    open = "open"
    closed = "closed"


def register(app: typer.Typer) -> None:
    webhooks = typer.Typer(help="Webhooks of the payment gateway and the messaging app.", no_args_is_help=True)
    dead = typer.Typer(help="Webhooks whose processing failed.", no_args_is_help=True)
    command(dead, "list", "campusctl webhooks dead list --outcome dead")(list_webhooks)
    command(dead, "show", f"campusctl webhooks dead show {_ID}")(show_webhook)
    command(
        dead, "replay", f"campusctl webhooks dead replay {_ID}", "campusctl webhooks dead replay charge.success:302961"
    )(replay_webhook)
    command(dead, "close", f"campusctl webhooks dead close {_ID} --reason 'A test of the dashboard'")(close_webhook)
    webhooks.add_typer(dead, name="dead")
    app.add_typer(webhooks, name="webhooks")
    group = typer.Typer(help="Messages whose processing failed for good.", no_args_is_help=True)
    command(group, "list", "campusctl dead-letters list orders")(list_dead_letters)
    command(group, "replay", f"campusctl dead-letters replay orders {_ID}")(replay_dead_letter)
    command(group, "close", f"campusctl dead-letters close orders {_ID} --reason 'Forged; evidence is filed'")(
        close_dead_letter
    )
    app.add_typer(group, name="dead-letters")
    alerts = typer.Typer(help="Alerts.", no_args_is_help=True)
    command(alerts, "list", "campusctl alerts list --status open")(list_alerts)
    app.add_typer(alerts, name="alerts")


def list_webhooks(
    operator: Operator,
    outcome: Annotated[str | None, typer.Option(help="queued, done, ignored or dead.")] = None,
    event_type: Annotated[str | None, typer.Option(help="charge.success, for example.")] = None,
    page: Page = 1,
    limit: Limit = 20,
) -> Output:
    """List dead webhooks with their outcomes."""
    found = operator.api.get("/api/dead-letter-webhooks", outcome=outcome, eventType=event_type, page=page, limit=limit)
    return Output(found.data, _WEBHOOK_COLUMNS, found.meta)


def show_webhook(operator: Operator, webhook_id: WebhookId) -> Output:
    """Show a dead webhook, of an event the newest one. The API has no endpoint for one, so the list is searched."""
    letter_id = parse_uuid(webhook_id)
    event_id = webhook_id if letter_id is None else None
    for page in range(1, _PAGES_MAX + 1):
        found = operator.api.get("/api/dead-letter-webhooks", eventId=event_id, page=page, limit=_ROWS_OF_A_PAGE)
        rows: list[dict[str, Any]] = found.data
        for row in rows:
            if letter_id is None or row["id"] == str(letter_id):
                return Output(row)
        if page >= found.meta.get("total_pages", 0):
            break
    raise Refused(_unknown_webhook(webhook_id), _LIST_WEBHOOKS, status=HTTPStatus.NOT_FOUND)


def replay_webhook(operator: Operator, webhook_id: WebhookId, key: Key = None) -> Output:
    """Process a dead webhook again. One that was processed in the meantime has no second effect."""
    return _resolve_webhook(operator, webhook_id, "replay", {}, key)


def close_webhook(operator: Operator, webhook_id: WebhookId, reason: Reason, key: Key = None) -> Output:
    """Close a dead webhook without a replay. It cannot be replayed afterwards."""
    return _resolve_webhook(operator, webhook_id, "close", {"reason": reason}, key)


def _resolve_webhook(operator: Operator, webhook_id: str, verb: str, body: dict[str, Any], key: str | None) -> Output:
    try:
        return Output(
            operator.api.act(f"/api/dead-letter-webhooks/{quote(webhook_id, safe='')}/{verb}", body, key).data
        )
    except Refused as refused:
        if refused.status != HTTPStatus.NOT_FOUND:
            raise
        raise replace(refused, detail=_unknown_webhook(webhook_id), advice=_LIST_WEBHOOKS) from refused


def _unknown_webhook(webhook_id: str) -> str:
    return f"No dead webhook or event has the id {webhook_id!r}."


def list_dead_letters(operator: Operator, service: Service, page: Page = 1, limit: Limit = 20) -> Output:
    """List a service's dead letters without their bodies."""
    found = operator.api.get(f"/api/dead-letters/{service.value}", page=page, limit=limit)
    return Output(found.data, _DEAD_LETTER_COLUMNS, found.meta)


def replay_dead_letter(operator: Operator, service: Service, letter_id: UUID, key: Key = None) -> Output:
    """Requeue a dead letter as a first attempt. Effects that already happened are not repeated."""
    return Output(operator.api.act(f"/api/dead-letters/{service.value}/{letter_id}/replay", {}, key).data)


def close_dead_letter(operator: Operator, service: Service, letter_id: UUID, reason: Reason, key: Key = None) -> Output:
    """Close a dead letter without a replay. It cannot be replayed afterwards."""
    path = f"/api/dead-letters/{service.value}/{letter_id}/close"
    return Output(operator.api.act(path, {"reason": reason}, key).data)


def list_alerts(operator: Operator, status: AlertStatus | None = None, page: Page = 1, limit: Limit = 20) -> Output:
    """List alerts with their runbooks."""
    found = operator.api.get("/api/alerts", status=status and status.value, page=page, limit=limit)
    return Output(found.data, _ALERT_COLUMNS, found.meta)
