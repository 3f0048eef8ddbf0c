"""Confirm at the gateway that the earlier attempts of a payout failed, so that never two can pay."""

from uuid import UUID

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from common.primitives.clock import Clock
from payouts import store
from payouts.clients.gateway import Gateways
from payouts.domain.errors import GatewayUnavailable, TransferContradicted, TransferMissingAtGateway
from payouts.domain.gateway_results import Reported
from payouts.domain.returns import earlier_attempts_failed
from payouts.domain.transitions import UNDER_WAY
from payouts.store import returns
from payouts.use_cases.exceptions.open_exception import open_exception
from payouts.use_cases.transfers.query_attempts import query_attempts


async def confirm_failed_attempts(
    database: Database, gateways: Gateways, clock: Clock, payout_id: UUID, transfer_id: UUID
) -> bool:
    """Whether the reserved attempt `transfer_id` may be sent. One that was paid after all completes the payout, and
    withdraws the reserved one.

    Otherwise that one keeps its lease, and is tried again at its end: the gateway gives no response, reports an attempt
    under way, or contradicts our record. An attempt that it no longer has opens an exception.
    """
    try:
        results = await query_attempts(database, gateways, clock, payout_id)
    except (GatewayUnavailable, TransferContradicted):
        return False
    except TransferMissingAtGateway as error:
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            transfer = await store.lock_transfer(uow, transfer_id=transfer_id)
            if transfer is None:
                raise AssertionError("a transfer is never removed") from None
            await open_exception(uow, transfer, "unclassified", error.explanation, clock.now())
        return False
    if any(isinstance(result, Reported) and result.update.status in UNDER_WAY for result in results):
        return False
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        payout = await returns.lock_payout_with_attempts(uow, payout_id)
    return payout is not None and earlier_attempts_failed(payout)
