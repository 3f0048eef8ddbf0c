"""SQL for what decides on a submission of a transfer. No decision is made here."""

from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from payouts.domain.dispatch import Candidate
from payouts.domain.gateway_faults import key_alert
from payouts.domain.transfer_updates import LockedTransfer
from payouts.store.found_transfers import IS_COMPARED
from payouts.store.payouts import CANDIDATE_COLUMNS, WITH_DETAILS, candidate_of
from payouts.store.transfers import TRANSFER_COLUMNS, locked_transfer_of

_READ: Final = f"""
SELECT {TRANSFER_COLUMNS}, {CANDIDATE_COLUMNS}, ({IS_COMPARED}) AS is_compared,
       EXISTS (SELECT FROM standing_alerts WHERE dedup_key = $3 || t.gateway) AS is_key_rejected
{WITH_DETAILS} JOIN payout_transfers AS t ON t.payout_id = p.id WHERE t.id = $1
"""


class SubmissionFacts(NamedTuple):
    """A locked transfer, and its payout as a plan sees it: `waiting` until its vendor's credits are checked.

    `is_compared`: all transfers since a restore of the database are recorded. `is_key_rejected`: the alert of the
    transfer's gateway is open.
    """

    transfer: LockedTransfer
    candidate: Candidate
    is_compared: bool
    is_key_rejected: bool


async def read_submission(uow: UnitOfWork, transfer_id: UUID, now: datetime) -> SubmissionFacts:
    """Return the facts of a transfer that the transaction has locked in an earlier statement."""
    row = await uow.fetch_row(_READ, transfer_id, now, key_alert(""))
    if row is None:
        raise AssertionError("a transfer is never removed")
    candidate = candidate_of(row, "waiting")
    return SubmissionFacts(locked_transfer_of(row), candidate, bool(row["is_compared"]), row["is_key_rejected"])
