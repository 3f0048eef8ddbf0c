"""Request a vendor's scheduled payout."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from payouts.domain.schedules import DueSchedule, SkippedReason, due_after, latest_due, period_of, skip_reason
from payouts.store import schedules, wallets
from payouts.use_cases.payouts.steps import request_from_wallet


async def request_scheduled_payout(uow: UnitOfWork, minimum_minor: int, now: datetime) -> bool:
    """Decides one due period: requests all that is available, or records why not. False when none is due.

    Payout, decision and next due time commit together: after a worker's crash another decides all of it.
    """
    due = await schedules.claim_due_schedule(uow, now)
    if due is None:
        return False
    due_at = latest_due(due.schedule, due.due_at, now)
    # A schedule that was removed and set again on the same day finds that day decided.
    if not await schedules.period_is_decided(uow, due.vendor_id, period_of(due_at)):
        await _decide(uow, due, due_at, max(minimum_minor, due.schedule.minimum_minor or 1), now)
    await schedules.save_next_due(uow, due.vendor_id, due_after(due.schedule, now))
    return True


async def _decide(uow: UnitOfWork, due: DueSchedule, due_at: datetime, minimum_minor: int, now: datetime) -> None:
    wallet = await wallets.lock_wallet(uow, due.vendor_id)
    skipped: SkippedReason | None = skip_reason(wallet, minimum_minor)
    available_minor = wallet.available_minor
    decided = skipped or await request_from_wallet(
        uow, due.vendor_id, available_minor, due.changed_by, now, minimum_minor=minimum_minor
    )
    await schedules.record_decision(uow, due.vendor_id, period_of(due_at), decided, available_minor, due_at, now)
