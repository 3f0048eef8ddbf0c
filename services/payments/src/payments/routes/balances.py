"""A buyer's balance (contract section 7.9)."""

from typing import Final
from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response

from common.auth.caller import Caller
from common.auth.guards import SIGNED_IN, one_of
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, dependencies_of, ok
from common.web.pages import RequestedPage, cursor_page, respond_page
from payments.dependencies import Dependencies
from payments.domain.accounts import HOME_CURRENCY
from payments.queries.balances import find_balance, list_lines
from payments.responses.balances import Balance, BalanceLine, RewardBalance

endpoint = Endpoints("balance")

# Support, finance and auditors.
READERS: Final = ("payments:read", "ledger:read")


@endpoint("GET", "/api/balance", id="balance.get", returns=Balance, allow=SIGNED_IN)
async def get_balance(request: Request, caller: CurrentCaller) -> Response:
    """Return the caller's balance: rewards, and refunds that were left here."""
    return ok(request, await _balance_of(request, caller, caller.id))


@endpoint("GET", "/api/balance/statement", id="balance.listStatement", returns=list[BalanceLine], allow=SIGNED_IN)
async def list_statement(request: Request, caller: CurrentCaller, requested: RequestedPage) -> Response:
    """List every change of the caller's balance, newest first, with the balance after each line."""
    return await _statement_of(request, caller, caller.id, requested)


@endpoint("GET", "/api/balances/{user_id}", id="balances.get", returns=Balance, allow=one_of(*READERS))
async def get_balance_of_user(request: Request, caller: CurrentCaller, user_id: UUID) -> Response:
    """Return the balance of a buyer; one that never had any is 0."""
    return ok(request, await _balance_of(request, caller, user_id))


@endpoint(
    "GET",
    "/api/balances/{user_id}/statement",
    id="balances.listStatement",
    returns=list[BalanceLine],
    allow=one_of(*READERS),
)
async def list_statement_of_user(
    request: Request, caller: CurrentCaller, user_id: UUID, requested: RequestedPage
) -> Response:
    """List every change of a buyer's balance, newest first, with the balance after each line."""
    return await _statement_of(request, caller, user_id, requested)


@endpoint("GET", "/api/rewards/balance", id="rewards.getBalance", returns=RewardBalance, allow=SIGNED_IN)
async def get_reward_balance(request: Request, caller: CurrentCaller) -> Response:
    """Return the rewards that are left of the caller's balance."""
    found = await find_balance(dependencies_of(request, Dependencies).database.reads_for(caller), caller.id)
    return ok(request, RewardBalance(balance_minor=found.rewards_minor))


async def _balance_of(request: Request, caller: Caller, user_id: UUID) -> Balance:
    found = await find_balance(dependencies_of(request, Dependencies).database.reads_for(caller), user_id)
    return Balance(available_minor=found.available_minor, held_minor=found.held_minor, currency=HOME_CURRENCY)


async def _statement_of(request: Request, caller: Caller, user_id: UUID, requested: RequestedPage) -> Response:
    dependencies = dependencies_of(request, Dependencies)
    scope = ["balance", user_id]
    before = (requested.open(scope) or [None])[0]
    rows = await list_lines(dependencies.database.reads_for(caller), user_id, before, requested.limit)
    page = cursor_page(requested, scope, rows, position_of=lambda row: [row["sequence"]], item_of=BalanceLine.from_row)
    return respond_page(request, page)
