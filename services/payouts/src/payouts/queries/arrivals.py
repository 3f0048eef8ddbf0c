"""Reads of what decides when payouts and available money reach the bank. They act as the service: vendors and finance
may not read all of it.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from msgspec.structs import replace

from common.database.unit_of_work import Reads
from common.standard_endpoints.stop_routes import IN_FORCE
from payouts.domain.arrivals import (
    Arrival,
    ArrivalObstacle,
    ArrivalTerms,
    PayableWallet,
    WaitingPayout,
    arrival_of_payout,
    arrival_of_wallet,
)
from payouts.domain.wallet import WalletSnapshot
from payouts.responses.payouts import BankArrival, Payout
from payouts.store.payouts import CANDIDATE_COLUMNS, VENDOR_HELD, WITH_DETAILS, candidate_of
from payouts.store.wallets import BANK_DETAILS, SNAPSHOT

_WAITING: Final = f"""
SELECT {CANDIDATE_COLUMNS}, {VENDOR_HELD} AS vendor_held, d.payouts_from,
       greatest(p.updated_at, (SELECT max(released_at) FROM payout_holds WHERE payout_id = p.id)) AS since,
       (SELECT created_at FROM payout_transfers WHERE payout_id = p.id AND attempt = p.retry_count + 1) AS sent_at,
       EXISTS (SELECT FROM payout_exceptions WHERE payout_id = p.id AND status = 'open') AS excepted
{WITH_DETAILS}
WHERE p.id = ANY ($1) AND p.status = 'pending'
"""
_PAYABLE: Final = f"""
SELECT {SNAPSHOT}, d.payouts_from, schedule.due_at, schedule.minimum_minor,
       EXISTS (SELECT FROM operation_stops WHERE {IN_FORCE.format(now="$2")}) AS stopped,
       {VENDOR_HELD.replace("p.vendor_id", "$1")} AS vendor_held,
       EXISTS (SELECT FROM chargebacks WHERE vendor_id = $1 AND status = 'opened' AND uncovered_minor > 0) AS disputed
{BANK_DETAILS} LEFT JOIN payout_schedules AS schedule ON schedule.vendor_id = $1
"""
_SNAPSHOT_COLUMNS: Final = 8


async def add_arrivals(reads: Reads, payouts: Sequence[Payout], terms: ArrivalTerms, now: datetime) -> list[Payout]:
    """Return the payouts, each pending one with its arrival at the bank."""
    pending = [payout.id for payout in payouts if payout.status == "pending"]
    if not pending:
        return list(payouts)
    arrivals: dict[UUID, Arrival] = {}
    for row in await reads.fetch(_WAITING, pending, now):
        candidate = candidate_of(row, "not_released" if row["vendor_held"] else "covered")
        waiting = WaitingPayout(candidate, row["since"], row["sent_at"], row["payouts_from"], row["excepted"])
        arrivals[row["id"]] = arrival_of_payout(waiting, terms, now)
    # One that ended between the two reads is shown as it was read, without a day.
    return [replace(payout, arrival=_shown(arrivals.get(payout.id))) for payout in payouts]


async def find_arrival_of_wallet(
    reads: Reads, vendor_id: UUID, minimum_minor: int, terms: ArrivalTerms, now: datetime
) -> BankArrival | None:
    """Return when the vendor's available money arrives; None while nothing is available. `minimum_minor`: the smallest
    payout, in kobo.
    """
    row = await reads.fetch_row(_PAYABLE, vendor_id, now)
    if row is None:
        raise AssertionError("the statement always gives a row")
    obstacles: tuple[tuple[str, ArrivalObstacle], ...] = (
        ("vendor_held", "credit_not_released"),
        ("stopped", "dispatch_stopped"),
        ("disputed", "disputed"),
    )
    payable = PayableWallet(
        WalletSnapshot(*tuple(row)[:_SNAPSHOT_COLUMNS]),
        # A due schedule runs within seconds.
        max(row["due_at"] or now, now),
        row["payouts_from"],
        max(minimum_minor, row["minimum_minor"] or 1),
        next((obstacle for column, obstacle in obstacles if row[column]), None),
    )
    return _shown(arrival_of_wallet(payable, terms))


def _shown(arrival: Arrival | None) -> BankArrival | None:
    if arrival is None:
        return None
    return BankArrival(day=None if arrival.day is None else arrival.day.isoformat(), obstacle=arrival.obstacle)
