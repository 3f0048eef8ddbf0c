"""Endpoints of the account that receives a vendor's payouts."""

from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response

from common.auth.guards import one_of, permission
from common.primitives.problems import NotFound
from common.web.endpoint_table import Quota
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, dependencies_of, ok
from common.web.pages import RequestedPage, position_in_time, respond_page
from payouts import responses, schemas
from payouts.dependencies import Dependencies
from payouts.queries.bank_details import find_bank_details, find_rejected_account, page_of_bank_details_history
from payouts.use_cases.bank_details.change_bank_details import Account, change_bank_details
from payouts.use_cases.bank_details.quarantine_bank_details import QuarantineOrder
from payouts.use_cases.bank_details.quarantine_bank_details import quarantine_bank_details as quarantine

endpoint = Endpoints("bank details")


@endpoint(
    "GET",
    "/api/vendors/{vendor_id}/bank-details",
    id="bankDetails.get",
    returns=responses.BankDetails,
    allow=one_of("bank_details:own", "bank_details:read"),
)
async def get_bank_details(request: Request, caller: CurrentCaller, vendor_id: UUID) -> Response:
    """Return the present details, by the last four digits of the account."""
    return await _respond(request, caller, vendor_id)


@endpoint(
    "PUT",
    "/api/vendors/{vendor_id}/bank-details",
    id="bankDetails.replace",
    returns=responses.BankDetails,
    allow=permission("bank_details:own", step_up=True),
    quota=Quota.SENSITIVE,
)
async def replace_bank_details(
    request: Request,
    caller: CurrentCaller,
    vendor_id: UUID,
    body: schemas.ReplaceBankDetailsRequest,
) -> Response:
    """Replace the details; `verified` is false, with a reason, when the account's name is not the vendor's legal
    name. Such an account replaces no verified one (`isPresent` is false): payouts go on to the earlier account.
    """
    dependencies = dependencies_of(request, Dependencies)
    database = dependencies.database
    rejected_id = await change_bank_details(
        database,
        dependencies.gateway,
        dependencies.clock,
        dependencies.account_numbers,
        dependencies.cooling,
        caller,
        Account(vendor_id, body.account_number, body.bank_code),
    )
    if rejected_id is not None:
        async with database.unit_of_work(acting_as=caller) as uow:
            return ok(request, await find_rejected_account(uow, rejected_id))
    return await _respond(request, caller, vendor_id)


@endpoint(
    "GET",
    "/api/vendors/{vendor_id}/bank-details/history",
    id="bankDetails.listHistory",
    returns=list[responses.BankDetailsChange],
    allow=one_of("bank_details:own", "payouts:read"),
)
async def list_bank_details_history(
    request: Request,
    caller: CurrentCaller,
    requested: RequestedPage,
    vendor_id: UUID,
) -> Response:
    """List each change of the details, newest first, with its author and time."""
    dependencies = dependencies_of(request, Dependencies)
    scope = ["bank details history", vendor_id, caller.id]
    before = requested.time_position(scope)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        changes, ends_at = await page_of_bank_details_history(uow, vendor_id, before, requested.limit)
    if not changes and caller.vendor_id != vendor_id:
        # Row policies hide other merchants' rows: a vendor without details gets the response of an unknown one.
        raise NotFound
    position = None if ends_at is None else position_in_time(*ends_at)
    return respond_page(request, requested.page_up_to(scope, changes, position))


@endpoint(
    "POST",
    "/api/vendors/{vendor_id}/bank-details/quarantine",
    id="bankDetails.quarantine",
    returns=responses.QuarantinedBankDetails,
    allow=permission("bank_details:quarantine", step_up=True),
    quota=Quota.SENSITIVE,
)
async def quarantine_bank_details(
    request: Request,
    caller: CurrentCaller,
    vendor_id: UUID,
    body: schemas.QuarantineBankDetailsRequest,
) -> Response:
    """Stop payouts to the present account. The named payout returns to the wallet unless its money has left."""
    dependencies = dependencies_of(request, Dependencies)
    done = await quarantine(
        dependencies.database,
        dependencies.gateways,
        dependencies.clock,
        dependencies.account_numbers,
        caller,
        QuarantineOrder(vendor_id, body.reason, body.payout_id),
    )
    return ok(request, done)


async def _respond(request: Request, caller: CurrentCaller, vendor_id: UUID) -> Response:
    async with dependencies_of(request, Dependencies).database.unit_of_work(acting_as=caller) as uow:
        details = await find_bank_details(uow, vendor_id)
    if details is None:
        raise NotFound
    return ok(request, details)
