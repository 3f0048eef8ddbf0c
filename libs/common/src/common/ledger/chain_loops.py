"""The verification of a ledger's hash chain: links are added by a loop of the worker, and verified once a day and by command.

A past that was changed is said aloud: a SEV-1 alert, and a gauge that stays at 1.
"""

import sys
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final

from prometheus_client import Gauge

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from common.ledger.hash_chain import LINKS_PER_BATCH, ChainReport, count_unlinked, extend_chain_once, verify_chain
from common.observability.logging import get_logger
from common.primitives.clock import Clock
from common.primitives.ids import new_id
from common.process.loops import Loop
from contracts.operations import AlertRaised

log = get_logger(__name__)

RUNBOOK: Final = "ledger-changed"
# Well within the minute after which the verification misses a link.
EXTEND_EVERY_SECONDS: Final = 2.0
# How often a daily run looks whether it is due: a process that died in the middle of one is replaced within the hour.
CHECK_EVERY_SECONDS: Final = 600.0
DAILY: Final = timedelta(days=1)
RUN_LEASE: Final = timedelta(hours=1)

_CLAIM_VERIFICATION: Final = """
UPDATE ledger_chain SET verify_at = $2 WHERE verify_at IS NULL OR verify_at <= $1 RETURNING true
"""
_SAVE_VERIFICATION: Final = "UPDATE ledger_chain SET verify_at = $1"


class LedgerChain:
    """The book of one service. One for each process: it owns the gauges `<service>_book_unsealed`, `_length` and `_broken`."""

    def __init__(self, service: str) -> None:
        self._service = service
        self._unlinked = Gauge(f"{service}_book_unsealed", "Postings that wait for their link in the chain of hashes.")
        self._length = Gauge(f"{service}_book_length", "Links of the chain when it was verified last.")
        self._broken = Gauge(f"{service}_book_broken", "1 when the last verification found the book changed, else 0.")

    def loops(self, database: Database, clock: Clock) -> Sequence[Loop]:
        """What a worker does for the book."""
        return [
            Loop("seal the book", lambda: self.extend(database), EXTEND_EVERY_SECONDS),
            Loop("verify the book", lambda: self.verify_when_due(database, clock), CHECK_EVERY_SECONDS),
        ]

    async def extend(self, database: Database) -> int:
        """Gives every committed posting its link in the chain of hashes; tells how many."""
        linked = 0
        while (piece := await extend_chain_once(database)) > 0:
            linked += piece
            if piece < LINKS_PER_BATCH:
                break
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            self._unlinked.set(await count_unlinked(uow.fetch))
        return linked

    async def verify_when_due(self, database: Database, clock: Clock) -> bool:
        """Once a day, by one of the workers: whether this call walked the chain."""
        now = clock.now()
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            if not await uow.fetch_value(_CLAIM_VERIFICATION, now, now + RUN_LEASE):
                return False
        await self.verify(database)
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            await uow.execute(_SAVE_VERIFICATION, now + DAILY)
        return True

    async def verify(self, database: Database, expected: tuple[int, bytes] | None = None) -> ChainReport:
        """The report; a break raises a SEV-1 alert. `expected` is the length and head of an earlier report."""

        async def fetch(statement: str, *values: Any) -> list[Any]:
            # A unit of work for each page: a walk of minutes holds no snapshot.
            async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
                return await uow.fetch(statement, *values)

        report = await verify_chain(fetch, expected)
        self._broken.set(report.broken is not None)
        self._length.set(report.length)
        # The log is kept outside of the database: the head there convicts whoever rewrites the whole chain.
        log.info("book verified", length=report.length, head=report.head.hex(), broken=str(report.broken or ""))
        if report.broken is not None:
            await self._alert(database, report)
        return report

    async def verify_by_command(self, database: Database, *earlier: str) -> None:
        """`verify-book [<length> <head>]`: prints what the walk found; ends with status 1 and names the first broken row.

        With the length and head of an earlier report, that link must still be the same.
        """
        expected = None
        if earlier:
            try:
                length, head = earlier
                expected = (int(length), bytes.fromhex(head))
            except ValueError:
                sys.exit("verify-book: expected nothing, or the length and the head of an earlier report")
        report = await self.verify(database, expected)
        sys.stdout.write(f"{report.length} {report.head.hex()}\n")
        if report.broken is not None:
            sys.exit(f"The book was changed: {report.broken}")

    async def _alert(self, database: Database, report: ChainReport) -> None:
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            uow.publish(
                AlertRaised(
                    alert_id=new_id(),
                    severity="SEV-1",
                    title="The ledger's past does not match its chain",
                    detail=f"{self._service}, {report.length} links, {report.head.hex()}: {report.broken}",
                    runbook=RUNBOOK,
                    dedup_key=f"ledger-changed:{self._service}:{report.broken}",
                    about=self._service,
                ),
                source=self._service,
            )
