"""Compare the gateway's paid transactions of a period with the recorded charges, both ways."""

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Final

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from payments.clients.gateway import GatewayRejected, PaymentGateway
from payments.domain.charges import Charge
from payments.domain.errors import MalformedEvent
from payments.domain.reconciliation import (
    Difference,
    RecordedCharge,
    compare_charge,
    compare_unlisted_charge,
    is_fee_missing,
    is_within_webhook_grace,
    subject_of_charge,
    unreadable_at_gateway,
)
from payments.store import reconciliation
from payments.store.reconciliation import SettledPosition
from payments.use_cases.charges.steps import record_fee

# Half a million payments; bounds the run against a gateway whose list never ends.
PAGES_MAX: Final = 5_000


async def reconcile_charges(
    database: Database, gateway: PaymentGateway, start: datetime, end: datetime, now: datetime
) -> AsyncIterator[list[Difference]]:
    """Yield the differences in batches. Raises GatewayUnavailable, and GatewayRejected for the list."""
    seen: set[str] = set()
    for page in range(1, PAGES_MAX + 1):
        listed = await gateway.page_of_paid_transactions(start, end, page)
        yield await _compare_reported(database, listed.rows, seen, now)
        yield [
            unreadable_at_gateway(subject_of_charge(row.key), row.reference, row.reason) for row in listed.unreadable
        ]
        if listed.is_last:
            break
    after: SettledPosition | None = None
    while True:
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            charges, after = await reconciliation.list_settled_charges(uow, gateway.name, start, end, after)
        found: list[Difference] = []
        for recorded in charges:
            if recorded.identity not in seen:
                # The payment may have been opened before the period: query the gateway for it.
                found += await _compare_unlisted(database, gateway, recorded)
        yield found
        if after is None:
            return


async def _compare_unlisted(database: Database, gateway: PaymentGateway, recorded: RecordedCharge) -> list[Difference]:
    try:
        reported = await gateway.find_transaction(recorded.identity)
    except (GatewayRejected, MalformedEvent) as fault:
        # One odd reference does not end the run.
        return [unreadable_at_gateway(subject_of_charge(recorded.identity), recorded.reference, str(fault))]
    if reported is not None:
        await _record_missing_fees(database, [(reported, recorded)])
    return compare_unlisted_charge(recorded, reported)


async def _compare_reported(
    database: Database, listed: Sequence[Charge], seen: set[str], now: datetime
) -> list[Difference]:
    charges = [charge for charge in listed if charge.was_paid]
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        recorded = await reconciliation.find_recorded_charges(
            uow, [charge.identity for charge in charges], [charge.reference for charge in charges]
        )
    found: list[Difference] = []
    pairs: list[tuple[Charge, RecordedCharge]] = []
    for charge in charges:
        ours = recorded.get(charge.identity) or recorded.get(charge.reference)
        if ours is not None:
            seen.add(ours.identity)
            pairs.append((charge, ours))
        elif is_within_webhook_grace(charge.paid_at, now):
            continue
        found += compare_charge(charge, ours)
    await _record_missing_fees(database, pairs)
    return found


async def _record_missing_fees(database: Database, pairs: Sequence[tuple[Charge, RecordedCharge]]) -> None:
    """Post the fees that the gateway reported after the charge."""
    missing = [(charge, ours) for charge, ours in pairs if is_fee_missing(charge, ours)]
    if not missing:
        return
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        for charge, ours in missing:
            await record_fee(uow, ours.identity, charge.fee_minor, ours.currency)
