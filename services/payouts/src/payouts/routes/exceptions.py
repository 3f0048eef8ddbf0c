"""Endpoints of payout exceptions, for finance, operators and auditors."""

from typing import Annotated
from uuid import UUID

from fastapi import Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from common.auth.caller import THE_SERVICE, Caller
from common.auth.guards import permission
from common.primitives.problems import NotFound
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, dependencies_of, ok
from common.web.pages import OffsetPage, offset_page, respond_offset_page
from contracts.severities import Severity
from payouts import responses, schemas
from payouts.dependencies import Dependencies
from payouts.domain.exceptions import Finding
from payouts.domain.failure_rate import FAILURE_RATE_KEY, is_alarming
from payouts.domain.payout_transitions import ExceptionStatus
from payouts.domain.severity import Cause
from payouts.queries.exceptions import ExceptionFilter, find_exception, page_of_exceptions
from payouts.queries.observations import find_open_alert, observe_window
from payouts.use_cases.exceptions.classify_exception import classify_exception
from payouts.use_cases.exceptions.close_exception import close_exception
from payouts.use_cases.exceptions.query_exception import query_exception

endpoint = Endpoints("payout exceptions")


def _filter_of(
    status: ExceptionStatus | None = None,
    severity: Severity | None = None,
    cause: Cause | None = None,
    vendor_id: Annotated[UUID | None, Query(alias="vendorId")] = None,
    payout_id: Annotated[UUID | None, Query(alias="payoutId")] = None,
) -> ExceptionFilter:
    return ExceptionFilter(status, severity, cause, vendor_id, payout_id)


@endpoint(
    "GET",
    "/api/payout-exceptions",
    id="payoutExceptions.list",
    returns=list[responses.PayoutException],
    allow=permission("exceptions:read"),
)
async def list_payout_exceptions(
    request: Request,
    caller: CurrentCaller,
    page: Annotated[OffsetPage, Depends(offset_page("created_at", "severity", "respond_by"))],
    narrowed: Annotated[ExceptionFilter, Depends(_filter_of)],
) -> Response:
    """List exceptions with cause, severity and response deadline."""
    async with dependencies_of(request, Dependencies).database.unit_of_work(acting_as=caller) as uow:
        found = await page_of_exceptions(uow, page, narrowed)
    return respond_offset_page(request, page, found)


# Before the endpoint of one exception: `observations` is no id.
@endpoint(
    "GET",
    "/api/payout-exceptions/observations",
    id="payoutExceptions.observe",
    returns=responses.ExceptionObservations,
    allow=permission("exceptions:read"),
)
async def observe_payout_exceptions(request: Request, caller: CurrentCaller) -> Response:
    """Count the attempts and batches of the window that opened an exception, and its exceptions by severity and
    cause.
    """
    dependencies = dependencies_of(request, Dependencies)
    policy = dependencies.failure_rate_policy
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        observed, by_severity, by_cause = await observe_window(uow, dependencies.clock.now(), policy.window)
        open_alert = await find_open_alert(uow, FAILURE_RATE_KEY)
    alarming = is_alarming(observed, policy.attempts_min)
    seen = responses.ExceptionObservations(
        window_seconds=int(policy.window.total_seconds()),
        attempts=observed.attempts,
        failures=observed.failures,
        failure_rate=observed.rate,
        alerting=alarming or open_alert is not None,
        by_severity=by_severity,
        by_cause=by_cause,
    )
    return ok(request, seen)


@endpoint(
    "GET",
    "/api/payout-exceptions/{exception_id}",
    id="payoutExceptions.get",
    returns=responses.PayoutExceptionDetail,
    allow=permission("exceptions:read"),
)
async def get_payout_exception(request: Request, caller: CurrentCaller, exception_id: UUID) -> Response:
    """Return one exception with its attempt and its history."""
    return ok(request, await _respond(request, caller, exception_id))


@endpoint(
    "POST",
    "/api/payout-exceptions/{exception_id}/query",
    id="payoutExceptions.query",
    returns=responses.PayoutExceptionDetail,
    allow=permission("exceptions:classify"),
)
async def query_payout_exception(request: Request, caller: CurrentCaller, exception_id: UUID) -> Response:
    """Query the gateway about every transfer of the payout, and record its responses and the query. A confirmed success
    closes the exception. 409 when the gateway contradicts itself, 503 without its response.
    """
    dependencies = dependencies_of(request, Dependencies)
    await _respond(request, caller, exception_id)
    await query_exception(dependencies.database, dependencies.gateways, dependencies.clock, exception_id, caller.id)
    return ok(request, await _respond(request, caller, exception_id))


@endpoint(
    "POST",
    "/api/payout-exceptions/{exception_id}/classify",
    id="payoutExceptions.classify",
    returns=responses.PayoutExceptionDetail,
    allow=permission("exceptions:classify"),
)
async def classify_payout_exception(
    request: Request,
    caller: CurrentCaller,
    exception_id: UUID,
    body: schemas.ClassifyExceptionRequest,
) -> Response:
    """Set cause and severity. 409 when the exception is closed; a repetition has no effect."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        finding = Finding(body.cause, body.severity)
        await classify_exception(uow, exception_id, finding, body.note, caller.id, dependencies.clock.now())
    return ok(request, await _respond(request, caller, exception_id))


@endpoint(
    "POST",
    "/api/payout-exceptions/{exception_id}/close",
    id="payoutExceptions.close",
    returns=responses.PayoutExceptionDetail,
    allow=permission("exceptions:classify"),
)
async def close_payout_exception(
    request: Request,
    caller: CurrentCaller,
    exception_id: UUID,
    body: schemas.CloseExceptionRequest,
) -> Response:
    """Close with evidence. 409 while the payout's money is unsettled; a repetition has no effect."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await close_exception(uow, exception_id, body.evidence, caller.id, dependencies.clock.now())
    return ok(request, await _respond(request, caller, exception_id))


async def _respond(request: Request, caller: Caller, exception_id: UUID) -> responses.PayoutExceptionDetail:
    async with dependencies_of(request, Dependencies).database.unit_of_work(acting_as=caller) as uow:
        exception = await find_exception(uow, exception_id)
    if exception is None:
        raise NotFound
    return exception
