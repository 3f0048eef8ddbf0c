"""Endpoints of a vendor's wallet and statement: the merchant's own, and any vendor's for finance and auditors."""

from typing import Annotated
from uuid import UUID

from fastapi import Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from common.auth.caller import THE_SERVICE, Caller
from common.auth.guards import permission
from common.primitives.problems import NotFound
from common.web.endpoint_table import Quota
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, dependencies_of, ok
from common.web.pages import CursorRequest, RequestedPage, respond_page
from common.web.schemas import QueryInstant
from payouts import responses, schemas
from payouts.dependencies import Dependencies
from payouts.domain.wallet import LineKind
from payouts.queries.arrivals import find_arrival_of_wallet
from payouts.queries.bank_details import find_legal_name
from payouts.queries.statements import StatementFilter, page_of_statement
from payouts.queries.wallets import find_wallet, list_transactions_of_order
from payouts.routes.permissions import vendor_of
from payouts.use_cases.wallets.waive_remainder import waive_remainder as waive

endpoint = Endpoints("wallets")


async def statement_filter(
    start: Annotated[QueryInstant | None, Query(alias="from", description="Written at or after this.")] = None,
    end: Annotated[QueryInstant | None, Query(alias="to", description="Written before this.")] = None,
    kind: LineKind | None = None,
    order_id: Annotated[UUID | None, Query(alias="orderId", description="The lines of one order.")] = None,
) -> StatementFilter:
    """Return the filters of a statement."""
    return StatementFilter(start, end, kind, order_id)


Filters = Annotated[StatementFilter, Depends(statement_filter)]


@endpoint(
    "GET",
    "/api/wallets/current",
    id="wallets.getCurrent",
    returns=responses.Wallet,
    allow=permission("wallet:own").for_keys("shop_money:read"),
)
async def get_wallet(request: Request, caller: CurrentCaller) -> Response:
    """Return the amounts available, in escrow and in transit."""
    vendor_id = vendor_of(caller)
    return await _respond_wallet(request, caller, vendor_id)


@endpoint(
    "POST",
    "/api/wallets/current/waiver",
    id="wallets.waiveRemainder",
    returns=responses.Wallet,
    allow=permission("wallet:own"),
    quota=Quota.SENSITIVE,
)
async def waive_remainder(request: Request, caller: CurrentCaller, body: schemas.WaiveRemainderRequest) -> Response:
    """Give up a remainder that is smaller than the smallest transfer. 409 when a payout can pay it, now or later."""
    dependencies, vendor_id = dependencies_of(request, Dependencies), vendor_of(caller)
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        minimum_minor, now = dependencies.transfer_minimum_minor, dependencies.clock.now()
        await waive(uow, vendor_id, body.amount_minor, minimum_minor, now)
    return await _respond_wallet(request, caller, vendor_id)


@endpoint(
    "GET",
    "/api/vendors/{vendor_id}/wallet",
    id="wallets.getByVendor",
    returns=responses.Wallet,
    allow=permission("payouts:read").for_keys("payouts:read"),
)
async def get_wallet_of_vendor(request: Request, caller: CurrentCaller, vendor_id: UUID) -> Response:
    """Return any vendor's wallet."""
    reads = dependencies_of(request, Dependencies).database.reads_for(caller)
    if await find_legal_name(reads, vendor_id) is None:
        raise NotFound
    return await _respond_wallet(request, caller, vendor_id)


async def _respond_wallet(request: Request, caller: Caller, vendor_id: UUID) -> Response:
    dependencies = dependencies_of(request, Dependencies)
    database, now = dependencies.database, dependencies.clock.now()
    # Acts as the service: the stop of dispatches is no row of a vendor.
    arrival = await find_arrival_of_wallet(
        database.reads_for(THE_SERVICE), vendor_id, dependencies.payout_minimum_minor, dependencies.arrival_terms, now
    )
    reads = database.reads_for(caller)
    return ok(request, await find_wallet(reads, vendor_id, dependencies.transfer_minimum_minor, arrival))


@endpoint(
    "GET",
    "/api/wallet-transactions",
    id="wallets.listTransactions",
    returns=list[responses.WalletTransaction],
    allow=permission("payouts:read"),
)
async def list_wallet_transactions(
    request: Request,
    order_id: Annotated[UUID, Query(alias="orderId", description="The order that caused the transactions.")],
) -> Response:
    """List what an order caused in the wallets' ledger, with all entries, oldest first: releases, refunds, chargebacks.

    The ledger of payments is at `/api/transactions`. An order has a few transactions, so the list has no pages.
    """
    # Acts as the service: the entries of vendors are invisible to finance.
    async with dependencies_of(request, Dependencies).database.unit_of_work(acting_as=THE_SERVICE) as uow:
        transactions = await list_transactions_of_order(uow, order_id)
    return ok(request, transactions)


@endpoint(
    "GET",
    "/api/wallets/current/statement",
    id="wallets.listStatement",
    returns=list[responses.StatementLine],
    allow=permission("wallet:own").for_keys("shop_money:read"),
)
async def list_statement(
    request: Request, caller: CurrentCaller, filters: Filters, requested: RequestedPage
) -> Response:
    """List every movement of the wallet, newest first, with the balance after each line."""
    return await _statement(request, caller, vendor_of(caller), filters, requested)


@endpoint(
    "GET",
    "/api/vendors/{vendor_id}/statement",
    id="wallets.listStatementByVendor",
    returns=list[responses.StatementLine],
    allow=permission("payouts:read").for_keys("payouts:read"),
)
async def list_statement_of_vendor(
    request: Request,
    caller: CurrentCaller,
    requested: RequestedPage,
    vendor_id: UUID,
    filters: Filters,
) -> Response:
    """List every movement of any vendor's wallet."""
    return await _statement(request, caller, vendor_id, filters, requested)


async def _statement(
    request: Request, caller: Caller, vendor_id: UUID, filters: StatementFilter, requested: CursorRequest
) -> Response:
    dependencies = dependencies_of(request, Dependencies)
    scope = ["statement", vendor_id, filters.start, filters.end, filters.kind, filters.order_id, caller.id]
    before = (requested.open(scope) or [None])[0]
    reads = dependencies.database.reads_for(caller)
    if vendor_id != caller.vendor_id and await find_legal_name(reads, vendor_id) is None:
        raise NotFound
    lines, ends_at = await page_of_statement(reads, vendor_id, before, requested.limit, filters)
    position = None if ends_at is None else [ends_at]
    return respond_page(request, requested.page_up_to(scope, lines, position))
