"""The book, for auditors and finance."""

from typing import Annotated

from fastapi import Depends
from starlette.requests import Request
from starlette.responses import Response

from common.http import CurrentCaller, OffsetPage, dependencies_of, guarded_router, offset_page, requires
from payments.dependencies import Dependencies
from payments.queries.ledger import page_of_accounts, page_of_transactions
from payments.routes.listing import listed
from payments.schemas.answers import answers
from payments.schemas.ledger import LedgerAccount, Transaction

router = guarded_router(tags=["ledger"])


@router.get("/api/transactions", responses=answers(200, list[Transaction]))
@requires("ledger:read")
async def list_transactions(
    request: Request, caller: CurrentCaller, page: Annotated[OffsetPage, Depends(offset_page("created_at", "amount"))]
) -> Response:
    dependencies: Dependencies = dependencies_of(request)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        found = await page_of_transactions(uow, page)
    return listed(request, page, found)


@router.get("/api/ledger/accounts", responses=answers(200, list[LedgerAccount]))
@requires("ledger:read")
async def list_accounts(
    request: Request, caller: CurrentCaller, page: Annotated[OffsetPage, Depends(offset_page("created_at"))]
) -> Response:
    dependencies: Dependencies = dependencies_of(request)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        found = await page_of_accounts(uow, page)
    return listed(request, page, found)
