"""Confirm at the gateway that the earlier attempts of a payout failed, before another one is sent (decision 81)."""

from typing import Final
from uuid import UUID

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from common.primitives.clock import Clock
from payouts import store
from payouts.clients.gateway import Gateways
from payouts.domain.dispatch import LEASE
from payouts.domain.errors import GatewayUnavailable, TransferContradicted, TransferMissingAtGateway
from payouts.domain.gateway_results import Reported
from payouts.domain.returns import earlier_attempts_failed
from payouts.domain.transitions import UNDER_WAY
from payouts.store import returns
from payouts.use_cases.exceptions.open_exception import open_exception
from payouts.use_cases.transfers.query_attempts import query_attempts

_UNCONFIRMED: Final = "the gateway has not confirmed that the earlier attempts failed"


async def confirm_failed_attempts(
    database: Database, gateways: Gateways, clock: Clock, payout_id: UUID, transfer_id: UUID
) -> bool:
    """Return whether the last attempt, `transfer_id`, may be sent, also again after a call without a response. One that was paid
    after all completes the payout, and withdraws a reserved one.

    Otherwise that one is tried again later, and its row has the reason: the gateway gives no response, reports an attempt
    under way, or contradicts our record. An attempt that it no longer has opens an exception.
    """
    missing = None
    try:
        results = await query_attempts(database, gateways, clock, payout_id)
    except TransferMissingAtGateway as error:
        missing = error.explanation
    except (GatewayUnavailable, TransferContradicted):
        pass
    else:
        if not any(isinstance(result, Reported) and result.update.status in UNDER_WAY for result in results):
            async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
                payout = await returns.lock_payout_with_attempts(uow, payout_id)
            if payout is not None and earlier_attempts_failed(payout):
                return True
    now = clock.now()
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        transfer = await store.lock_transfer(uow, transfer_id=transfer_id)
        if transfer is None:
            raise AssertionError("a transfer is never removed")
        await returns.delay_retry(uow, transfer_id, _UNCONFIRMED, now + LEASE, now)
        if missing is not None:
            await open_exception(uow, transfer, "unclassified", missing, now)
    return False
