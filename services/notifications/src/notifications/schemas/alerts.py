"""Response models of alerts (contract section 12)."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from common.web.schemas import ResponseShape


class Alert(ResponseShape):
    """An alert for the on-call staff."""

    id: UUID
    severity: Literal["SEV-1", "SEV-2", "SEV-3"]
    title: str
    detail: str
    subject: str | None
    runbook: str
    source: str
    repetitions: int
    raised_at: datetime
    last_raised_at: datetime
    paged_at: datetime | None
    closed_at: datetime | None
