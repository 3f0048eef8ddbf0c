"""Chargebacks, for finance and auditors."""

from typing import Annotated, Literal
from uuid import UUID

from fastapi import Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from common.web.http import CurrentCaller, OffsetPage, dependencies_of, guarded_router, offset_page, requires
from payments.dependencies import Dependencies
from payments.queries.chargebacks import page_of_chargebacks
from payments.routes.offset_lists import listed
from payments.schemas.chargebacks import Chargeback
from payments.schemas.responses import success

Status = Literal["opened", "won", "lost"]

router = guarded_router(tags=["chargebacks"])


@router.get("/api/chargebacks", responses=success(200, list[Chargeback]))
@requires("ledger:read")
async def list_chargebacks(
    request: Request,
    caller: CurrentCaller,
    page: Annotated[OffsetPage, Depends(offset_page("created_at", "amount"))],
    status: Status | None = None,
    order_id: Annotated[UUID | None, Query(alias="orderId")] = None,
) -> Response:
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        found = await page_of_chargebacks(uow, page, status, order_id)
    return listed(request, page, found)
