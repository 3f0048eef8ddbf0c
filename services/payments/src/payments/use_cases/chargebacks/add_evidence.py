"""Record staff's evidence for a disputed charge, to be sent to the gateway."""

import hashlib
from datetime import datetime
from uuid import UUID

import msgspec

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from common.primitives.problems import NotFound
from payments.domain.chargeback_responses import DisputeEvidence, check_respondable
from payments.store import chargeback_responses


async def add_evidence(
    uow: UnitOfWork, chargeback_id: UUID, evidence: DisputeEvidence, by: UUID, now: datetime
) -> None:
    """No money moves. Evidence may be sent again until the resolution. Raises NotFound, ResponseNotAccepted (409) and
    ResponseInDashboard (422).
    """
    chargeback = await chargeback_responses.lock_respondable(uow, chargeback_id)
    if chargeback is None:
        raise NotFound
    check_respondable(chargeback)
    content_hash = hashlib.sha256(msgspec.json.encode(evidence)).hexdigest()
    await chargeback_responses.record_evidence(uow, new_id(), chargeback.id, evidence, content_hash, by, now)
