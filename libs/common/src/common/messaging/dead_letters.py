"""Stored dead letters: messages that failed the last retry are stored in the service's database, alerted, and resolved.

Staff resolve a dead letter by a replay, or close it with a reason. A message with an unproven publisher is stored as
evidence and never replayed: a replay would have the service's own account.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.messaging.alerts import Alerts
from common.messaging.bus import Bus, Outgoing
from common.primitives.ids import new_id, parse_uuid
from common.primitives.problems import Conflict, NotFound, Unavailable

_STORE: Final = """
INSERT INTO dead_letters (id, queue, event_id, event_type, body, headers, error, attempts)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
"""
# Added to the message's own headers, which never have this name.
_UNPROVEN_HEADER: Final = "unproven-publisher"
_LOCK: Final = f"""
SELECT id, queue, event_id, event_type, body, replayed_at, closed_at, headers ? '{_UNPROVEN_HEADER}' AS is_unproven
FROM dead_letters WHERE id = $1 FOR UPDATE
"""
_MARK_REPLAYED: Final = "UPDATE dead_letters SET replayed_at = now() WHERE id = $1"
_MARK_CLOSED: Final = "UPDATE dead_letters SET closed_at = $2 WHERE id = $1"
_FIND_CLOSURE: Final = "SELECT closed_by, reason, closed_at FROM dead_letter_closures WHERE dead_letter_id = $1"
_RECORD_CLOSURE: Final = """
INSERT INTO dead_letter_closures (dead_letter_id, queue, event_type, closed_by, reason, closed_at)
VALUES ($1, $2, $3, $4, $5, coalesce($6, now())) RETURNING closed_at
"""


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A message at its last failure. `error` names the fault without the message's content."""

    queue: str
    event_type: str
    message_id: str | None
    body: bytes
    headers: Mapping[str, object]
    error: str
    attempts: int
    is_unproven: bool = False


@dataclass(frozen=True, slots=True)
class Closure:
    """The end of a dead letter without a replay, in the append-only audit trail."""

    closed_by: UUID
    reason: str
    closed_at: datetime


class AlreadyReplayed(Conflict):
    detail = "This dead letter was already replayed."


class AlreadyClosed(Conflict):
    detail = "This dead letter was closed. It cannot be replayed, or closed with another reason."


async def store_dead_letter(uow: UnitOfWork, service: str, dead_letter: DeadLetter) -> UUID:
    """Store the message and raises an alert, in one transaction (specification: Ingestion rule 6).

    The alert is SEV-2, or SEV-1 for an unproven publisher, because an account of the broker is misused.
    """
    dead_letter_id = new_id()
    await uow.execute(
        _STORE,
        dead_letter_id,
        dead_letter.queue,
        parse_uuid(dead_letter.message_id or ""),
        dead_letter.event_type,
        dead_letter.body,
        {**dead_letter.headers, **({_UNPROVEN_HEADER: True} if dead_letter.is_unproven else {})},
        dead_letter.error,
        dead_letter.attempts,
    )
    Alerts(service).raise_alert(
        uow,
        "SEV-1" if dead_letter.is_unproven else "SEV-2",
        f"{'Forged message' if dead_letter.is_unproven else 'Dead letter'} in {service}: {dead_letter.event_type}",
        f"Failed after {dead_letter.attempts} attempts: {dead_letter.error}",
        runbook="unproven-publisher" if dead_letter.is_unproven else "dead-letters",
        key=_alert_key(dead_letter_id),
        about=str(dead_letter_id),
    )
    return dead_letter_id


async def replay_dead_letter(uow: UnitOfWork, bus: Bus, dead_letter_id: UUID) -> None:
    """Enqueues the message again as a first attempt. The inbox makes a repeated replay harmless.

    Raises NotFound, Conflict (resolved already, or an unproven publisher) and Unavailable (the broker did not confirm).
    """
    row = await uow.fetch_row(_LOCK, dead_letter_id)
    if row is None:
        raise NotFound
    if row["closed_at"] is not None:
        raise AlreadyClosed
    if row["is_unproven"]:
        raise Conflict(
            "The service that this message names did not publish it. It is stored as evidence and cannot be replayed."
        )
    if row["replayed_at"] is not None:
        raise AlreadyReplayed
    message = Outgoing(bytes(row["body"]), str(row["event_id"] or dead_letter_id), row["event_type"], row["queue"], {})
    if not all(await bus.publish([message])):
        raise Unavailable
    await uow.execute(_MARK_REPLAYED, dead_letter_id)
    # If the message fails again, it becomes a new dead letter with its own alert.
    _clear_alert(uow, dead_letter_id, row["queue"], "the dead letter was replayed")


async def close_dead_letter(uow: UnitOfWork, dead_letter_id: UUID, by: UUID, reason: str) -> Closure:
    """Close the dead letter without a replay. A repetition with the same reason returns the first closure.

    Raises NotFound and Conflict (already replayed, or closed with another reason).
    """
    row = await uow.fetch_row(_LOCK, dead_letter_id)
    if row is None:
        raise NotFound
    if row["replayed_at"] is not None:
        raise AlreadyReplayed
    if row["closed_at"] is not None:
        return await find_repeated_closure(uow, dead_letter_id, reason)
    closure = await record_closure(uow, dead_letter_id, row["queue"], row["event_type"], by, reason)
    await uow.execute(_MARK_CLOSED, dead_letter_id, closure.closed_at)
    _clear_alert(uow, dead_letter_id, row["queue"], "the dead letter was closed")
    return closure


async def find_repeated_closure(uow: UnitOfWork, dead_letter_id: UUID, reason: str) -> Closure:
    """Return the closure of a closed dead letter. Raises AlreadyClosed when its reason is another one."""
    row = await uow.fetch_row(_FIND_CLOSURE, dead_letter_id)
    if row is None or row["reason"] != reason:
        raise AlreadyClosed
    return Closure(**row)


async def record_closure(
    uow: UnitOfWork,
    dead_letter_id: UUID,
    queue: str,
    event_type: str,
    by: UUID,
    reason: str,
    at: datetime | None = None,
) -> Closure:
    """Append the closure to the audit trail, in the transaction that resolves the locked dead letter.

    `at` is a time of the service's clock; without it the database's clock counts.
    """
    closed_at = await uow.fetch_value(_RECORD_CLOSURE, dead_letter_id, queue, event_type, by, reason, at)
    return Closure(by, reason, closed_at)


def _clear_alert(uow: UnitOfWork, dead_letter_id: UUID, queue: str, reason: str) -> None:
    Alerts(queue.partition(".")[0]).clear_alert(uow, _alert_key(dead_letter_id), reason)


def _alert_key(dead_letter_id: UUID) -> str:
    return f"dead-letter:{dead_letter_id}"
