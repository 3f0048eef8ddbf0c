"""SQL for the responses to disputes."""

from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

import msgspec

from common.database.state_changes import allows_change
from common.database.unit_of_work import Reads, UnitOfWork
from payments.domain.chargeback_responses import DisputeEvidence, DisputeResolution, Resolution, RespondableChargeback
from payments.domain.transitions import RESPONSE, ResponseOutcome
from providers.gateways import GatewayName


class ClaimedResponse(NamedTuple):
    """A response that is sent now. `identity` is the dispute's id at the gateway; `content` is what is sent."""

    id: UUID
    chargeback_id: UUID
    identity: str
    gateway: GatewayName
    attempts: int
    content: DisputeEvidence | DisputeResolution


# A response is for the dispute as a whole, also that of a part.
_LOCK_ANSWERABLE: Final = """
SELECT b.id, b.identity,
       b.amount_minor + coalesce((SELECT sum(p.amount_minor) FROM chargebacks p WHERE p.part_of = b.id), 0)::bigint,
       b.status, b.responded_at IS NOT NULL,
       EXISTS (SELECT FROM chargeback_responses r WHERE r.chargeback_id = b.id AND r.status = 'submitting'),
       c.amount_minor - coalesce((
           SELECT sum(f.amount_minor) FROM refunds f
           WHERE f.charge_id = c.id AND f.status IN ('submitting', 'submitted', 'settled')
       ), 0)::bigint, c.gateway
FROM chargebacks b JOIN charges c ON c.id = b.charge_id
WHERE b.id = coalesce((SELECT part_of FROM chargebacks WHERE id = $1), $1) FOR NO KEY UPDATE OF b
"""
_RECORD: Final = """
INSERT INTO chargeback_responses (id, chargeback_id, kind, resolution, message, amount_minor, evidence, attachment,
                                  content_hash, due_at, created_by, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $11, $10, $11)
"""
_LIST_DUE: Final = "SELECT id FROM chargeback_responses WHERE due_at <= $1 ORDER BY due_at LIMIT 20"
_LOCK_DUE: Final = """
SELECT r.id, r.chargeback_id, b.identity, c.gateway, b.status, r.attempts, r.resolution, r.message, r.amount_minor,
       r.evidence, r.attachment,
       (SELECT e.gateway_evidence_id FROM chargeback_responses e
        WHERE e.chargeback_id = b.id AND e.kind = 'evidence' AND e.status = 'submitted'
        ORDER BY e.finished_at DESC LIMIT 1) AS evidence_id
FROM chargeback_responses r JOIN chargebacks b ON b.id = r.chargeback_id JOIN charges c ON c.id = b.charge_id
WHERE r.id = $1 AND r.due_at <= $2 FOR UPDATE OF r SKIP LOCKED
"""
_SAVE_ATTEMPT: Final = "UPDATE chargeback_responses SET attempts = $2, due_at = $3 WHERE id = $1"
_FINISH: Final = f"""
UPDATE chargeback_responses SET status = $2, failure = $3, gateway_evidence_id = $4, finished_at = $5, due_at = NULL,
       evidence = NULL, attachment = NULL
WHERE id = $1 AND {allows_change(RESPONSE, "$2")} RETURNING kind
"""


async def lock_respondable(uow: UnitOfWork, chargeback_id: UUID) -> RespondableChargeback | None:
    row = await uow.fetch_row(_LOCK_ANSWERABLE, chargeback_id)
    return None if row is None else RespondableChargeback(*row)


async def record_evidence(
    uow: UnitOfWork,
    response_id: UUID,
    chargeback_id: UUID,
    evidence: DisputeEvidence,
    content_hash: str,
    by: UUID,
    now: datetime,
) -> None:
    """Record the evidence; the first attempt is due at once."""
    content = msgspec.json.encode(evidence).decode()
    await uow.execute(
        _RECORD, response_id, chargeback_id, "evidence", None, None, None, content, None, content_hash, by, now
    )


async def record_resolution(
    uow: UnitOfWork,
    response_id: UUID,
    chargeback_id: UUID,
    resolution: DisputeResolution,
    content_hash: str,
    by: UUID,
    now: datetime,
) -> None:
    """Record the response; the first attempt is due at once."""
    await uow.execute(
        _RECORD,
        response_id,
        chargeback_id,
        "resolution",
        resolution.resolution,
        resolution.message,
        resolution.amount_minor,
        None,
        resolution.attachment,
        content_hash,
        by,
        now,
    )


async def list_due_responses(reads: Reads, now: datetime) -> list[UUID]:
    return [row["id"] for row in await reads.fetch(_LIST_DUE, now)]


async def lock_due_response(uow: UnitOfWork, response_id: UUID, now: datetime) -> tuple[ClaimedResponse, str] | None:
    """Return the response and its chargeback's status; None when it is not due, or another worker has it."""
    row = await uow.fetch_row(_LOCK_DUE, response_id, now)
    if row is None:
        return None
    resolution: Resolution | None = row["resolution"]
    content: DisputeEvidence | DisputeResolution
    if resolution is None:
        content = msgspec.json.decode(row["evidence"], type=DisputeEvidence)
    else:
        content = DisputeResolution(
            resolution, row["message"], row["amount_minor"], bytes(row["attachment"]), row["evidence_id"]
        )
    claimed = ClaimedResponse(
        row["id"], row["chargeback_id"], row["identity"], row["gateway"], row["attempts"], content
    )
    return claimed, row["status"]


async def save_attempt(uow: UnitOfWork, response_id: UUID, attempts: int, next_at: datetime) -> None:
    await uow.execute(_SAVE_ATTEMPT, response_id, attempts, next_at)


async def finish_response(
    uow: UnitOfWork,
    response_id: UUID,
    status: ResponseOutcome,
    now: datetime,
    *,
    failure: str | None = None,
    evidence_id: str | None = None,
) -> bool:
    """Save the outcome, and erase the personal content. Whether it was being submitted."""
    return await uow.fetch_value(_FINISH, response_id, status, failure, evidence_id, now) is not None
