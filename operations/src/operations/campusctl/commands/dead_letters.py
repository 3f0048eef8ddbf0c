"""Dead letters, dead webhooks and alerts."""

from dataclasses import replace
from http import HTTPStatus
from typing import Annotated, Any, Final
from urllib.parse import quote

import typer

from common.primitives.ids import parse_uuid
from operations.campusctl.api_commands import ID, Call, Commands, Own, Value, one_of, register_group
from operations.campusctl.exits import Refused
from operations.campusctl.registering import Key, Operator
from operations.campusctl.showing import Output

_WHY: Final = "Why no replay is needed; it stays in the audit trail."
_LIST_WEBHOOKS: Final = "List them: campusctl webhooks dead list"
_ROWS_OF_A_PAGE: Final = 100
# A list ends at page x limit = 10,000 (contract section 1).
_PAGES_MAX: Final = 100
_SERVICE: Final = one_of("service", "identity", "orders", "payments", "payouts", "notifications")

WebhookId = Annotated[str, typer.Argument(metavar="ID", help="The id of the dead letter, or of its event.")]
Reason = Annotated[str, typer.Option(help=_WHY)]


def register(app: typer.Typer) -> None:
    webhooks = typer.Typer(help="Webhooks of the payment gateway and the messaging app.", no_args_is_help=True)
    register_group(webhooks, "dead", "Webhooks whose processing failed.", WEBHOOKS, within="webhooks")
    app.add_typer(webhooks, name="webhooks")
    register_group(app, "dead-letters", "Messages whose processing failed for good.", DEAD_LETTERS)
    register_group(app, "alerts", "Alerts.", ALERTS)


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
    path = f"/api/dead-letter-webhooks/{quote(webhook_id, safe='')}/{verb}"
    try:
        return Output(operator.api.act(path, body, key).data)
    except Refused as refused:
        if refused.status != HTTPStatus.NOT_FOUND:
            raise
        raise replace(refused, detail=_unknown_webhook(webhook_id), advice=_LIST_WEBHOOKS) from refused


def _unknown_webhook(webhook_id: str) -> str:
    return f"No dead webhook or event has the id {webhook_id!r}."


WEBHOOKS: Final[Commands] = {
    "list": Call(
        "GET /api/dead-letter-webhooks",
        "List dead webhooks with their outcomes.",
        (
            Value("outcome", text="queued, done, ignored or dead."),
            Value("event_type", text="charge.success, for example.", sent_as="eventType"),
        ),
        ("id", "provider", "eventType", "eventId", "outcome", "attempts", "failedAt", "closedAt", "error"),
        ("--outcome dead",),
    ),
    "show": Own(show_webhook, (ID,)),
    "replay": Own(replay_webhook, (ID, "charge.success:302961")),
    "close": Own(close_webhook, (f"{ID} --reason 'A test of the dashboard'",)),
}
DEAD_LETTERS: Final[Commands] = {
    "list": Call(
        "GET /api/dead-letters/{service}",
        "List a service's dead letters without their bodies.",
        (_SERVICE,),
        ("id", "eventType", "attempts", "failedAt", "replayedAt", "closedAt", "error"),
        ("orders",),
    ),
    "replay": Call(
        "POST /api/dead-letters/{service}/{letter_id}/replay",
        "Requeue a dead letter as a first attempt. Effects that already happened are not repeated.",
        (_SERVICE,),
        examples=(f"orders {ID}",),
    ),
    "close": Call(
        "POST /api/dead-letters/{service}/{letter_id}/close",
        "Close a dead letter without a replay. It cannot be replayed afterwards.",
        (_SERVICE, Value("reason", text=_WHY, required=True)),
        examples=(f"orders {ID} --reason 'Forged; evidence is filed'",),
    ),
}
ALERTS: Final[Commands] = {
    "list": Call(
        "GET /api/alerts",
        "List alerts with their runbooks.",
        (one_of("status", "open", "closed"),),
        ("id", "severity", "title", "runbook", "repetitions", "raisedAt", "closedAt"),
        ("--status open",),
    ),
}
