"""Resets of lost second factors."""

from typing import Annotated
from uuid import UUID

from msgspec import Meta

from common.primitives.decisions import ExpiringStatus
from common.web.response_models import ResponseModel, Timestamp
from common.web.schemas import DecisionHash


class FactorReset(ResponseModel):
    """All second factors and recovery codes of a user, removed by two people after a waiting time."""

    id: UUID
    user_id: UUID
    reason: Annotated[str, Meta(description="How the user was identified; empty for an erased user.")]
    status: Annotated[
        ExpiringStatus,
        Meta(description="`prepared` waits for a platform_admin until `expiresAt`."),
    ]
    hash: DecisionHash
    prepared_by: UUID
    prepared_at: Timestamp
    waits_until: Annotated[Timestamp, Meta(description="It can be approved from this instant on.")]
    expires_at: Timestamp
    decided_by: UUID | None
    decided_at: Timestamp | None
