"""Reconciliation cases, for finance, auditors and on-call."""

from typing import Annotated
from uuid import UUID

from fastapi import Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from common.auth.guards import one_of, permission
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, dependencies_of, ok
from common.web.pages import OffsetPage, offset_page, respond_offset_page
from payments.dependencies import Dependencies
from payments.domain.reconciliation import Kind
from payments.domain.transitions import CaseStatus
from payments.queries.reconciliation import find_case, page_of_cases
from payments.responses.reconciliation import ReconciliationCase
from payments.schemas.reconciliation import CloseReconciliationCaseRequest
from payments.use_cases.reconciliation.close_case import close_case

endpoint = Endpoints("reconciliation")


@endpoint(
    "GET",
    "/api/reconciliation-cases",
    id="reconciliationCases.list",
    returns=list[ReconciliationCase],
    allow=one_of("ledger:read", "exceptions:read"),
)
async def list_reconciliation_cases(
    request: Request,
    caller: CurrentCaller,
    page: Annotated[OffsetPage, Depends(offset_page("created_at", "amount"))],
    status: Annotated[CaseStatus | None, Query()] = None,
    kind: Annotated[Kind | None, Query()] = None,
) -> Response:
    """List differences between the ledger and the payment gateway, newest first."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        found = await page_of_cases(uow, page, status, kind)
    return respond_offset_page(request, page, found)


@endpoint(
    "GET",
    "/api/reconciliation-cases/{case_id}",
    id="reconciliationCases.get",
    returns=ReconciliationCase,
    allow=one_of("ledger:read", "exceptions:read"),
)
async def get_reconciliation_case(request: Request, caller: CurrentCaller, case_id: UUID) -> Response:
    """Return one difference between the ledger and the payment gateway."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        case = await find_case(uow, case_id)
    return ok(request, case)


@endpoint(
    "POST",
    "/api/reconciliation-cases/{case_id}/close",
    id="reconciliationCases.close",
    returns=ReconciliationCase,
    allow=permission("exceptions:classify"),
)
async def close_reconciliation_case(
    request: Request, caller: CurrentCaller, case_id: UUID, body: CloseReconciliationCaseRequest
) -> Response:
    """Close a case by hand, with the evidence that explains it."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        await close_case(uow, case_id, caller.id, body.evidence, dependencies.clock.now())
        case = await find_case(uow, case_id)
    return ok(request, case)
