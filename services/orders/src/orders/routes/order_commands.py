"""Shared steps of endpoints: the roles of the caller, and a command on an order under the caller's roles."""

from collections.abc import Awaitable, Callable
from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response

from common.auth.caller import THE_SERVICE, Caller
from common.database.unit_of_work import UnitOfWork
from common.web.http import dependencies_of, ok, or_not_found
from orders.dependencies import Dependencies
from orders.domain.order_roles import OrderRole
from orders.queries.orders import find_order
from orders.use_cases.orders.find_order_roles import find_order_roles


async def roles_in_order(request: Request, caller: Caller, order_id: UUID) -> frozenset[OrderRole]:
    """Return the caller's roles, read under the caller's row policies. Raises NotFound for an absent or invisible
    order.
    """
    reads = dependencies_of(request, Dependencies).database.reads_for(caller)
    return await find_order_roles(reads, caller, order_id)


async def order_after(
    request: Request, caller: Caller, order_id: UUID, command: Callable[[UnitOfWork], Awaitable[object]]
) -> Response:
    """Run the command in a transaction of the service, and respond with the order as the caller sees it."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await command(uow)
        order = await find_order(uow, order_id, caller, dependencies.contacts)
    return ok(request, or_not_found(order))
