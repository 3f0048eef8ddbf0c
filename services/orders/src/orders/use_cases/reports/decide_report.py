"""Decide on a report."""

from datetime import datetime
from typing import Final
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from contracts.orders import ProductHidden, VendorSuspensionDecided
from orders.domain.reports import ReportedSubject, ReportOutcome, check_decision
from orders.store import reports, reviews
from orders.use_cases.products.publish_stock_changes import publish_stock_changes

DEFAULT_REASON: Final = "Staff found that it breaks the rules of the market."


async def decide_report(
    uow: UnitOfWork, caller: Caller, report_id: UUID, outcome: ReportOutcome, *, reason: str | None, now: datetime
) -> None:
    """Dismiss the report, hide its subject, or have identity suspend its vendor. A repetition changes nothing.

    Runs as the service; the caller must have been shown to see the report. Raises NotFound and the errors of
    `check_decision`.
    """
    report = await reports.lock_report(uow, report_id)
    if report is None:
        raise NotFound
    if not check_decision(caller, report, outcome):
        return
    await reports.save_decision(uow, report_id, outcome, decided_by=caller.id, now=now)
    because = reason or DEFAULT_REASON
    if outcome == "suspend_vendor":
        uow.publish(
            VendorSuspensionDecided(
                vendor_id=report.subject.vendor_id, report_id=report_id, reason=because, decided_by=caller.id
            )
        )
    elif outcome == "hide":
        await _hide(uow, report.subject, caller.id, because, now)
        if report.subject.kind == "product":
            uow.publish(
                ProductHidden(product_id=report.subject.id, vendor_id=report.subject.vendor_id, report_id=report_id)
            )
    elif report.outcome == "hide":
        await _show(uow, report.subject)


async def _hide(uow: UnitOfWork, subject: ReportedSubject, staff_id: UUID, because: str, now: datetime) -> None:
    if subject.kind == "product":
        publish_stock_changes(uow, await reports.save_hidden_product(uow, subject.id, now, because))
    elif subject.kind == "message":
        await reports.save_hidden_message(uow, subject.id, now, because)
    elif await reviews.lock_review(uow, subject.id) is False:
        await reviews.save_hidden(uow, subject.id, staff_id, because, now)


async def _show(uow: UnitOfWork, subject: ReportedSubject) -> None:
    if subject.kind == "product":
        publish_stock_changes(uow, await reports.save_hidden_product(uow, subject.id, None, None))
    elif subject.kind == "message":
        await reports.save_hidden_message(uow, subject.id, None, None)
    else:
        await reviews.save_shown(uow, subject.id)
