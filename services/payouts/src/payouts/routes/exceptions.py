"""Payout exceptions, for finance, operators and auditors."""

from typing import Annotated, Literal
from uuid import UUID

from fastapi import Depends, Request, Response

from common.http import CurrentCaller, OffsetPage, dependencies_of, guarded_router, offset_page, ok, requires
from common.problems import NotFound
from payouts import queries, schemas

router = guarded_router(tags=["payout exceptions"])


@router.get("/api/payout-exceptions", responses=schemas.enveloped(list[schemas.PayoutException]))
@requires("exceptions:read")
async def list_exceptions(
    request: Request,
    caller: CurrentCaller,
    page: Annotated[OffsetPage, Depends(offset_page("created_at", "severity"))],
    status: Literal["open", "closed"] | None = None,
    severity: Literal["SEV-1", "SEV-2", "SEV-3"] | None = None,
) -> Response:
    """Exceptions with cause, severity and the time by which somebody must respond."""
    async with dependencies_of(request).database.unit_of_work(acting_as=caller) as uow:
        exceptions, total = await queries.page_of_exceptions(uow, page, status, severity)
    return ok(request, exceptions, headers=None, **page.meta(total))


@router.get("/api/payout-exceptions/{id}", responses=schemas.enveloped(schemas.PayoutException))
@requires("exceptions:read")
async def read_exception(request: Request, caller: CurrentCaller, id: UUID) -> Response:  # noqa: A002 - the contract's name
    async with dependencies_of(request).database.unit_of_work(acting_as=caller) as uow:
        exception = await queries.find_exception(uow, id)
    if exception is None:
        raise NotFound
    return ok(request, exception)
