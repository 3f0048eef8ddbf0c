"""The inputs of a run: messages, commands, and which messages each transaction of a database consumed.

Nothing of a posting is recorded except its id, which places it between the inputs.
"""

import re
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID
from weakref import WeakKeyDictionary

import asyncpg
import msgspec

from lab.stepped.effects import CURRENT

_INBOX: Final = "; INSERT INTO inbox (event_id, consumer) VALUES"
_INBOX_EVENT: Final = re.compile(r"\('([0-9a-f-]{36})', ")
# Of a message whose only write contains its inbox row, and commits itself.
_WRITTEN_ONCE: Final = "received AS (INSERT INTO inbox"
# A posting, also as a part of a larger statement: its id is the value of the first place.
_POST: Final = re.compile(r"ledger_post\(\$(?P<place>\d+)")
# Of messages that are partly new.
_NEW_OF_INBOX: Final = "FROM inbox"
# The read of a lost chargeback: which refunds of its charge were not sent yet.
_UNSENT_REFUNDS: Final = re.compile(
    r"SELECT id, amount_minor, order_id FROM refunds\s+WHERE charge_id = \$1 AND status = ANY"
)
# The read of a refund to the balance: whether a chargeback of its order is open.
_OPEN_CHARGEBACK: Final = re.compile(r"FROM chargebacks WHERE order_id = \$1 AND status = 'opened'")
# The events from which a ledger's content follows.
EVENT_TYPES: Final = frozenset(
    {
        "identity.user_provisioned.v1",
        "orders.order_placed.v1",
        "orders.order_delivered.v1",
        "orders.order_disputed.v1",
        "orders.dispute_resolved.v1",
        "orders.refund_requested.v1",
        "payments.escrow_held.v1",
        "payments.escrow_released.v1",
        "payments.escrow_refunded.v1",
        "payments.charge_disputed.v1",
    }
)


class RecordedEvent(msgspec.Struct, frozen=True):
    """An event as it was published. Amounts in `data` are in kobo."""

    id: UUID
    type: str
    subject: str
    sequence: int
    data: dict[str, Any]

    def __str__(self) -> str:
        return f"event {self.type} {self.id}"


class _Head(msgspec.Struct):
    """The type of a message; a work item has none of an event."""

    type: str = ""


@dataclass(frozen=True, slots=True)
class Command:
    """A request of a user, and the data of the response once the API accepted it."""

    path: str
    vendor_id: str
    body: Mapping[str, Any]
    data: Any
    user_id: str = ""


@dataclass(slots=True)
class RecordedUnit:
    """A transaction of a service's database: the events that its inbox accepted, in their order, and the ids of its
    postings.

    `unsent_refunds`: those that a lost chargeback found, oldest first. `disputed`: the orders of which a refund found
    an open chargeback. `request`: the one in flight. `keys`: those of the postings, for the rules.
    `is_certain`: the commit was confirmed.
    """

    event_ids: list[UUID] = field(default_factory=list)
    posting_ids: list[UUID] = field(default_factory=list)
    unsent_refunds: list[UUID] = field(default_factory=list)
    disputed: set[str] = field(default_factory=set)
    request: Command | None = None
    keys: list[str] = field(default_factory=list)
    is_certain: bool = False


class Recording:
    """Records a run from outside the product, in the order of the commits."""

    def __init__(self) -> None:
        self.events: dict[UUID, RecordedEvent] = {}
        self.commands: list[Command] = []
        self.request: Command | None = None
        self.units: dict[str, list[RecordedUnit]] = defaultdict(list)
        self._open: WeakKeyDictionary[asyncpg.Connection, RecordedUnit] = WeakKeyDictionary()

    def record_message(self, body: bytes) -> None:
        """Keep an event that a ledger depends on."""
        if msgspec.json.decode(body, type=_Head).type in EVENT_TYPES:
            event = msgspec.json.decode(body, type=RecordedEvent)
            self.events[event.id] = event

    async def run(
        self, connection: asyncpg.Connection, statement: str, values: Sequence[Any], run: Callable[[], Awaitable[Any]]
    ) -> Any:
        """Run a statement, and record what it accepts, posts or commits."""
        if statement.endswith("COMMIT"):
            return await self._commit(connection, run)
        if statement == "ROLLBACK":
            self._open.pop(connection, None)
        if _WRITTEN_ONCE in statement:
            return await self._write_once(values, run)
        result = await run()
        if _INBOX in statement:
            # The status names the number of new messages: `INSERT 0 2`.
            event_ids = [UUID(event_id) for event_id in _INBOX_EVENT.findall(statement)]
            if int(result.rpartition(" ")[2]) == len(event_ids):
                self._unit(connection).event_ids += dict.fromkeys(event_ids)
        elif _NEW_OF_INBOX in statement:
            new = {row["event_id"] for row in result}
            self._unit(connection).event_ids += [event_id for event_id in dict.fromkeys(values[0]) if event_id in new]
        elif (posted := _POST.search(statement)) and _is_posted(result):
            self._unit(connection).posting_ids.append(values[int(posted["place"]) - 1])
        elif _UNSENT_REFUNDS.search(statement):
            self._unit(connection).unsent_refunds += [row["id"] for row in result]
        elif result is True and _OPEN_CHARGEBACK.search(statement):
            self._unit(connection).disputed.add(str(values[0]))
        return result

    async def _commit(self, connection: asyncpg.Connection, run: Callable[[], Awaitable[Any]]) -> Any:
        """Record the order of commits: of two that conflict, the second is sent after the first has ended."""
        unit = self._open.pop(connection, None)
        process = CURRENT.get()
        if unit is None or process is None:
            return await run()
        unit.request = self.request
        # The name of a process is that of its service, and its role.
        self.units[process.name.rpartition("-")[0]].append(unit)
        result = await run()
        unit.is_certain = True
        return result

    async def _write_once(self, values: Sequence[Any], run: Callable[[], Awaitable[Any]]) -> Any:
        """Record a statement that commits itself, when it ends: it waits for the locks of earlier commits."""
        process = CURRENT.get()
        # The ids of the events are the first value.
        unit = RecordedUnit(list(dict.fromkeys(values[0])))
        try:
            result = await run()
            unit.is_certain = True
        except asyncpg.PostgresError:
            # Nothing was written.
            process = None
            raise
        finally:
            if process is not None:
                self.units[process.name.rpartition("-")[0]].append(unit)
        return result

    def _unit(self, connection: asyncpg.Connection) -> RecordedUnit:
        return self._open.setdefault(connection, RecordedUnit())


def _is_posted(result: Any) -> bool:
    """Return whether a posting is new, by the value of its statement or by the column of its row."""
    if isinstance(result, list):
        return bool(result) and _is_posted(result[0])
    return bool(result["is_posted"] if isinstance(result, asyncpg.Record | dict) else result)
