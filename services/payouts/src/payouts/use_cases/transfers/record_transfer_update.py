"""Process a signed transfer webhook."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from payouts.domain.errors import TransferNotRecorded
from payouts.domain.transfer_updates import TransferUpdate
from payouts.domain.transitions import Verdict
from payouts.store import transfers
from payouts.use_cases.transfers.steps import record_update


async def record_transfer_update(uow: UnitOfWork, reference: str, update: TransferUpdate, now: datetime) -> Verdict:
    """Find the attempt by its reference, which is recorded before any call. Raises TransferNotRecorded."""
    transfer = await transfers.lock_transfer(uow, reference)
    if transfer is None:
        raise TransferNotRecorded(reference)
    return await record_update(uow, transfer, update, now)
