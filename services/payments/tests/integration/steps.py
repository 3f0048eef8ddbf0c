"""Steps that several tests of the service share."""

import base64
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from common.messaging.faults import PermanentFault
from common.messaging.messages import Received
from common.primitives.clock import iso
from common.primitives.ids import new_id
from contracts.orders import OrderPlaced
from payments.consumers import WebhookWork, on_webhook_exhausted
from testkit.fixtures import eventually
from testkit.service_kit import SERVICE_ROLE_KEY

from .conftest import PaymentsApp

BROKEN = {
    "check": "all: escrow equals the orders whose money is held",
    "kind": "broken",
    "subject": "order 1",
    "expected": "100",
    "actual": "99",
}
FILE = base64.b64encode(b"%PDF-1.4 a receipt").decode()
CONTEST = {"resolution": "contest", "message": "Delivered with proof", "attachment": FILE}
FAR = "2100-01-01T00:00:00.000Z"
SandboxApp = tuple[PaymentsApp, httpx.AsyncClient]
MISMATCH = {"metadata": {"orderId": "018cc251-f400-7000-8000-000000000002"}}
WHOLE_TIME = (datetime(2020, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC))
RETRY = {"action": "retry", "reason": "the bank says that it was their fault"}
ACCOUNT_NUMBER = "0123456789"
DESTINATION = {"accountNumber": ACCOUNT_NUMBER, "bankCode": "058", "accountName": "Chidi Okafor"}
OTHER_DESTINATION = {"action": "other_destination", "destination": DESTINATION, "reason": "the card is closed"}
AGE_WEBHOOKS = (
    "UPDATE processed_webhook_events SET processed_at = processed_at - make_interval(days => $1) RETURNING id"
)
AGE_DEAD_LETTERS = """
UPDATE dead_letter_webhooks SET failed_at = failed_at - make_interval(days => $1),
    replayed_at = replayed_at - make_interval(days => $1), closed_at = closed_at - make_interval(days => $1)
RETURNING id
"""


def audit_body(app: PaymentsApp, *findings: dict[str, Any], **changes: Any) -> dict[str, Any]:
    now = app.clock.now()
    return {
        "id": str(uuid4()),
        "startedAt": iso(now - timedelta(seconds=30)),
        "finishedAt": iso(now),
        "gatewayReason": None,
        "findings": list(findings),
        **changes,
    }


async def send_audit(app: PaymentsApp, body: dict[str, Any], key: str = SERVICE_ROLE_KEY) -> httpx.Response:
    headers = {"Authorization": f"Bearer {key}"}
    return await app.client.post("/functions/v1/record-audit", json=body, headers=headers)


async def process_event(app: PaymentsApp, event_type: str, number: int = 1) -> None:
    async def came() -> bool:
        rows = await app.fetch("SELECT 1 FROM processed_webhook_events WHERE event_type = $1", event_type)
        return len(rows) == number

    await eventually(came)
    await app.work("payments.webhooks")


async def disputed_charge(
    app: PaymentsApp, sandbox: httpx.AsyncClient, due_at: str | None = FAR, number: int = 1
) -> tuple[OrderPlaced, dict[str, Any], int]:
    """Return a paid order, its chargeback, and the dispute's id at the gateway."""
    placed = await app.place_order()
    intent = await app.open_intent(placed.order_id)
    await sandbox.post(intent["authorizationUrl"], data={"action": "pay", "channel": "card"})
    await process_event(app, "charge.success", number)
    path = f"/control/charges/{intent['reference']}/dispute"
    dispute = (await sandbox.post(path, json={"due_at": due_at})).json()
    await process_event(app, "charge.dispute.create", number)
    listed = await app.get_as("/api/chargebacks")
    return placed, listed[0], dispute["id"]


async def get_as_roles(app: PaymentsApp, path: str, *roles: str, user: UUID | None = None) -> Any:
    return await app.client.get(path, headers=app.headers(user or uuid4(), roles=roles))


async def dead_webhook(app: PaymentsApp) -> str:
    """Return an unreadable charge in the dead letters."""
    body = {"event": "charge.success", "data": {"id": 5, "amount": "much", "reference": "ch-5"}}
    with pytest.raises(PermanentFault) as fault:
        await app.process_webhook(body)
    return await exhaust_webhook(app, str(fault.value))


async def exhaust_webhook(app: PaymentsApp, error: str) -> str:
    """Give the only queued webhook up, as after its last attempt, and return its dead letter."""
    [queued] = await app.fetch("SELECT id FROM processed_webhook_events WHERE outcome = 'queued'")
    received = Received(new_id(), "payments.webhooks", "/services/payments", "x", 1, "", 1, is_last_attempt=True)
    async with app.unit_of_work() as uow:
        await on_webhook_exhausted(WebhookWork(webhook_id=queued["id"]), received, uow, error)
    dead_letters = (await get_as_roles(app, "/api/dead-letter-webhooks", "ops_oncall")).json()
    assert dead_letters["meta"]["total"] == 1
    return str(dead_letters["data"][0]["id"])


async def replay_dead_webhook(app: PaymentsApp, dead_letter_id: str, **claims: Any) -> Any:
    headers = app.headers(uuid4(), **{"roles": ("ops_oncall",), "stepped_up": True, **claims})
    return await app.client.post(f"/api/dead-letter-webhooks/{dead_letter_id}/replay", headers=headers)


async def make_read_only(app: PaymentsApp) -> None:
    """From now on the service can write nothing to its database."""
    async with app.connected("admin") as owner:
        name = await owner.fetchval("SELECT current_database()")
        await owner.execute(f'ALTER DATABASE "{name}" SET default_transaction_read_only = on')
        # Settings of a database hold for new connections: close the service's own ones, and wait for it.
        await owner.execute(
            "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity "
            "WHERE datname = current_database() AND usename = 'campus_payments_service_a'"
        )
