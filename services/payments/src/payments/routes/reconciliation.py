"""Reconciliation cases, for finance, auditors and on-call."""

from typing import Annotated, Literal
from uuid import UUID

from fastapi import Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from common.web.http import CurrentCaller, dependencies_of, guarded_router, ok, requires, requires_one_of
from common.web.pages import OffsetPage, offset_page, respond_offset_page
from payments.dependencies import Dependencies
from payments.domain.reconciliation import Kind
from payments.queries.reconciliation import find_case, page_of_cases
from payments.schemas.reconciliation import CloseReconciliationCaseRequest, ReconciliationCase
from payments.use_cases.reconciliation.close_case import close_case

router = guarded_router(tags=["reconciliation"])


@router.get(
    "/api/reconciliation-cases",
    operation_id="reconciliationCases.list",
    responses={200: {"model": list[ReconciliationCase]}},
)
@requires_one_of("ledger:read", "exceptions:read")
async def list_reconciliation_cases(
    request: Request,
    caller: CurrentCaller,
    page: Annotated[OffsetPage, Depends(offset_page("created_at", "amount"))],
    status: Annotated[Literal["open", "explained", "closed"] | None, Query()] = None,
    kind: Annotated[Kind | None, Query()] = None,
) -> Response:
    """Differences between the ledger and the payment gateway, newest first."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        found = await page_of_cases(uow, page, status, kind)
    return respond_offset_page(request, page, found)


@router.get(
    "/api/reconciliation-cases/{case_id}",
    operation_id="reconciliationCases.get",
    responses={200: {"model": ReconciliationCase}},
)
@requires_one_of("ledger:read", "exceptions:read")
async def show_reconciliation_case(request: Request, caller: CurrentCaller, case_id: UUID) -> Response:
    """One difference between the ledger and the payment gateway."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        case = await find_case(uow, case_id)
    return ok(request, case)


@router.post(
    "/api/reconciliation-cases/{case_id}/close",
    operation_id="reconciliationCases.close",
    responses={200: {"model": ReconciliationCase}},
)
@requires("exceptions:classify")
async def close_reconciliation_case(
    request: Request, caller: CurrentCaller, case_id: UUID, body: CloseReconciliationCaseRequest
) -> Response:
    """Close a case by hand, with the evidence that explains it."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        await close_case(uow, case_id, caller.id, body.evidence, dependencies.clock.now())
        case = await find_case(uow, case_id)
    return ok(request, case)
