"""Compare both ledgers with the postings that the recorded inputs demand. The audit verifies their hash chains."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final
from uuid import UUID

import asyncpg

from lab.replay.gateway import GatewayRecord
from lab.replay.payments import PaymentsIds, PaymentsLedger
from lab.replay.payouts import PayoutsIds, PayoutsLedger
from lab.replay.postings import NAIRA, DerivedPosting, NoInput, Rules
from lab.replay.recording import RecordedEvent, RecordedUnit, Recording

_TRANSACTIONS: Final = """
SELECT t.id, t.position, t.type, t.posting_key, t.currency::text AS currency,
       array_agg(e.account) AS accounts, array_agg(e.amount_minor) AS amounts, array_agg(e.currency::text) AS currencies
FROM ledger_transactions t LEFT JOIN ledger_entries e ON e.transaction_id = t.id
WHERE t.position > $1 GROUP BY t.id ORDER BY t.position
"""
_CONSUMED: Final = "SELECT EXISTS (SELECT FROM inbox WHERE event_id = ANY ($1))"
# What random ids belong to: no amount, and no account of the ledger.
_REFUNDS: Final = "SELECT attempt_id, id FROM refunds UNION ALL SELECT id, refund_id FROM failed_refund_attempts"
_DISPUTES: Final = "SELECT id, identity FROM chargebacks"
_RELEASES: Final = "SELECT id, order_id FROM releases WHERE cause = 'staff'"
_QUARANTINED: Final = "SELECT q.id, c.identity FROM quarantined_charges q JOIN charges c ON c.id = q.charge_id"
_NAMED_ORDERS: Final = """
SELECT r.reference, string_agg(named.order_id::text, ',' ORDER BY named.position)
FROM payment_references r JOIN intent_orders named ON named.intent_id = r.intent_id GROUP BY r.reference
"""
_INTENTS: Final = "SELECT reference, intent_id FROM payment_references"
_ORDERS: Final = """
SELECT i.id, coalesce(string_agg(named.order_id::text, ',' ORDER BY named.position), i.order_id::text)
FROM payment_intents i LEFT JOIN intent_orders named ON named.intent_id = i.id GROUP BY i.id
"""
_ACCOUNTS: Final = "SELECT reference, transfer_account_number FROM payment_intents WHERE transfer_amount_minor > 0"
_OF_PAYMENTS: Final = (
    _REFUNDS,
    _DISPUTES,
    _RELEASES,
    _QUARANTINED,
    _NAMED_ORDERS,
    _INTENTS,
    _ORDERS,
    _ACCOUNTS,
)
_TRANSFERS: Final = "SELECT id, payout_id FROM payout_transfers"
_REFERENCES: Final = "SELECT id, reference FROM payout_transfers"
_HOLDS: Final = "SELECT id, payout_id FROM transfer_holds"


class _Replayed:
    """One ledger, replayed so far: the keys of its derived postings."""

    def __init__(self, ledger: Rules, connection: asyncpg.Connection) -> None:
        self.ledger, self.connection = ledger, connection
        self.units = 0
        self.position = 0
        self.keys: set[str] = set()
        self.types: Counter[str] = Counter()
        self.reported: set[str] = set()

    async def advance(self, recording: Recording) -> list[str]:
        """Replay what was committed since the last call. Returns the mismatches, the first one first."""
        rows = {row["id"]: row for row in await self.connection.fetch(_TRANSACTIONS, self.position)}
        self.position = max([self.position, *(row["position"] for row in rows.values())])
        mismatches: list[str] = []
        units = recording.units[self.ledger.name]
        for unit in units[self.units :]:
            if unit.is_certain or await self._is_committed(unit, rows):
                mismatches += self._replay(unit, recording.events, rows)
        self.units = len(units)
        mismatches += [f"{_name(row)} was written by no recorded transaction of the service" for row in rows.values()]
        for source, keys in self.ledger.due():
            if not self.keys.intersection(keys):
                mismatches.append(f"{source} has no posting {' or '.join(keys[:3])}")
        mismatches += self.ledger.unposted()
        new = [f"{self.ledger.name}: {text}" for text in mismatches if text not in self.reported]
        self.reported |= set(mismatches)
        return new

    def _replay(
        self, unit: RecordedUnit, events: Mapping[UUID, RecordedEvent], rows: dict[UUID, asyncpg.Record]
    ) -> list[str]:
        """Derive the postings of one transaction of the service, and compare them with those that the ledger has."""
        expected: dict[str, DerivedPosting] = {}
        mismatches: list[str] = []
        unit.keys = [rows[posting_id]["posting_key"] for posting_id in unit.posting_ids if posting_id in rows]
        self.ledger.unit = unit
        for event_id in unit.event_ids:
            if (event := events.get(event_id)) is None:
                continue
            try:
                expected |= {posting.key: posting for posting in self.ledger.of_event(event)}
            except NoInput as absent:
                mismatches.append(f"{event} was consumed: {absent}")
        for posting_id in unit.posting_ids:
            if (row := rows.pop(posting_id, None)) is None:
                mismatches.append(f"transaction {posting_id} was posted and is not in the ledger")
                continue
            posting = expected.pop(row["posting_key"], None)
            if posting is None:
                try:
                    posting = self.ledger.of_key(row["posting_key"], unit)
                except NoInput as absent:
                    mismatches.append(f"{_name(row)}: {absent}")
                    continue
            self.keys.add(posting.key)
            self.types[posting.type] += 1
            if (difference := _difference(row, posting)) is not None:
                mismatches.append(difference)
        return mismatches + [
            f"{posting.source} demands {posting.key}, {dict(posting.entries)}: it is not in the ledger"
            for posting in expected.values()
        ]

    async def _is_committed(self, unit: RecordedUnit, rows: Mapping[UUID, asyncpg.Record]) -> bool:
        """Return whether a commit without a response took effect."""
        if not unit.event_ids:
            return any(posting_id in rows for posting_id in unit.posting_ids)
        return bool(await self.connection.fetchval(_CONSUMED, unit.event_ids))


class Replay:
    """Checks a system against its recording. Each `check` replays what has happened since the one before."""

    def __init__(
        self, databases: Mapping[str, asyncpg.Connection], gateway: GatewayRecord, recording: Recording
    ) -> None:
        self._gateway, self._recording = gateway, recording
        self._payments = PaymentsLedger(gateway, recording.commands)
        self._payouts = PayoutsLedger(gateway, recording.commands)
        ledgers: Sequence[Rules] = (self._payments, self._payouts)
        self._replayed = [_Replayed(ledger, databases[ledger.name]) for ledger in ledgers]

    async def check(self) -> list[str]:
        """Return the mismatches between inputs and ledgers since the last check."""
        await self._gateway.read()
        payments, payouts = (replayed.connection for replayed in self._replayed)
        self._payments.ids = PaymentsIds(*[await _pairs(payments, of) for of in _OF_PAYMENTS])
        self._payouts.ids = PayoutsIds(*[await _pairs(payouts, of) for of in (_TRANSFERS, _REFERENCES, _HOLDS)])
        return [text for replayed in self._replayed for text in await replayed.advance(self._recording)]

    @property
    def line(self) -> str:
        """The number of derived transactions of each ledger, by type."""
        return "\n".join(
            f"{one.ledger.name}: {one.types.total()} transactions rebuilt: "
            + ", ".join(f"{count} {kind}" for kind, count in sorted(one.types.items()))
            for one in self._replayed
        )


async def _pairs(connection: asyncpg.Connection, statement: str) -> dict[str, str]:
    return {str(key): str(value) for key, value in await connection.fetch(statement)}


def _name(row: asyncpg.Record) -> str:
    return f"transaction {row['id']} ({row['posting_key']})"


def _difference(row: asyncpg.Record, posting: DerivedPosting) -> str | None:
    recorded = sorted(zip(row["accounts"], row["amounts"], row["currencies"], strict=True))
    expected = sorted((account, amount_minor, NAIRA) for account, amount_minor in posting.entries.items())
    if (row["posting_key"], row["type"], row["currency"], recorded) == (posting.key, posting.type, NAIRA, expected):
        return None
    return (
        f"{_name(row)}: {posting.source} demands {posting.key}, {posting.type}, {dict(posting.entries)}; "
        f"the ledger has {row['type']}, {[entry[:2] for entry in recorded]}"
    )
