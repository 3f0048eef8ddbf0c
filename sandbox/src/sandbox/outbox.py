"""Pending webhooks: rows written in the transaction of the money movement that they report."""

import time
from typing import Any

import msgspec

from sandbox.clock import now_text
from sandbox.database import Database
from sandbox.faults import Faults

# Decimal amounts are written as numbers.
ENCODER = msgspec.json.Encoder(decimal_format="number")


def enqueue_gateway_event(
    database: Database, faults: Faults, kind: str, event: dict[str, Any], *keys: str, gateway: str = "paystack"
) -> None:
    """
    Put a gateway event into the outbox, under the fault rules of `kind`: copies, a delay, or a row that is kept as
    `dropped` and never sent. The first key is the reference that the webhook is found by.
    """
    fault = faults.claim_fault(kind, *keys)
    body = ENCODER.encode(event)
    target = "gateway" if gateway == "paystack" else gateway
    status = "dropped" if fault is not None and fault.drop else "pending"
    due = time.time() + (fault.delay if fault is not None else 0)
    for _ in range(1 + (fault.duplicate if fault is not None else 0)):
        enqueue(database, target, str(event["event"]), keys[0], body, due, status)


def enqueue(
    database: Database, target: str, event: str, reference: str, body: bytes, due: float, status: str = "pending"
) -> int:
    """One row of the outbox; `due` in epoch seconds. Returns its id."""
    return database.run(
        "INSERT INTO webhooks (target, event, reference, body, status, next_attempt_at, created_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        target,
        event,
        reference,
        body,
        status,
        due,
        now_text(),
    )
