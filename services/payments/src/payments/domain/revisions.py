"""Revised webhooks (contract section 9.2): the gateway is queried instead of processing other content under a recorded
key.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

from payments.domain.refunds import next_poll_after
from payments.domain.webhooks import Arrival, content_hash_of, read_body

SubjectKind = Literal["charge", "transfer", "refund", "dispute"]

# The start of the keys of responses.
_RESPONSE: Final = "answer:"
# Enough to see how a gateway revises an event; further revisions of a key are only counted.
REVISIONS_STORED_MAX: Final = 10
# The minimum time between two queries of one key.
QUERY_AGAIN_AFTER: Final = timedelta(seconds=30)
# An alert names the first differing fields of a body.
_FIELDS_NAMED_MAX: Final = 8


@dataclass(frozen=True, slots=True)
class GatewaySubject:
    """A charge by its reference or its identity, a transfer by its reference, a refund or dispute by its id at the
    gateway.
    """

    kind: SubjectKind
    key: str


@dataclass(frozen=True, slots=True)
class QueriedEvent:
    """The present state of a subject as the webhook of its event. `key` is the subject's id at the gateway.

    `moved_money` for a paid charge and a refund that was paid out.
    """

    event_type: str
    key: str
    raw: bytes
    moved_money: bool

    @property
    def arrival(self) -> Arrival:
        """The key of the response: distinct from every webhook's, and for each content."""
        return Arrival(f"{_RESPONSE}{self.event_type}:{self.key}:{content_hash_of(self.raw).hex()}", self.event_type)


def is_gateway_response(webhook_id: str) -> bool:
    """Return whether the row is the gateway's response to a query, and not a webhook."""
    return webhook_id.startswith(_RESPONSE)


def next_query_at(now: datetime, queried_at: datetime | None, due_at: datetime | None) -> datetime:
    """Return the time of the query about a key that was revised at `now`; an earlier due query stays."""
    earliest = now if queried_at is None else max(now, queried_at + QUERY_AGAIN_AFTER)
    return earliest if due_at is None else min(earliest, due_at)


def query_again_at(now: datetime, queries: int) -> datetime:
    """Return the time of the next query after one without a response, with growing delays."""
    return now + next_poll_after(queries)


def changed_fields(first: bytes, other: bytes) -> list[str]:
    """Return the paths of at most eight differing fields; never the values, which may be personal."""
    paths: list[str] = []
    for path in _differences("", read_body(first), read_body(other)):
        if len(paths) == _FIELDS_NAMED_MAX:
            return [*paths, "..."]
        paths.append(path or "the body")
    return paths


def _differences(path: str, first: object, other: object) -> Iterator[str]:
    """Compare objects by field down to the second level, and deeper values as a whole."""
    if isinstance(first, dict) and isinstance(other, dict) and path.count(".") < 2:
        for name in sorted(first.keys() | other.keys()):
            inner = f"{path}.{name}" if path else name
            yield from _differences(inner[:80], first.get(name), other.get(name))
    elif type(first) is not type(other) or json.dumps(first, sort_keys=True) != json.dumps(other, sort_keys=True):
        yield path
