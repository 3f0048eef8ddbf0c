"""Dead letters, dead webhooks and alerts."""

from collections.abc import Callable
from dataclasses import replace
from http import HTTPStatus
from typing import Annotated, Any, Final
from urllib.parse import quote

import typer

from operations.campusctl.api_commands import ID, Call, Commands, Own, Value, one_of, register_group
from operations.campusctl.exits import Refused
from operations.campusctl.registering import Key, Operator
from operations.campusctl.showing import Output

_WHY: Final = "Why no replay is needed; it stays in the audit trail."
_LIST_WEBHOOKS: Final = "List them: campusctl webhooks dead list"
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
    """Show a dead webhook with its payload and history, of an event the newest one."""
    path = f"/api/dead-letter-webhooks/{quote(webhook_id, safe='')}"
    return Output(_of_webhook(webhook_id, lambda: operator.api.get(path).data))


def replay_webhook(operator: Operator, webhook_id: WebhookId, key: Key = None) -> Output:
    """Process a dead webhook again. One that was processed in the meantime has no second effect."""
    return _resolve_webhook(operator, webhook_id, "replay", {}, key)


def close_webhook(operator: Operator, webhook_id: WebhookId, reason: Reason, key: Key = None) -> Output:
    """Close a dead webhook without a replay; one of a payment gateway is closed by the second person who says so."""
    return _resolve_webhook(operator, webhook_id, "close", {"reason": reason}, key)


def _resolve_webhook(operator: Operator, webhook_id: str, verb: str, body: dict[str, Any], key: str | None) -> Output:
    path = f"/api/dead-letter-webhooks/{quote(webhook_id, safe='')}/{verb}"
    return Output(_of_webhook(webhook_id, lambda: operator.api.act(path, body, key).data))


def _of_webhook(webhook_id: str, respond: Callable[[], Any]) -> Any:
    """Return the response. Raises Refused, which names the webhook where no service has it."""
    try:
        return respond()
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
        ("id", "provider", "eventType", "subject", "eventId", "outcome", "failedAt", "closureRequestedBy", "error"),
        ("--outcome dead",),
    ),
    "show": Own(show_webhook, (ID,)),
    "replay": Own(replay_webhook, (ID, "charge.success:302961")),
    "close": Own(close_webhook, (f"{ID} --reason 'A test of the dashboard'",)),
}
DEAD_LETTERS: Final[Commands] = {
    "list": Call(
        "GET /api/dead-letters/{service}",
        "List a service's dead letters with their subjects.",
        (_SERVICE,),
        ("id", "eventType", "subject", "failedAt", "replayedAt", "closureRequestedBy", "closedAt", "error"),
        ("orders",),
    ),
    "show": Call(
        "GET /api/dead-letters/{service}/{letter_id}",
        "Show a dead letter, or that of an event, with its payload and history.",
        (_SERVICE,),
        examples=(f"orders {ID}",),
    ),
    "replay": Call(
        "POST /api/dead-letters/{service}/{letter_id}/replay",
        "Requeue a dead letter, by its id or that of its event. Effects that already happened are not repeated.",
        (_SERVICE,),
        examples=(f"orders {ID}",),
    ),
    "close": Call(
        "POST /api/dead-letters/{service}/{letter_id}/close",
        "Close a dead letter without a replay. Where money is concerned, the second person's command closes it.",
        (_SERVICE, Value("reason", text=_WHY, required=True)),
        examples=(f"orders {ID} --reason 'Forged; evidence is filed'",),
    ),
}
ALERTS: Final[Commands] = {
    "discard": Call(
        "POST /api/alerts/{alert_id}/discard",
        "Discard messages that were not delivered, and close their alert.",
        (Value("reason", text="Why the messages are not needed; it stays with the alert.", required=True),),
        examples=(f"{ID} --reason 'The address does not exist'",),
    ),
    "list": Call(
        "GET /api/alerts",
        "List alerts with their runbooks.",
        (Value("status"),),
        ("id", "severity", "title", "runbook", "repetitions", "raisedAt", "closedAt"),
        ("--status open",),
    ),
}
