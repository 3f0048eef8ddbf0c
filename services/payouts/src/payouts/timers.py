"""What becomes due by itself: transfers whose dispatcher died, transfers to ask the gateway about, a look at how payouts go."""

import asyncio
from uuid import UUID

from common.book import RUN_LEASE
from common.caller import THE_SERVICE
from common.clock import Clock
from common.database import Database
from common.logging import get_logger
from payouts import store
from payouts.clients.gateway import Gateway
from payouts.domain.attempts import status_taken_up, step_when_due
from payouts.domain.dispatch import LEASE, SUBMISSIONS_AT_ONCE
from payouts.domain.errors import GatewayAway
from payouts.domain.failure_rate import Watch
from payouts.domain.found_transfers import PUT_BACK_AGAIN
from payouts.measures import GATEWAY_BALANCE_MINOR, GATEWAY_BALANCE_TIME
from payouts.store import found_transfers, released
from payouts.store.account_numbers import AccountNumbers
from payouts.use_cases.check_received import check_received
from payouts.use_cases.compare_transfers import compare_transfers
from payouts.use_cases.hold_vendors import hold_vendors
from payouts.use_cases.request_scheduled_payout import request_scheduled_payout
from payouts.use_cases.send_retry import send_retry
from payouts.use_cases.settle_transfer import settle_transfer
from payouts.use_cases.watch_banks import watch_banks
from payouts.use_cases.watch_failure_rate import watch_failure_rate

log = get_logger(__name__)

# No more than are worked at together: each is a few calls to the gateway, and its lease must outlast them.
TAKEN_AT_ONCE_MAX = SUBMISSIONS_AT_ONCE
ROUND_MAX = 200
# Each takes one verification and a sum over its lines; so many vendors are judged within a second.
VENDORS_WATCHED_MAX = 500


async def take_up_due_transfers(database: Database, gateway: Gateway, clock: Clock) -> int:
    """Sends what was written down and never sent, and asks for what is unknown or long on its way; tells how many."""
    done = 0
    while done < ROUND_MAX:
        taken = await _take_up(database, clock)
        if not taken:
            break
        steps = (_step(database, gateway, clock, *attempt) for attempt in taken)
        outcomes = await asyncio.gather(*steps, return_exceptions=True)
        for outcome in outcomes:
            if isinstance(outcome, BaseException):
                raise outcome
        done += len(taken)
    return done


async def _take_up(database: Database, clock: Clock) -> list[tuple[UUID, str]]:
    now = clock.now()
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        taken = [
            (transfer_id, status_taken_up(status))
            for transfer_id, status in await store.lock_due_transfers(uow, now, TAKEN_AT_ONCE_MAX)
        ]
        for transfer_id, status in taken:
            await store.take_up(uow, transfer_id, status, now + LEASE)
    return taken


async def _step(database: Database, gateway: Gateway, clock: Clock, transfer_id: UUID, status: str) -> None:
    if step_when_due(status) == "submit":
        await send_retry(database, gateway, clock, transfer_id)
    else:
        await settle_transfer(database, gateway, clock, transfer_id)


async def compare_when_due(database: Database, gateway: Gateway, numbers: AccountNumbers, clock: Clock) -> bool:
    """Once a day, and at once when the database was put back: until then nothing is sent."""
    now = clock.now()
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        if not await found_transfers.claim_comparison(uow, now, now + RUN_LEASE, now + PUT_BACK_AGAIN):
            return False
    await compare_transfers(database, gateway, numbers, clock)
    return True


async def request_scheduled_payouts(database: Database, minimum_minor: int, clock: Clock) -> int:
    """Decides every period whose time has come, each in a unit of work of its own; tells how many."""
    decided = 0
    while decided < ROUND_MAX:
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            if not await request_scheduled_payout(uow, minimum_minor, clock.now()):
                break
        decided += 1
    return decided


async def watch_payouts(database: Database, clock: Clock, watch: Watch) -> None:
    """Alerts of the failure rate and of banks whose switch is down: raised once, and cleared when it is over."""
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await watch_failure_rate(uow, watch, clock.now())
        await watch_banks(uow, clock.now())


async def watch_releases(database: Database, clock: Clock) -> int:
    """Judges the vendors whose payouts wait or are held, so that a wrong credit is seen before a dispatch, and its end without one."""
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        vendors = await released.list_vendors_to_watch(uow, VENDORS_WATCHED_MAX)
    for vendor_id in vendors:
        now = clock.now()
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            await hold_vendors(uow, await check_received(uow, [vendor_id], now), now)
    return len(vendors)


async def measure_balance(gateway: Gateway, clock: Clock) -> None:
    """Publishes our balance at the payment gateway, and when it was told; without an answer both stay as they were."""
    try:
        balance_minor = await gateway.balance_minor()
    except GatewayAway as error:
        log.warning("the gateway did not tell its balance", error=repr(error))
        return
    GATEWAY_BALANCE_MINOR.set(balance_minor)
    GATEWAY_BALANCE_TIME.set(clock.now().timestamp())
