"""Withdrawals from balances: the buyer's own, and the decisions about the large ones (contract section 7.9)."""

from typing import Annotated, Final
from uuid import UUID

from fastapi import Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from common.auth.caller import THE_SERVICE
from common.auth.guards import SIGNED_IN, one_of, permission
from common.web.endpoint_table import Idempotency, Quota
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, dependencies_of, ok
from common.web.idempotency import RequiredIdempotentCommand
from common.web.pages import (
    OffsetPage,
    RequestedPage,
    cursor_page,
    offset_page,
    position_in_time,
    respond_offset_page,
    respond_page,
)
from common.web.schemas import DecisionApproval
from payments.dependencies import Dependencies
from payments.domain.transitions import WithdrawalStatus
from payments.domain.withdrawals import WithdrawalStep
from payments.queries.withdrawals import (
    find_own_withdrawal,
    find_withdrawal,
    list_own_withdrawals,
    page_of_withdrawals,
)
from payments.responses.withdrawals import StaffWithdrawal, Withdrawal
from payments.schemas.decisions import AWAITED_STEP, RejectDecisionRequest
from payments.schemas.withdrawals import PrepareWithdrawalDecisionRequest, RequestWithdrawalRequest
from payments.use_cases.withdrawals.approve_withdrawal import approve_withdrawal
from payments.use_cases.withdrawals.prepare_withdrawal import prepare_withdrawal
from payments.use_cases.withdrawals.reject_withdrawal import reject_withdrawal
from payments.use_cases.withdrawals.request_withdrawal import WithdrawalRequest
from payments.use_cases.withdrawals.request_withdrawal import request_withdrawal as request_one

endpoint = Endpoints("balance")

OWN: Final = "/api/balance/withdrawals"
ALL: Final = "/api/withdrawals"
ONE: Final = f"{ALL}/{{withdrawal_id}}"
READERS: Final = ("ledger:read", "refunds:prepare", "refunds:approve")


@endpoint(
    "POST",
    OWN,
    id="balance.requestWithdrawal",
    returns=Withdrawal,
    status=201,
    allow=permission("orders:place", step_up=True),
    quota=Quota.SENSITIVE,
    idempotency=Idempotency.REQUIRED,
)
async def request_withdrawal(
    request: Request, caller: CurrentCaller, body: RequestWithdrawalRequest, command: RequiredIdempotentCommand
) -> Response:
    """Withdraw refunded money to a bank account. It leaves the balance at once, and returns if the bank does not pay.
    A large amount is `waiting` until two people of finance have decided.
    """
    dependencies = dependencies_of(request, Dependencies)
    requested = WithdrawalRequest(caller.id, body.amount_minor, body.account_number, body.bank_code, command)
    withdrawal_id = await request_one(
        dependencies.database,
        dependencies.gateways,
        dependencies.clock,
        requested,
        dependencies.withdrawal_approval_above_minor,
    )
    row = await find_own_withdrawal(dependencies.database.reads_for(caller), caller.id, withdrawal_id)
    return ok(request, Withdrawal.from_row(row), status=201)


@endpoint("GET", OWN, id="balance.listWithdrawals", returns=list[Withdrawal], allow=SIGNED_IN)
async def list_withdrawals_of_caller(request: Request, caller: CurrentCaller, requested: RequestedPage) -> Response:
    """List the caller's withdrawals, newest first."""
    dependencies = dependencies_of(request, Dependencies)
    scope = ["withdrawals", caller.id]
    before = requested.time_position(scope) or ()
    rows = await list_own_withdrawals(dependencies.database.reads_for(caller), caller.id, before, requested.limit)
    page = cursor_page(
        requested,
        scope,
        rows,
        position_of=lambda row: position_in_time(row["created_at"], row["id"]),
        item_of=Withdrawal.from_row,
    )
    return respond_page(request, page)


@endpoint("GET", f"{OWN}/{{withdrawal_id}}", id="balance.getWithdrawal", returns=Withdrawal, allow=SIGNED_IN)
async def get_withdrawal_of_caller(request: Request, caller: CurrentCaller, withdrawal_id: UUID) -> Response:
    """Return one of the caller's withdrawals."""
    reads = dependencies_of(request, Dependencies).database.reads_for(caller)
    return ok(request, Withdrawal.from_row(await find_own_withdrawal(reads, caller.id, withdrawal_id)))


@endpoint("GET", ALL, id="withdrawals.list", returns=list[StaffWithdrawal], allow=one_of(*READERS))
async def list_withdrawals(
    request: Request,
    caller: CurrentCaller,
    page: Annotated[OffsetPage, Depends(offset_page("created_at", "amount"))],
    status: Annotated[WithdrawalStatus | None, Query()] = None,
    awaiting: Annotated[WithdrawalStep | None, AWAITED_STEP] = None,
) -> Response:
    """List the withdrawals of all buyers, newest first."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        found = await page_of_withdrawals(uow, page, status, awaiting)
    return respond_offset_page(request, page, found)


@endpoint("GET", ONE, id="withdrawals.get", returns=StaffWithdrawal, allow=one_of(*READERS))
async def get_withdrawal(request: Request, caller: CurrentCaller, withdrawal_id: UUID) -> Response:
    """Return one withdrawal with its newest decision."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        withdrawal = await find_withdrawal(uow, withdrawal_id)
    return ok(request, withdrawal)


@endpoint(
    "POST",
    f"{ONE}/prepare",
    id="withdrawals.prepare",
    returns=StaffWithdrawal,
    allow=permission("refunds:prepare", step_up=True),
)
async def prepare_withdrawal_decision(
    request: Request, caller: CurrentCaller, withdrawal_id: UUID, body: PrepareWithdrawalDecisionRequest
) -> Response:
    """Prepare that a waiting withdrawal is paid or returned to the balance; another user decides on it."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        now = dependencies.clock.now()
        await prepare_withdrawal(uow, withdrawal_id, body.outcome, body.reason, caller.id, now)
        withdrawal = await find_withdrawal(uow, withdrawal_id)
    return ok(request, withdrawal)


@endpoint(
    "POST",
    f"{ONE}/approve",
    id="withdrawals.approve",
    returns=StaffWithdrawal,
    allow=permission("refunds:approve", step_up=True),
)
async def approve_withdrawal_decision(
    request: Request, caller: CurrentCaller, withdrawal_id: UUID, body: DecisionApproval
) -> Response:
    """Approve the decision with this hash, which sends or returns the money. Its maker is rejected, under any role."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await approve_withdrawal(uow, withdrawal_id, body.hash, caller.id, dependencies.clock.now())
        withdrawal = await find_withdrawal(uow, withdrawal_id)
    return ok(request, withdrawal)


@endpoint(
    "POST",
    f"{ONE}/reject",
    id="withdrawals.reject",
    returns=StaffWithdrawal,
    allow=permission("refunds:approve", step_up=True),
)
async def reject_withdrawal_decision(
    request: Request, caller: CurrentCaller, withdrawal_id: UUID, body: RejectDecisionRequest
) -> Response:
    """Reject the decision: the withdrawal waits again, and may be prepared again."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await reject_withdrawal(uow, withdrawal_id, body.reason, caller.id, dependencies.clock.now())
        withdrawal = await find_withdrawal(uow, withdrawal_id)
    return ok(request, withdrawal)
