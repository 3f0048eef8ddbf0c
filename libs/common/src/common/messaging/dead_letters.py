"""Stored dead letters: messages that failed the last retry are stored in the service's database, alerted, and resolved.

Staff resolve a dead letter by a replay, or close it with a reason: two of them where money is concerned (decision 187).
A message with an unproven publisher is stored as evidence and never replayed: a replay would have the service's own
account. A replayed message names its first dead letter in a header, so that the alert stays one until its effect.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database, UnitOfWork
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
# Of a message that is delivered as a replay: the id of its first dead letter, the key of its alert.
DEAD_LETTER_HEADER: Final = "x-dead-letter"
# By its id, else the newest open one of the event.
_LOCK: Final = f"""
SELECT id, queue, event_id, event_type, body, replayed_at, closed_at, headers ? '{_UNPROVEN_HEADER}' AS is_unproven,
       coalesce((headers ->> '{DEAD_LETTER_HEADER}')::uuid, id) AS first_id
FROM dead_letters WHERE id = $1 OR event_id = $1
ORDER BY (id = $1) DESC, (resolved_at IS NULL) DESC, failed_at DESC, id DESC LIMIT 1 FOR UPDATE
"""
_MARK_REPLAYED: Final = "UPDATE dead_letters SET replayed_at = now() WHERE id = $1"
_MARK_CLOSED: Final = "UPDATE dead_letters SET closed_at = $2 WHERE id = $1"
_FIND_CLOSURE: Final = "SELECT closed_by, reason, closed_at FROM dead_letter_closures WHERE dead_letter_id = $1"
_RECORD_CLOSURE: Final = """
INSERT INTO dead_letter_closures (dead_letter_id, queue, event_type, closed_by, reason, closed_at)
VALUES ($1, $2, $3, $4, $5, coalesce($6, now())) RETURNING closed_at
"""
_FIND_REQUEST: Final = """
SELECT acted_by AS requested_by, reason, acted_at AS requested_at FROM dead_letter_actions
WHERE dead_letter_id = $1 AND action = 'closure_requested'
"""
_RECORD_ACTION: Final = """
INSERT INTO dead_letter_actions (dead_letter_id, action, queue, event_type, acted_by, reason, acted_at)
VALUES ($1, $2, $3, $4, $5, $6, coalesce($7, now())) RETURNING acted_at
"""
_OPEN_QUEUES: Final = "SELECT DISTINCT queue FROM dead_letters WHERE resolved_at IS NULL"
# A message with an unproven publisher is evidence, and stays until staff close it.
_LIST_EXPIRED: Final = f"""
SELECT id FROM dead_letters
WHERE resolved_at IS NULL AND failed_at <= now() - $1::interval AND queue = ANY ($2)
  AND NOT headers ? '{_UNPROVEN_HEADER}'
ORDER BY failed_at LIMIT 100
"""
_REMOVE_BODY: Final = "UPDATE dead_letters SET body = '' WHERE id = $1"
# The oldest wait for half a year: minutes do not matter.
CLOSE_EXPIRED_EVERY_SECONDS: Final = 600.0
# The author of a closure by retention. Responses show null.
RETENTION_ID: Final = UUID(int=0)
_MONEY_SERVICES: Final = frozenset({"payments", "payouts"})


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


@dataclass(frozen=True, slots=True)
class ClosureRequest:
    """The first person's request to close a dead letter that concerns money. Another person closes it."""

    requested_by: UUID
    reason: str
    requested_at: datetime


@dataclass(frozen=True, slots=True)
class Closable:
    """A locked dead letter that is neither replayed nor closed."""

    id: UUID
    queue: str
    event_type: str


@dataclass(frozen=True, slots=True)
class WebhookReplay:
    """The outcome of a webhook, or of an item of it, after a replay, and whether this call enqueued it."""

    dead_letter_id: UUID
    event_id: str
    outcome: str
    requeued: bool


class AlreadyReplayed(Conflict):
    detail = "This dead letter was already replayed."


class AlreadyClosed(Conflict):
    detail = "This dead letter was closed. It cannot be replayed, or closed with another reason."


class AlreadyRequested(Conflict):
    detail = "You requested this closure with another reason. Another member of staff closes the dead letter."


def concerns_money(queue: str) -> bool:
    """Return whether a message of this queue moves money or decides about it: two people close its dead letter.

    It is so for every queue of payments and payouts, and for the events of theirs that orders receives. Notifications
    only describes them.
    """
    owner, _, publisher = queue.partition(".")
    return owner in _MONEY_SERVICES or (owner == "orders" and publisher in _MONEY_SERVICES)


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
        key=_alert_key(parse_uuid(str(dead_letter.headers.get(DEAD_LETTER_HEADER, ""))) or dead_letter_id),
        about=str(dead_letter_id),
    )
    return dead_letter_id


