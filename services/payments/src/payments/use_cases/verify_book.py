"""Verify the chain of hashes over the book, and say it aloud when the past was changed."""

from typing import Any, Final

from common.caller import THE_SERVICE
from common.chain import ChainReport, verify_chain
from common.database import Database
from common.ids import new_id
from common.logging import get_logger
from contracts.operations import AlertRaised
from payments.measures import BOOK_BROKEN, BOOK_LENGTH

log = get_logger(__name__)

RUNBOOK: Final = "book-changed"


async def verify_book(database: Database, expected: tuple[int, bytes] | None = None) -> ChainReport:
    """The report; a break raises a SEV-1 alert. `expected` is the length and head of an earlier report."""

    async def fetch(statement: str, *values: Any) -> list[Any]:
        # A unit of work for each page: a walk of minutes holds no snapshot.
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            return await uow.fetch(statement, *values)

    report = await verify_chain(fetch, expected)
    BOOK_BROKEN.set(report.broken is not None)
    BOOK_LENGTH.set(report.length)
    # The log is kept outside of the database: the head there convicts whoever rewrites the whole chain.
    log.info("book verified", length=report.length, head=report.head.hex(), broken=str(report.broken or ""))
    if report.broken is not None:
        await _alert(database, report)
    return report


async def _alert(database: Database, report: ChainReport) -> None:
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        uow.publish(
            AlertRaised(
                alert_id=new_id(),
                severity="SEV-1",
                title="The ledger's past does not match its chain",
                detail=f"payments, {report.length} links, {report.head.hex()}: {report.broken}",
                runbook=RUNBOOK,
                dedup_key=f"book-changed:payments:{report.broken}",
                about="payments",
            ),
            source="payments",
        )
