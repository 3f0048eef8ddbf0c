"""Chargebacks, for finance and auditors."""

from typing import Annotated, Literal
from uuid import UUID

from fastapi import Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from common.web.http import CurrentCaller, dependencies_of, guarded_router, requires
from common.web.pages import OffsetPage, offset_page, respond_offset_page
from payments.dependencies import Dependencies
from payments.queries.chargebacks import page_of_chargebacks
from payments.schemas.chargebacks import Chargeback

Status = Literal["opened", "won", "lost"]

router = guarded_router(tags=["chargebacks"])


@router.get("/api/chargebacks", responses={200: {"model": list[Chargeback]}})
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
    return respond_offset_page(request, page, found)
