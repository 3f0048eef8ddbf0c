"""The merchant's wallet."""

from fastapi import Request, Response

from common.http import LIMIT_DEFAULT, CurrentCaller, Cursor, Limit, dependencies_of, guarded_router, ok, requires
from payouts import queries, schemas
from payouts.routes.permissions import vendor_of

router = guarded_router(tags=["wallets"])


@router.get("/api/wallets/current", responses=schemas.enveloped(schemas.Wallet))
@requires("wallet:own")
async def read_wallet(request: Request, caller: CurrentCaller) -> Response:
    """What the vendor may withdraw, what escrow holds for them, and what is on its way to their bank."""
    vendor_id = vendor_of(caller)
    async with dependencies_of(request).database.unit_of_work(acting_as=caller) as uow:
        wallet = await queries.find_wallet(uow, vendor_id)
    return ok(request, wallet)


@router.get("/api/wallets/current/statement", responses=schemas.enveloped(list[schemas.StatementLine]))
@requires("wallet:own")
async def read_statement(
    request: Request, caller: CurrentCaller, limit: Limit = LIMIT_DEFAULT, cursor: Cursor = None
) -> Response:
    """Everything that moved the wallet, newest first, with the balance after each line."""
    vendor_id, dependencies = vendor_of(caller), dependencies_of(request)
    scope = ["statement", vendor_id, caller.id]
    before = dependencies.cursors.open(scope, cursor)[0] if cursor else None
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        lines, ends_at = await queries.page_of_statement(uow, vendor_id, before, limit)
    next_cursor = None if ends_at is None else dependencies.cursors.sign(scope, [ends_at])
    return ok(request, lines, next_cursor=next_cursor, has_more=ends_at is not None, limit=limit)
