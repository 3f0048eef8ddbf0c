"""Reconciliation cases."""

from pydantic import Field

from common.web.schemas import RequestBody


class CloseReconciliationCaseRequest(RequestBody):
    """`POST /api/reconciliation-cases/:id/close`."""

    evidence: str = Field(min_length=1, max_length=2_000)
