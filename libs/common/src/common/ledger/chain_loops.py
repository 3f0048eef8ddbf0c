"""The maintenance of a ledger's hash chain: a loop of the worker adds links; a daily run and a command verify them.

A changed past raises a SEV-1 alert, and sets a gauge to 1.
"""

import sys
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

import asyncpg
from prometheus_client import Gauge

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from common.ledger.hash_chain import LINKS_PER_BATCH, ChainReport, count_unlinked, extend_chain_once, verify_chain
from common.messaging.alerts import Alerts
from common.observability.logging import get_logger
from common.primitives.clock import Clock
from common.process.loops import Loop

log = get_logger(__name__)

RUNBOOK: Final = "ledger-changed"
# Well within the minute after which the verification misses a link.
EXTEND_EVERY_SECONDS: Final = 2.0
EXTEND_IDLE_SECONDS: Final = 4.0
# The interval of the check whether the daily run is due. After a crash another process repeats the run within the hour.
CHECK_EVERY_SECONDS: Final = 600.0
DAILY: Final = timedelta(days=1)
RUN_LEASE: Final = timedelta(hours=1)

_CLAIM_VERIFICATION: Final = """
UPDATE ledger_chain SET verify_at = $2 WHERE verify_at IS NULL OR verify_at <= $1 RETURNING true
"""
_SAVE_VERIFICATION: Final = "UPDATE ledger_chain SET verify_at = $1"


class LedgerChain:
    """The hash chain of one service, one per process: owns the gauges `<service>_book_unsealed`, `_length` and
    `_broken`.
    """

    def __init__(self, service: str) -> None:
        self._service = service
        self._unlinked = Gauge(f"{service}_book_unsealed", "Postings that wait for their link in the hash chain.")
        self._length = Gauge(f"{service}_book_length", "Links of the hash chain at its last verification.")
        self._broken = Gauge(f"{service}_book_broken", "1 when the last verification found a changed ledger, else 0.")

    def loops(self, database: Database, clock: Clock) -> Sequence[Loop]:
        """Return the background loops of a worker for the hash chain."""
        return [
            Loop("link-postings", lambda: self.extend(database), EXTEND_EVERY_SECONDS, EXTEND_IDLE_SECONDS),
            Loop("verify-hash-chain", lambda: self.verify_when_due(database, clock), CHECK_EVERY_SECONDS),
        ]

    async def extend(self, database: Database) -> int:
        """Add the links of all committed postings, and returns their number."""
        linked = 0
        while (piece := await extend_chain_once(database)) > 0:
            linked += piece
            if piece < LINKS_PER_BATCH:
                break
        self._unlinked.set(await count_unlinked(database.reads_for(THE_SERVICE).fetch))
        return linked

    async def verify_when_due(self, database: Database, clock: Clock) -> bool:
        """Verify the chain once a day in one of the workers. Returns whether this call verified it."""
        now = clock.now()
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            if not await uow.fetch_value(_CLAIM_VERIFICATION, now, now + RUN_LEASE):
                return False
        await self.verify(database)
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            await uow.execute(_SAVE_VERIFICATION, now + DAILY)
        return True

    async def verify(self, database: Database, expected: tuple[int, bytes] | None = None) -> ChainReport:
        """Verify the chain; a break raises a SEV-1 alert. `expected` is the length and head of an earlier report."""

        async def fetch(statement: str, *values: object) -> list[asyncpg.Record]:
            # One transaction per page, so that a verification of minutes holds no snapshot.
            return await database.fetch_for(THE_SERVICE, statement, *values)

        report = await verify_chain(fetch, expected)
        self._broken.set(report.broken is not None)
        self._length.set(report.length)
        # The log is stored outside the database: its head reveals a rewrite of the whole chain.
        log.info("ledger verified", length=report.length, head=report.head.hex(), broken=str(report.broken or ""))
        if report.broken is not None:
            await self._alert(database, report)
        return report

    async def verify_by_command(self, database: Database, *earlier: str) -> None:
        """`verify-ledger [<length> <head>]`: prints length and head; exits with status 1 and names the first broken
        row.

        With the length and head of an earlier report, that link must be unchanged.
        """
        expected = None
        if earlier:
            try:
                length, head = earlier
                expected = (int(length), bytes.fromhex(head))
            except ValueError:
                sys.exit("verify-ledger: expected nothing, or the length and the head of an earlier report")
        report = await self.verify(database, expected)
        sys.stdout.write(f"{report.length} {report.head.hex()}\n")
        if report.broken is not None:
            sys.exit(f"The ledger was changed: {report.broken}. See docs/runbooks/{RUNBOOK}.md.")

    async def _alert(self, database: Database, report: ChainReport) -> None:
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            Alerts(self._service).raise_alert(
                uow,
                "SEV-1",
                "The ledger's past does not match its chain",
                f"{self._service}, {report.length} links, {report.head.hex()}: {report.broken}",
                runbook=RUNBOOK,
                key=f"ledger-changed:{self._service}:{report.broken}",
                about=self._service,
            )
