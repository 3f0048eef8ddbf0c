"""The book, for auditors and finance."""

from collections.abc import AsyncIterator
from typing import Annotated, Any, Final
from uuid import UUID

from fastapi import Depends, Query
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from common.primitives.problems import ValidationFailed
from common.web.http import CurrentCaller, OffsetPage, QueryText, dependencies_of, guarded_router, offset_page, requires
from common.web.schemas import QueryInstant
from payments.dependencies import Dependencies
from payments.domain.exports import (
    AFTER_EVERYTHING,
    BEFORE_EVERYTHING,
    PIECE_TRANSACTIONS,
    csv_heading,
    csv_of_transactions,
)
from payments.queries.ledger import page_of_accounts
from payments.queries.transactions import TransactionFilter, list_transactions_after, page_of_transactions
from payments.routes.offset_lists import listed
from payments.schemas.answers import answers
from payments.schemas.ledger import LedgerAccount, Transaction

router = guarded_router(tags=["ledger"])

FILE: Final = {"Content-Disposition": 'attachment; filename="transactions.csv"', "Cache-Control": "no-store"}
_CSV_SHOWN: Final[dict[int | str, dict[str, Any]]] = {
    200: {
        "description": "One line for each entry, oldest first; amounts in kobo, debit positive.",
        "content": {"text/csv": {"schema": {"type": "string"}}},
    }
}
# As long as the longest name that a reference of the gateway makes.
Name = Annotated[QueryText | None, Query(max_length=256)]


async def wanted(
    type: Annotated[QueryText | None, Query(max_length=64)] = None,  # noqa: A002 - the public name
    account: Name = None,
    order_id: Annotated[UUID | None, Query(alias="orderId")] = None,
    begin: Annotated[QueryInstant | None, Query(alias="from", description="Posted at or after this.")] = None,
    end: Annotated[QueryInstant | None, Query(alias="to", description="Posted before this.")] = None,
) -> TransactionFilter:
    """The filters of the list of transactions."""
    return TransactionFilter(type, account, order_id, begin, end)


@router.get("/api/transactions", responses=answers(200, list[Transaction]))
@requires("ledger:read")
async def list_transactions(
    request: Request,
    caller: CurrentCaller,
    page: Annotated[OffsetPage, Depends(offset_page("created_at", "amount"))],
    filters: Annotated[TransactionFilter, Depends(wanted)],
) -> Response:
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        found = await page_of_transactions(uow, page, filters)
    return listed(request, page, found)


@router.get("/api/transactions/export", responses=_CSV_SHOWN)
@requires("ledger:export")
async def export_transactions(
    request: Request,
    caller: CurrentCaller,
    begin: Annotated[QueryInstant | None, Query(alias="from", description="Posted at or after this.")] = None,
    end: Annotated[QueryInstant | None, Query(alias="to", description="Posted before this.")] = None,
) -> Response:
    """The book, whole or of a period however long, as a CSV file, sent in pieces as they are read."""
    dependencies = dependencies_of(request, Dependencies)
    start, stop = begin or BEFORE_EVERYTHING, end or AFTER_EVERYTHING
    if stop <= start:
        raise ValidationFailed.of("to", "must be later than `from`")

    async def piece(place: Any) -> tuple[str, Any]:
        # A unit of work for each piece: a slow reader holds no transaction open.
        async with dependencies.database.unit_of_work(acting_as=caller) as uow:
            rows, behind = await list_transactions_after(uow, start, stop, place, PIECE_TRANSACTIONS)
        return csv_of_transactions(rows), behind

    # Read before the answer begins, so that a database that is away is still a problem document.
    first, place = await piece(None)

    async def pieces() -> AsyncIterator[str]:
        yield csv_heading() + first
        behind = place
        while behind is not None:
            text, behind = await piece(behind)
            yield text

    return StreamingResponse(pieces(), headers=FILE, media_type="text/csv")


@router.get("/api/ledger/accounts", responses=answers(200, list[LedgerAccount]))
@requires("ledger:read")
async def list_accounts(
    request: Request,
    caller: CurrentCaller,
    page: Annotated[OffsetPage, Depends(offset_page("created_at"))],
    account: Name = None,
    at: Annotated[QueryInstant | None, Query(description="Balances as they were at this instant.")] = None,
) -> Response:
    """Accounts whose name begins with `account`, with their balance, now or at a past instant."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        found = await page_of_accounts(uow, page, account or None, at)
    return listed(request, page, found)
