"""Staff query the gateway about the payout of an exception."""

from typing import Final
from uuid import UUID

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from common.primitives.clock import Clock
from payouts.clients.gateway import Gateways
from payouts.domain.errors import NoPayoutOfException
from payouts.domain.exceptions import ExceptionAction
from payouts.store import exceptions
from payouts.use_cases.transfers.steps import query_attempts

QUERIED: Final = "Queried the gateway about every transfer of the payout."


async def query_exception(database: Database, gateways: Gateways, clock: Clock, exception_id: UUID, by: UUID) -> None:
    """Record the query in the history of an open exception, then what the gateway reports of every transfer of the
    payout. A confirmed success closes the exception.

    Acts as the service: the on-call staff may not read payouts. Raises NoPayoutOfException (409) for an exception of a
    batch or of a vendor, and the errors of `query_attempts`.
    """
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        payout_id = await exceptions.find_payout_of_exception(uow, exception_id)
        if payout_id is None:
            raise NoPayoutOfException
        exception = await exceptions.lock_exception(uow, exception_id)
        if exception is not None and exception.is_open:
            action = ExceptionAction("noted", by, exception.finding, exception.finding, QUERIED)
            await exceptions.record_exception_action(uow, exception_id, action, clock.now())
    await query_attempts(database, gateways, clock, payout_id)
