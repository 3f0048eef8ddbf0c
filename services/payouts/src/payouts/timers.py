"""Timers: transfers of dead dispatchers, transfers to query, scheduled payouts, checks of failures and releases."""

import asyncio

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from common.ledger.chain_loops import RUN_LEASE
from common.observability.logging import get_logger
from common.primitives.clock import Clock
from payouts.clients.gateway import Gateway, Gateways
from payouts.domain.attempts import status_when_claimed, step_when_due
from payouts.domain.dispatch import LEASE, SUBMISSIONS_CONCURRENT_MAX
from payouts.domain.errors import GatewayUnavailable
from payouts.domain.failure_rate import FailureRatePolicy
from payouts.domain.found_transfers import RECHECK_AFTER_RESTORE
from payouts.domain.gateway_faults import key_alert
from payouts.metrics import GATEWAY_BALANCE_MINOR, GATEWAY_BALANCE_TIME
from payouts.store import found_transfers, open_alerts, release_statements, transfers
from payouts.store.account_numbers import AccountNumbers
from payouts.use_cases.bank_details.refresh_banks import refresh_banks
from payouts.use_cases.exceptions.check_bank_outages import check_bank_outages
from payouts.use_cases.exceptions.check_failure_rate import check_failure_rate
from payouts.use_cases.releases.check_released_credits import check_released_credits
from payouts.use_cases.releases.hold_vendors import hold_vendors
from payouts.use_cases.schedules.request_scheduled_payout import request_scheduled_payout
from payouts.use_cases.transfers.compare_transfers import compare_transfers
from payouts.use_cases.transfers.resolve_transfer import resolve_transfer
from payouts.use_cases.transfers.resume_payouts import resume_payouts
from payouts.use_cases.transfers.send_retry import send_retry

log = get_logger(__name__)

# No more than are processed concurrently: each needs some calls to the gateway, and its lease must outlast them.
CLAIM_BATCH_MAX = SUBMISSIONS_CONCURRENT_MAX
ROUND_MAX = 200
# Each needs one verification and a sum over its lines: this many vendors are checked within a second.
VENDORS_CHECKED_MAX = 500


async def process_due_transfers_once(database: Database, gateways: Gateways, clock: Clock) -> int:
    """Send reserved attempts, and queries unknown ones and those long under way. Returns how many it processed.

    It processes none of a gateway that rejects our key: they stay due.
    """
    done = 0
    while done < ROUND_MAX:
        claimed = await _claim_due(database, gateways, clock)
        if not claimed:
            break
        steps = (_step(database, gateways, clock, transfer) for transfer in claimed)
        outcomes = await asyncio.gather(*steps, return_exceptions=True)
        for outcome in outcomes:
            if isinstance(outcome, BaseException):
                raise outcome
        done += len(claimed)
    return done


async def _claim_due(database: Database, gateways: Gateways, clock: Clock) -> list[transfers.DueTransfer]:
    now = clock.now()
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        names = [gateway.name for gateway in gateways.all()]
        usable = [name for name in names if not await open_alerts.is_open(uow, key_alert(name))]
        claimed = []
        for due in await transfers.lock_due_transfers(uow, now, CLAIM_BATCH_MAX, usable):
            status = status_when_claimed(due.status)
            await transfers.claim_transfer(uow, due, status, now + LEASE)
            claimed.append(transfers.DueTransfer(due.id, status))
    return claimed


async def _step(database: Database, gateways: Gateways, clock: Clock, transfer: transfers.DueTransfer) -> None:
    if step_when_due(transfer.status) == "submit":
        await send_retry(database, gateways, clock, transfer.id)
    else:
        await resolve_transfer(database, gateways, clock, transfer.id)


async def compare_transfers_once(database: Database, gateways: Gateways, numbers: AccountNumbers, clock: Clock) -> bool:
    """Compare once a day, and at once after a restore of the database: nothing is sent until then."""
    now = clock.now()
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        if not await found_transfers.claim_comparison(uow, now, now + RUN_LEASE, now + RECHECK_AFTER_RESTORE):
            return False
    await compare_transfers(database, gateways, numbers, clock)
    return True


async def request_scheduled_payouts_once(database: Database, minimum_minor: int, clock: Clock) -> int:
    """Decides every due period, each in its own unit of work. Returns how many."""
    decided = 0
    while decided < ROUND_MAX:
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            if not await request_scheduled_payout(uow, minimum_minor, clock.now()):
                break
        decided += 1
    return decided


async def check_failures_once(database: Database, gateway: str, clock: Clock, policy: FailureRatePolicy) -> None:
    """Raise the alerts of the failure rate and of bank outages once, and clears them when they are over."""
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await check_failure_rate(uow, policy, clock.now())
        await check_bank_outages(uow, gateway, clock.now())


async def check_releases_once(database: Database, clock: Clock) -> int:
    """Check vendors with waiting or held payouts. A wrong credit is found before a dispatch, and its correction
    without one. Returns how many.
    """
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        vendors = await release_statements.list_vendors_to_check(uow, VENDORS_CHECKED_MAX)
    for vendor_id in vendors:
        now = clock.now()
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            checks = await check_released_credits(uow, [vendor_id], now, saves_checkpoints=True)
            await hold_vendors(uow, checks, now)
    return len(vendors)


async def observe_balances_once(database: Database, gateways: Gateways, clock: Clock) -> None:
    """Observes our balance at each gateway in use. The time of one that is out of use is no longer published."""
    in_use = await list_gateways_in_use(database, gateways)
    for gateway in in_use:
        await observe_balance_once(database, gateway, clock)
    for name in {gateway.name for gateway in gateways.all()} - {gateway.name for gateway in in_use}:
        GATEWAY_BALANCE_TIME.remove(name)


async def refresh_banks_once(database: Database, gateways: Gateways, clock: Clock) -> int:
    """Refresh the list of banks of each gateway in use; returns how many were due."""
    return sum([await refresh_banks(database, used, clock) for used in await list_gateways_in_use(database, gateways)])


async def list_gateways_in_use(database: Database, gateways: Gateways) -> list[Gateway]:
    """Return the gateway of new transfers, and those with transfers that are not final. One without either may have no
    key.
    """
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        names = {gateways.for_new_transfers, *await transfers.list_gateways_with_open_transfers(uow)}
    return [gateway for gateway in gateways.all() if gateway.name in names]


async def observe_balance_once(database: Database, gateway: Gateway, clock: Clock) -> None:
    """Publish our balance at the gateway with its time. Without a response both gauges keep their values.

    A response ends the pause of a rejected key.
    """
    published, published_at = GATEWAY_BALANCE_MINOR.labels(gateway.name), GATEWAY_BALANCE_TIME.labels(gateway.name)
    try:
        balance_minor = await gateway.balance_minor()
    except GatewayUnavailable as error:
        log.warning("gateway balance query failed", gateway=gateway.name, error=repr(error))
        return
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await resume_payouts(uow, gateway.name)
    published.set(balance_minor)
    published_at.set(clock.now().timestamp())
