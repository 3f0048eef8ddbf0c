"""Thaw a disputed order's escrow by the resolution."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.observability.logging import get_logger
from payments import store
from payments.domain.identifiers import release_of_resolution
from payments.store import chargebacks
from payments.use_cases.escrow.lock_disputed_escrow import lock_disputed_escrow
from payments.use_cases.escrow.release_escrow import release_escrow

log = get_logger(__name__)


async def unfreeze_escrow(uow: UnitOfWork, order_id: UUID, sequence: int, release_minor: int, now: datetime) -> None:
    """Thaws, and releases what the resolution says, in kobo. Raises SubjectUnknown.

    Less is locked than that when staff released a part before the freeze and orders had not heard of it yet: that part is the
    vendor's already, so what is left of the release goes, and the vendor ends with what the resolution meant.
    """
    held = await lock_disputed_escrow(uow, order_id, sequence)
    if held is None:
        return
    await store.save_dispute(uow, order_id, None, sequence)
    is_release = release_minor > 0
    if release_minor > held.escrow.locked.total_minor:
        log.warning("a resolution found less than it releases", order_id=str(order_id), release_minor=release_minor)
        release_minor = held.escrow.locked.total_minor
    if release_minor or (is_release and await chargebacks.was_charged_back(uow, order_id)):
        release_id = release_of_resolution(order_id, sequence)
        await release_escrow(uow, held, release_id, release_minor, "resolution", now)
