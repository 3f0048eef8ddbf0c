"""Compare the gateway's list of transfers with the ledger, and record the unrecorded ones.

A restored database lacks the transfers since its instant: a payout that it shows as waiting may have been sent. So
**it sends nothing before it has compared the gateway's list of transfers with its ledger.** `transfer_comparison` has
the server's identifier and timeline; a restore changes both, a fail-over the timeline. Until the worker's comparison
is complete, a dispatch is 503, and no submission starts. A dump loaded into the same server changes neither: run
`python -m payouts compare-transfers` before the processes start.

- A transfer to a vendor's account, with a waiting payout of that vendor and amount whose other attempts were not
  sent, by a query: it becomes that payout's attempt, and the gateway's report is processed.
- The same without such a payout: the request was lost in the restore: the payout is recorded again; the wallet's
  shortfall becomes debt.
- A transfer to an account of no vendor or several, in another currency, under a foreign reference, or a row that
  cannot be read: SEV-1, and payouts wait: `python -m payouts explain-transfer <reference> <evidence>` records that it
  is none of ours.
- One that failed or was returned; a refund (`re-...`) or withdrawal (`wd-...`), which is payments': nothing.

The comparison also runs once a day, with a day's overlap; what it finds then stops nothing. `python -m payouts
compare-transfers [--since <instant>]` runs it at once and exits with 1 while it is not complete. Procedure:
database-restore.
"""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database, UnitOfWork
from common.ledger.chain_loops import DAILY
from common.observability.logging import get_logger
from common.primitives.clock import Clock
from common.primitives.ids import new_id
from payouts.clients.gateway import Gateway, Gateways
from payouts.domain.errors import GatewayUnavailable
from payouts.domain.found_transfers import (
    ALERT_KEY,
    OVERLAP,
    PAGES_MAX,
    Candidate,
    ListedTransfer,
    concerns_payouts,
    may_be_recorded,
    may_have_sent,
)
from payouts.domain.gateway_results import Unclear
from payouts.store import found_transfers, open_alerts, wallets
from payouts.store.account_numbers import AccountNumbers
from payouts.store.payouts import NewPayout
from payouts.use_cases.alerts import alert_recorded_transfers, alert_unassigned_transfers, clear_unassigned_transfers
from payouts.use_cases.payouts.steps import record_payout
from payouts.use_cases.transfers.resolve_transfer import resolve_transfer
from providers.gateways import GatewayName

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Compared:
    """The counts of a comparison. `open` and `unsettled` transfers block payouts after a restore of the database."""

    listed: int
    recorded: int
    open: int
    unsettled: int

    @property
    def is_complete(self) -> bool:
        return self.open == 0 and self.unsettled == 0


async def compare_transfers(
    database: Database, gateways: Gateways, numbers: AccountNumbers, clock: Clock, since: datetime | None = None
) -> Compared:
    """Continues at every gateway where the last one ended, unless `since` is given. No transaction is open during a
    call.

    Only a complete comparison permits payouts after a restore. Raises GatewayUnavailable; recorded transfers stay.
    """
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        before = await found_transfers.read_comparison(uow)
    listed = recorded = 0
    for gateway in gateways.all():
        count, unknown = await _list_unknown(database, gateway, since or before.compared_until - OVERLAP)
        listed += count
        # Oldest first, as they were sent.
        for found in sorted(unknown, key=lambda transfer: (transfer.created_at, transfer.reference)):
            transfer_id = await _record_found(database, gateways, gateway.name, numbers, found, clock.now())
            if transfer_id is not None:
                recorded += 1
                await resolve_transfer(database, gateways, clock, transfer_id)
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await found_transfers.lock_comparison(uow)
        counts = await found_transfers.count_open(uow), await found_transfers.count_unsettled(uow)
        done = Compared(listed, recorded, *counts)
        if done.is_complete:
            await found_transfers.save_compared(uow, before.timeline, before.now, clock.now() + DAILY)
        await _alert_comparison(uow, done, clock.now())
    log.info(
        "transfers compared", listed=listed, recorded=recorded, open=done.open, was_put_back=not before.is_compared
    )
    return done


