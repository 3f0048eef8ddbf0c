"""The account that a vendor's payouts go to."""

from uuid import UUID

from fastapi import Request, Response

from common.http import CurrentCaller, dependencies_of, guarded_router, ok, requires, requires_one_of
from common.problems import NotFound
from payouts import queries, schemas
from payouts.use_cases.change_bank_details import change_bank_details

router = guarded_router(tags=["bank details"])


@router.get("/api/vendors/{id}/bank-details", responses=schemas.enveloped(schemas.BankDetails))
@requires_one_of("bank_details:own", "bank_details:read")
async def read_bank_details(request: Request, caller: CurrentCaller, id: UUID) -> Response:  # noqa: A002 - the contract's name
    """The present details, by the last four digits of the account."""
    return await _answer(request, caller, id)


@router.put("/api/vendors/{id}/bank-details", responses=schemas.enveloped(schemas.BankDetails))
@requires("bank_details:own", step_up=True)
async def replace_bank_details(
    request: Request,
    caller: CurrentCaller,
    id: UUID,  # noqa: A002 - the contract's name
    body: schemas.BankDetailsRequest,
) -> Response:
    """Replaces the details; `verified` is false, with a reason, when the account's name is not the vendor's legal name."""
    dependencies = dependencies_of(request)
    await change_bank_details(
        dependencies.database,
        dependencies.gateway,
        dependencies.clock,
        caller,
        id,
        (body.account_number, body.bank_code),
    )
    return await _answer(request, caller, id)


async def _answer(request: Request, caller: CurrentCaller, vendor_id: UUID) -> Response:
    async with dependencies_of(request).database.unit_of_work(acting_as=caller) as uow:
        details = await queries.find_bank_details(uow, vendor_id)
    if details is None:
        raise NotFound
    return ok(request, details)
