"""Reconcile a period: compare the gateway, the ledger and the orders, and open a case for each difference."""

from dataclasses import dataclass
from datetime import datetime

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from common.observability.logging import get_logger
from common.primitives.clock import Clock
from payments.clients.gateway import Gateways
from payments.domain.reconciliation import SELF_RESOLVING, Difference
from payments.store import reconciliation
from payments.use_cases.reconciliation.check_unexplained import Unexplained, check_unexplained
from payments.use_cases.reconciliation.recheck_cases import recheck_cases
from payments.use_cases.reconciliation.reconcile_charges import reconcile_charges
from payments.use_cases.reconciliation.reconcile_refunds import reconcile_refunds
from payments.use_cases.reconciliation.reconcile_settlements import reconcile_settlements
from payments.use_cases.reconciliation.recover_disputes import recover_disputes
from payments.use_cases.webhooks.steps import process_missing_webhook
from providers.gateways import GatewayName

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Reconciled:
    """The result of a run: all differences, opened cases, recovered webhooks, the open cases after it, and settlements.

    `settled_minor` is what the gateway settled to our bank in the period, in kobo: above 0 automatic settlement is on.
    """

    differences: int
    opened: int
    recovered: int
    unexplained: Unexplained
    settled_minor: int


async def reconcile(database: Database, gateways: Gateways, clock: Clock, start: datetime, end: datetime) -> Reconciled:
    """No transaction is open during a call. The cases found before an error stay recorded.

    An odd row or reference becomes a case. Raises GatewayUnavailable, and GatewayRejected for a whole list.
    """
    now = clock.now()
    differences = opened = recovered = 0
    for gateway in gateways.all():
        for source in (
            reconcile_charges(database, gateway, start, end, now),
            reconcile_refunds(database, gateway, start, end, now),
            # The charges of a settlement are recorded before it.
            reconcile_settlements(database, gateway, start, end),
        ):
            async for batch in source:
                differences += len(batch)
                opened += await _open(database, batch, now, gateway.name)
                for found in batch:
                    if found.kind in SELF_RESOLVING:
                        recovered += await process_missing_webhook(database, gateway, found)
        recovered += await recover_disputes(database, gateway, start, end)
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        held = await reconciliation.list_orders_held_without_charge(uow, start, end)
        settled_minor = await reconciliation.sum_settled(uow, start, now)
    opened += await _open(database, held, now, gateways.for_new_payments)
    await recheck_cases(database, gateways, clock)
    unexplained = await check_unexplained(database, clock)
    done = Reconciled(differences + len(held), opened, recovered, unexplained, settled_minor)
    log.info(
        "reconciled",
        differences=done.differences,
        opened=opened,
        recovered_webhooks=recovered,
        open=unexplained.cases,
        settled_minor=settled_minor,
    )
    return done


async def _open(database: Database, batch: list[Difference], now: datetime, gateway: GatewayName) -> int:
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        return sum([await reconciliation.open_case_if_new(uow, found, now, gateway) for found in batch])
