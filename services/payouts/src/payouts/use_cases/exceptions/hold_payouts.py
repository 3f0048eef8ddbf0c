"""Open an exception for each payout that waits for valid bank details, and close it when the payout is sent."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from common.database.unit_of_work import UnitOfWork
from payouts import store
from payouts.domain.dispatch import Candidate, HeldPayout, PlanLine
from payouts.use_cases.exceptions.open_exception import open_exception
from payouts.use_cases.exceptions.resolve_exception import resolve_exception

_DETAIL: Final = (
    "A dispatch skipped this payout: the bank details that it was requested with are not the vendor's verified ones any "
    "more. The vendor sets them again, or cancels the payout and requests another one; finance can quarantine them."
)


async def hold_payouts(
    uow: UnitOfWork, candidates: Sequence[Candidate], lines: Sequence[PlanLine], now: datetime
) -> None:
    """Hold payouts, which must be locked. A repeated skip changes nothing (contract section 8)."""
    known = {candidate.payout_id: candidate for candidate in candidates}
    for line in sorted(lines, key=lambda one: one.payout_id):
        if line.skipped == "bank_details_changed":
            candidate = known[line.payout_id]
            held = HeldPayout(line.payout_id, candidate.vendor_id, line.amount_minor, candidate.number)
            await open_exception(uow, held, "bank_details_changed", _DETAIL, now)
        elif line.skipped is None:
            exception = await store.lock_open_exception(uow, line.payout_id)
            if exception is not None and exception.transfer_id is None:
                await resolve_exception(uow, exception, "The bank details are valid: the payout is sent.", now)
