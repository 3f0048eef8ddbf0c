"""The ledger, for auditors and finance."""

from collections.abc import AsyncIterator
from typing import Annotated, Final
from uuid import UUID

from fastapi import Depends, Query
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from common.auth.guards import permission
from common.primitives.problems import ValidationFailed
from common.web.csv_export import csv_stream
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, QueryText, dependencies_of, ok
from common.web.pages import OffsetPage, offset_page, respond_offset_page
from common.web.schemas import QueryInstant
from contracts.transaction_types import TransactionType
from payments.dependencies import Dependencies
from payments.queries.ledger import find_money_held, page_of_accounts, trial_balance
from payments.queries.transactions import (
    ExportPosition,
    TransactionFilter,
    find_transaction,
    list_transactions_after,
    page_of_transactions,
)
from payments.responses.exports import (
    AFTER_EVERYTHING,
    BEFORE_EVERYTHING,
    EXPORT_BATCH_TRANSACTIONS,
    csv_heading,
    csv_of_transactions,
)
from payments.responses.ledger import LedgerAccount, LedgerTransaction, MoneyHeld, TrialBalanceLine

endpoint = Endpoints("ledger")

FILE: Final = {"Content-Disposition": 'attachment; filename="transactions.csv"', "Cache-Control": "no-store"}
# The longest name: an account with a reference of the gateway.
Name = Annotated[QueryText | None, Query(max_length=256)]


async def transaction_filter(
    type: TransactionType | None = None,  # noqa: A002 - the public name
    account: Name = None,
    order_id: Annotated[UUID | None, Query(alias="orderId")] = None,
    start: Annotated[QueryInstant | None, Query(alias="from", description="Posted at or after this.")] = None,
    end: Annotated[QueryInstant | None, Query(alias="to", description="Posted before this.")] = None,
    reference: Annotated[
        QueryText | None,
        Query(max_length=100, description="A part of the posting key: a charge's reference, a settlement's id."),
    ] = None,
) -> TransactionFilter:
    """Return the filters of the list of transactions."""
    return TransactionFilter(type, account, order_id, start, end, reference)


@endpoint(
    "GET",
    "/api/transactions",
    id="ledger.listTransactions",
    returns=list[LedgerTransaction],
    allow=permission("ledger:read").for_keys("ledger:read"),
)
async def list_transactions(
    request: Request,
    caller: CurrentCaller,
    page: Annotated[OffsetPage, Depends(offset_page("created_at", "amount"))],
    filters: Annotated[TransactionFilter, Depends(transaction_filter)],
) -> Response:
    """Ledger transactions with their entries, newest first."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        found = await page_of_transactions(uow, page, filters)
    return respond_offset_page(request, page, found)


@endpoint(
    "GET",
    "/api/transactions/export",
    id="ledger.exportTransactions",
    content="text/csv",
    allow=permission("ledger:export", step_up=True),
)
async def export_transactions(
    request: Request,
    caller: CurrentCaller,
    start: Annotated[QueryInstant | None, Query(alias="from", description="Posted at or after this.")] = None,
    end: Annotated[QueryInstant | None, Query(alias="to", description="Posted before this.")] = None,
) -> Response:
    """Export the ledger, whole or of a period of any length, as a CSV file that is streamed in batches."""
    dependencies = dependencies_of(request, Dependencies)
    start, end = start or BEFORE_EVERYTHING, end or AFTER_EVERYTHING
    if end <= start:
        raise ValidationFailed.of("to", "must be later than `from`")

    async def batch(position: ExportPosition | None) -> tuple[str, ExportPosition | None]:
        # One transaction for each batch: a slow reader holds none open.
        async with dependencies.database.unit_of_work(acting_as=caller) as uow:
            rows, after = await list_transactions_after(uow, start, end, position, EXPORT_BATCH_TRANSACTIONS)
        return csv_of_transactions(rows), after

    # Read before the response starts, so that an unavailable database is a problem document.
    first, position = await batch(None)

    async def batches() -> AsyncIterator[str]:
        yield csv_heading() + first
        after = position
        while after is not None:
            text, after = await batch(after)
            yield text

    return StreamingResponse(csv_stream(batches()), headers=FILE, media_type="text/csv")


@endpoint(
    "GET",
    "/api/transactions/{transaction_id}",
    id="ledger.getTransaction",
    returns=LedgerTransaction,
    allow=permission("ledger:read").for_keys("ledger:read"),
)
async def get_transaction(request: Request, caller: CurrentCaller, transaction_id: UUID) -> Response:
    """Return one transaction with its entries."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        transaction = await find_transaction(uow, transaction_id)
    return ok(request, transaction)


@endpoint(
    "GET",
    "/api/ledger/trial-balance",
    id="ledger.getTrialBalance",
    returns=list[TrialBalanceLine],
    allow=permission("ledger:read").for_keys("ledger:read"),
)
async def get_trial_balance(
    request: Request,
    caller: CurrentCaller,
    at: Annotated[QueryInstant | None, Query(description="Entries up to this instant.")] = None,
) -> Response:
    """Sum all entries by kind of account and currency, now or at a past instant; each currency sums to zero."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        lines = await trial_balance(uow, at)
    return ok(request, lines)


@endpoint(
    "GET",
    "/api/sales/balances",
    id="sales.getBalances",
    returns=MoneyHeld,
    allow=permission("ledger:read"),
)
async def get_sales_balances(request: Request, caller: CurrentCaller) -> Response:
    """Where the money of all sales is now: in escrow, owed to buyers, released to vendors, at the gateways."""
    async with dependencies_of(request, Dependencies).database.unit_of_work(acting_as=caller) as uow:
        held = await find_money_held(uow)
    return ok(request, held)


@endpoint(
    "GET",
    "/api/ledger/accounts",
    id="ledger.listAccounts",
    returns=list[LedgerAccount],
    allow=permission("ledger:read").for_keys("ledger:read"),
)
async def list_ledger_accounts(
    request: Request,
    caller: CurrentCaller,
    page: Annotated[OffsetPage, Depends(offset_page("created_at"))],
    account: Name = None,
    at: Annotated[QueryInstant | None, Query(description="Balances as they were at this instant.")] = None,
) -> Response:
    """List accounts whose name starts with `account`, with their balance, now or at a past instant."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        found = await page_of_accounts(uow, page, account or None, at)
    return respond_offset_page(request, page, found)