async def _list_unknown(database: Database, gateway: Gateway, since: datetime) -> tuple[int, list[ListedTransfer]]:
    listed = 0
    unknown: dict[str, ListedTransfer] = {}
    for page in range(1, PAGES_MAX + 1):
        listing = await gateway.page_of_transfers(since, page)
        listed += len(listing.transfers)
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            known = await found_transfers.list_known_references(
                uow, [transfer.reference for transfer in listing.transfers]
            )
        unknown |= {
            transfer.reference: transfer
            for transfer in listing.transfers
            if transfer.reference not in known and concerns_payouts(transfer)
        }
        if listing.is_last:
            break
    return listed, list(unknown.values())


async def _record_found(
    database: Database,
    gateways: Gateways,
    gateway: GatewayName,
    numbers: AccountNumbers,
    found: ListedTransfer,
    now: datetime,
) -> UUID | None:
    """Return the recorded attempt; None when staff must assign the transfer, or when it was recorded before.

    It becomes the attempt of a pending payout of its vendor and amount, unless another attempt may have paid that one.
    Without such a payout, the request was lost in the restore: the payout is recorded again, and what the wallet lacks
    becomes debt. Raises GatewayUnavailable.
    """
    if not may_be_recorded(found):
        await _record_open_case(database, found, now)
        return None
    fingerprint = numbers.fingerprint(found.bank_code, found.account_number)
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        owners = await found_transfers.list_owners(uow, fingerprint, found.account_number, found.bank_code)
    if len(owners) != 1:
        await _record_open_case(database, found, now)
        return None
    [(vendor_id, version_id)] = owners
    candidate = await _find_candidate(database, gateways, vendor_id, found.amount_minor)
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await found_transfers.lock_comparison(uow)
        if await found_transfers.is_known(uow, found.reference):
            return None
        transfer_id = new_id()
        if candidate is not None and await found_transfers.lock_candidate(uow, candidate):
            payout_id, retry_count = candidate.payout_id, candidate.retry_count_after
        else:
            payout_id, retry_count = await _recreate_payout(uow, vendor_id, version_id, found, now), 0
        await found_transfers.save_found_attempt(
            uow, payout_id, retry_count, transfer_id, found.reference, now, gateway
        )
        await found_transfers.save_found(uow, found, "taken", payout_id, now)
    return transfer_id


async def _find_candidate(
    database: Database, gateways: Gateways, vendor_id: UUID, amount_minor: int
) -> Candidate | None:
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        candidates = await found_transfers.list_candidates(uow, vendor_id, amount_minor)
    for candidate in candidates:
        results = [await gateways.of(name).verify(reference) for reference, name in candidate.attempts]
        if any(isinstance(result, Unclear) for result in results):
            raise GatewayUnavailable
        if may_have_sent(candidate, results):
            return candidate
    return None


async def _recreate_payout(
    uow: UnitOfWork, vendor_id: UUID, version_id: UUID, found: ListedTransfer, now: datetime
) -> UUID:
    await wallets.lock_wallet_unread(uow, vendor_id)
    by = await found_transfers.find_owner(uow, vendor_id) or vendor_id
    wallet, number, _ = await wallets.read_for_payout(uow, vendor_id, by, None)
    payout = NewPayout(new_id(), vendor_id, found.amount_minor, version_id, by, number)
    await record_payout(uow, payout, wallet, now)
    return payout.id


async def _record_open_case(database: Database, found: ListedTransfer, now: datetime) -> None:
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await found_transfers.save_found(uow, found, "open", None, now)


async def _alert_comparison(uow: UnitOfWork, done: Compared, now: datetime) -> None:
    if done.recorded:
        alert_recorded_transfers(uow, done.recorded)
    if done.open and await open_alerts.save_alert_if_new(uow, ALERT_KEY, now):
        alert_unassigned_transfers(uow, done.open)
    elif not done.open and await open_alerts.remove_alert(uow, ALERT_KEY):
        clear_unassigned_transfers(uow)
