"""Unfreeze a disputed order's escrow by the dispute's resolution."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.observability.logging import get_logger
from payments.domain.identifiers import resolution_release_id
from payments.store import chargebacks
from payments.store.escrow import save_dispute
from payments.use_cases.escrow.steps import lock_disputed_escrow, release_escrow

log = get_logger(__name__)


async def unfreeze_escrow(uow: UnitOfWork, order_id: UUID, sequence: int, release_minor: int, now: datetime) -> bool:
    """Unfreeze, and release `release_minor` kobo to the vendor; False for a late event. Raises SubjectUnknown.

    Less may be locked, when staff released a part before the freeze and orders resolved without knowing of it. The rest
    is released then: the vendor ends with the intended amount.
    """
    held = await lock_disputed_escrow(uow, order_id, sequence)
    if held is None:
        return False
    await save_dispute(uow, order_id, None, sequence)
    is_release = release_minor > 0
    locked_minor = held.escrow.locked.total_minor
    if release_minor > locked_minor:
        log.warning(
            "resolution exceeds the locked escrow, releasing the rest",
            order_id=str(order_id),
            release_minor=release_minor,
            locked_minor=locked_minor,
        )
        release_minor = locked_minor
    if release_minor or (is_release and await chargebacks.was_charged_back(uow, order_id)):
        release_id = resolution_release_id(order_id, sequence)
        await release_escrow(uow, held, release_id, release_minor, "resolution", now)
    return True
