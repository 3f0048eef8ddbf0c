"""Record staff's resolution of a dispute, to be sent to the gateway: the claim is accepted or contested."""

import hashlib
from datetime import datetime
from uuid import UUID

import msgspec

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from common.primitives.problems import NotFound
from payments.domain.chargeback_responses import (
    DisputeResolution,
    RequestedResolution,
    check_accepted_amount,
    check_respondable,
)
from payments.store import chargeback_responses


async def resolve_chargeback(
    uow: UnitOfWork,
    chargeback_id: UUID,
    requested: RequestedResolution,
    by: UUID,
    now: datetime,
) -> None:
    """Resolve a chargeback. Nothing is posted before the gateway's decision.

    Raises NotFound, ResponseNotAccepted (409), ResponseInDashboard and ValidationFailed (422).
    """
    chargeback = await chargeback_responses.lock_respondable(uow, chargeback_id)
    if chargeback is None:
        raise NotFound
    check_respondable(chargeback)
    accepted_minor = 0
    if requested.resolution == "accept":
        chosen_minor = requested.amount_minor
        accepted_minor = chargeback.amount_minor if chosen_minor is None else chosen_minor
        check_accepted_amount(chargeback, accepted_minor)
    content = DisputeResolution(requested.resolution, requested.message, accepted_minor, requested.attachment, None)
    content_hash = hashlib.sha256(msgspec.json.encode(content)).hexdigest()
    await chargeback_responses.record_resolution(uow, new_id(), chargeback.id, content, content_hash, by, now)
