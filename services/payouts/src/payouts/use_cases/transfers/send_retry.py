"""Send the attempt of a reset when it is due."""

from datetime import datetime
from typing import Final
from uuid import UUID

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from common.primitives.clock import Clock
from payouts.clients.gateway import Gateways
from payouts.domain.dispatch import LEASE
from payouts.domain.errors import GatewayUnavailable
from payouts.store import returns, transfers
from payouts.use_cases.exceptions.steps import open_exception
from payouts.use_cases.transfers.steps import locking_transfer
from payouts.use_cases.transfers.submit_transfer import submit_transfer

_SHORT: Final = "balance_insufficient: the gateway's balance does not cover this payout"
_UNAVAILABLE: Final = "the gateway's balance could not be read"


async def send_retry(database: Database, gateways: Gateways, clock: Clock, transfer_id: UUID) -> None:
    """Send a reserved attempt as a dispatch does: after a check of the balance and of the reasons to hold the payout.

    A short balance opens an exception, and the attempt is retried later. A batch has checked the balance of its
    attempts.
    """
    is_retry = await returns.is_retry(database.reads_for(THE_SERVICE), transfer_id)
    if is_retry and not await _is_covered(database, gateways, clock, transfer_id):
        return
    await submit_transfer(database, gateways, clock, transfer_id, was="reserved")


async def _is_covered(database: Database, gateways: Gateways, clock: Clock, transfer_id: UUID) -> bool:
    found = await transfers.find_transfer(database.reads_for(THE_SERVICE), transfer_id)
    if found is None:
        raise AssertionError("a transfer is never removed")
    try:
        gateway = gateways.of(found.gateway)
        balance_minor = await gateway.balance_minor()
    except GatewayUnavailable:
        await _delay(database, transfer_id, clock.now(), None)
        return False
    async with locking_transfer(database, transfer_id) as (_, transfer):
        amount_minor = transfer.amount_minor
    if amount_minor + gateway.fees.fee_minor(amount_minor) <= balance_minor:
        return True
    await _delay(database, transfer_id, clock.now(), balance_minor)
    return False


async def _delay(database: Database, transfer_id: UUID, now: datetime, balance_minor: int | None) -> None:
    async with locking_transfer(database, transfer_id) as (uow, transfer):
        if transfer.status != "reserved" or transfer.payout_status != "pending":
            return
        await returns.delay_retry(uow, transfer_id, _UNAVAILABLE if balance_minor is None else _SHORT, now + LEASE, now)
        if balance_minor is not None:
            detail = f"The gateway's balance of {balance_minor} kobo does not cover the retry; it was not sent."
            await open_exception(uow, transfer, "balance_insufficient", detail, now)
