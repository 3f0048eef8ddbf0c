"""Post the gateway's fee of a transfer that pays a refund."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.ledger import posting as ledger
from common.primitives.ids import new_id
from payments.domain import postings
from payments.domain.refunds import RefundUpdate, fee_to_post
from payments.store import refund_attempts


async def record_transfer_fee(uow: UnitOfWork, attempt_id: UUID, update: RefundUpdate, *, is_queried: bool) -> bool:
    """Return whether the fee is new or another one. The refund is locked, which orders the reports about its
    attempts.
    """
    booked_minor = await refund_attempts.find_transfer_fee(uow, attempt_id)
    fee_minor = fee_to_post(update, booked_minor, is_queried=is_queried)
    if fee_minor is None:
        return False
    await refund_attempts.save_transfer_fee(uow, attempt_id, fee_minor)
    key = f"transfer_fee:{attempt_id}"
    if booked_minor is not None:
        key = f"{key}:{new_id()}"
    added_minor = fee_minor - (booked_minor or 0)
    if added_minor:
        await ledger.post(uow, postings.transfer_fee(key, added_minor))
    return True
