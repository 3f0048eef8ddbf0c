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
- One that failed or was returned; a refund (`re-...`), which is payments': nothing.

The comparison also runs once a day, with a day's overlap; what it finds then stops nothing. `python -m payouts
compare-transfers [--since <instant>]` runs it at once and exits with 1 while it is not complete. Procedure:
database-restore.
"""

from dataclasses import dataclass
from datetime import datetime

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database, UnitOfWork
from common.ledger.chain_loops import DAILY
from common.observability.logging import get_logger
from common.primitives.clock import Clock
from common.primitives.ids import new_id
from contracts.operations import AlertCleared, AlertRaised
from payouts.clients.gateway import Gateway, Gateways
from payouts.domain.found_transfers import ALERT_KEY, OVERLAP, PAGES_MAX, RUNBOOK, ListedTransfer, concerns_payouts
from payouts.domain.severity import Severity
from payouts.store import found_transfers, open_alerts
from payouts.store.account_numbers import AccountNumbers
from payouts.use_cases.transfers.resolve_transfer import resolve_transfer
from payouts.use_cases.transfers.steps import record_found_transfer

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
    """Continues at every gateway where the last one ended, unless `since` is given. No transaction is open during a call.

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
            transfer_id = await record_found_transfer(database, gateways, gateway.name, numbers, found, clock.now())
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


async def _alert_comparison(uow: UnitOfWork, done: Compared, now: datetime) -> None:
    """Raise SEV-1 while staff must assign transfers, and SEV-2 for those that were recorded."""
    if done.recorded:
        detail = f"{done.recorded} unrecorded transfers of the gateway's list were recorded. Check whether the database was restored."
        uow.publish(
            _alert("SEV-2", "Transfers found at the gateway", detail, f"{ALERT_KEY}:{new_id()}"), source="payouts"
        )
    if done.open and await open_alerts.save_alert_if_new(uow, ALERT_KEY, now):
        detail = (
            f"{done.open} transfers of the gateway belong to no known payout. Explain each with `explain-transfer`."
        )
        uow.publish(_alert("SEV-1", "Transfers without a payout", detail, ALERT_KEY), source="payouts")
    elif not done.open and await open_alerts.remove_alert(uow, ALERT_KEY):
        reason = "Every transfer of the gateway's list is recorded or explained."
        uow.publish(AlertCleared(alert_id=new_id(), dedup_key=ALERT_KEY, reason=reason), source="payouts")


def _alert(severity: Severity, title: str, detail: str, dedup_key: str) -> AlertRaised:
    return AlertRaised(
        alert_id=new_id(),
        severity=severity,
        title=title,
        detail=detail,
        runbook=RUNBOOK,
        dedup_key=dedup_key,
        about="payouts",
    )