async def replay_dead_letter(uow: UnitOfWork, bus: Bus, key: UUID, by: UUID) -> UUID:
    """Enqueue the message again as a first attempt, and return its dead letter's id.

    `key` is that id, or the id of the event. The inbox makes a repeated replay harmless. The alert is cleared when the
    message has had its effect; another failure joins it.

    Raises NotFound, Conflict (resolved already, or an unproven publisher) and Unavailable (the broker did not confirm).
    """
    row = await uow.fetch_row(_LOCK, key)
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
    headers = {DEAD_LETTER_HEADER: str(row["first_id"])}
    message = Outgoing(bytes(row["body"]), str(row["event_id"] or row["id"]), row["event_type"], row["queue"], headers)
    if not all(await bus.publish([message])):
        raise Unavailable
    await uow.execute(_MARK_REPLAYED, row["id"])
    await record_replay(uow, Closable(row["id"], row["queue"], row["event_type"]), by)
    dead_letter_id: UUID = row["id"]
    return dead_letter_id


async def record_replay(uow: UnitOfWork, dead: Closable, by: UUID, at: datetime | None = None) -> None:
    """Append the replay to the audit trail, in the transaction that marks the dead letter as replayed."""
    await uow.fetch_value(_RECORD_ACTION, dead.id, "replayed", dead.queue, dead.event_type, by, None, at)


def clear_replayed_alert(uow: UnitOfWork, service: str, first_id: UUID) -> None:
    """Clear the alert of a dead letter whose replay has had its effect."""
    Alerts(service).clear_alert(uow, _alert_key(first_id), "the replayed message was processed")


async def close_dead_letter(
    uow: UnitOfWork, dead_letter_id: UUID, by: UUID, reason: str
) -> tuple[UUID, Closure | ClosureRequest]:
    """Close the dead letter without a replay, or request it where money is concerned; return its id and the result.

    A repetition with the same reason returns the first closure, or the person's own request.
    Raises NotFound and Conflict (already replayed, or closed or requested with another reason).
    """
    row = await uow.fetch_row(_LOCK, dead_letter_id)
    if row is None:
        raise NotFound
    if row["replayed_at"] is not None:
        raise AlreadyReplayed
    if row["closed_at"] is not None:
        return row["id"], await find_repeated_closure(uow, row["id"], reason)
    result = await close_or_request(uow, Closable(row["id"], row["queue"], row["event_type"]), by, reason)
    if isinstance(result, Closure):
        await uow.execute(_MARK_CLOSED, row["id"], result.closed_at)
        cause = reason if by == RETENTION_ID else "the dead letter was closed"
        Alerts(row["queue"].partition(".")[0]).clear_alert(uow, _alert_key(row["first_id"]), cause)
    return row["id"], result


async def close_expired_dead_letters(database: Database, life: timedelta) -> int:
    """Close the dead letters that were not resolved within `life`, and remove their messages; return how many.

    Those that concern money, and forged messages, stay until staff resolve them. One transaction for each.
    """
    queues = [row["queue"] for row in await database.fetch_for(THE_SERVICE, _OPEN_QUEUES)]
    expiring = [queue for queue in queues if not concerns_money(queue)]
    found = await database.fetch_for(THE_SERVICE, _LIST_EXPIRED, life, expiring) if expiring else []
    closed = 0
    for expired in found:
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            row = await uow.fetch_row(_LOCK, expired["id"])
            # Staff may have resolved it meanwhile.
            if row is not None and row["replayed_at"] is None and row["closed_at"] is None:
                await close_dead_letter(uow, expired["id"], RETENTION_ID, reason_of_expiry(life))
                await uow.execute(_REMOVE_BODY, expired["id"])
                closed += 1
    return closed


def reason_of_expiry(life: timedelta) -> str:
    """Return the reason of a closure by retention."""
    return f"Not resolved within {life.days} days: the message was removed without its effect."


async def close_or_request(
    uow: UnitOfWork, dead: Closable, by: UUID, reason: str, at: datetime | None = None
) -> Closure | ClosureRequest:
    """Append the closure to the audit trail, or the request for it where money is concerned and no other
    person requested it.

    It runs in the transaction that resolves the locked dead letter. `at` is a time of the service's clock; without it
    the database's clock counts. Raises AlreadyRequested.
    """
    if concerns_money(dead.queue):
        found = await uow.fetch_row(_FIND_REQUEST, dead.id)
        if found is None:
            requested_at = await uow.fetch_value(
                _RECORD_ACTION, dead.id, "closure_requested", dead.queue, dead.event_type, by, reason, at
            )
            return ClosureRequest(by, reason, requested_at)
        request = ClosureRequest(**found)
        if request.requested_by == by:
            if request.reason != reason:
                raise AlreadyRequested
            return request
    closed_at = await uow.fetch_value(_RECORD_CLOSURE, dead.id, dead.queue, dead.event_type, by, reason, at)
    return Closure(by, reason, closed_at)


async def find_repeated_closure(uow: UnitOfWork, dead_letter_id: UUID, reason: str) -> Closure:
    """Return the closure of a closed dead letter. Raises AlreadyClosed when its reason is another one."""
    row = await uow.fetch_row(_FIND_CLOSURE, dead_letter_id)
    if row is None or row["reason"] != reason:
        raise AlreadyClosed
    return Closure(**row)


def webhook_alert_key(dead_letter_id: UUID) -> str:
    """Return the deduplication key of the alert about a dead webhook; `dead_letter_id` is its first dead letter."""
    return f"dead-letter-webhook:{dead_letter_id}"


def _alert_key(dead_letter_id: UUID) -> str:
    return f"dead-letter:{dead_letter_id}"
