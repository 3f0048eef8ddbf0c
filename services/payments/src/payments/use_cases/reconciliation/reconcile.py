"""Reconcile a period: what the gateway, the book and the orders say of the same money, and a case for each difference."""

from dataclasses import dataclass
from datetime import datetime

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from common.observability.logging import get_logger
from common.primitives.clock import Clock
from payments.clients.gateway import PaymentGateway
from payments.domain.reconciliation import HEALING, Difference, held_without_charge
from payments.store import reconciliation as store
from payments.use_cases.reconciliation.alert_unexplained import Unexplained, alert_unexplained
from payments.use_cases.reconciliation.recheck_cases import recheck_cases
from payments.use_cases.reconciliation.reconcile_charges import reconcile_charges
from payments.use_cases.reconciliation.reconcile_refunds import reconcile_refunds
from payments.use_cases.webhooks.process_missing_webhook import process_missing_webhook

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Reconciled:
    """What a run found: differences in all, cases that it opened, webhooks that had never come, and what stays open."""

    differences: int
    opened: int
    asked: int
    unexplained: Unexplained


async def reconcile(
    database: Database, gateway: PaymentGateway, clock: Clock, begin: datetime, end: datetime
) -> Reconciled:
    """No transaction is open while the gateway is asked. Raises GatewayAway, GatewayRefused and NewsUnreadable: the cases
    that were found until then stand."""
    now = clock.now()
    differences = opened = asked = 0
    for source in (
        reconcile_charges(database, gateway, begin, end, now),
        reconcile_refunds(database, gateway, begin, end, now),
    ):
        async for piece in source:
            differences += len(piece)
            opened += await _open(database, piece, now)
            for found in piece:
                if found.kind in HEALING:
                    asked += await process_missing_webhook(database, gateway, found)
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        rows = await store.list_orders_held_without_charge(uow, begin, end)
    held = [held_without_charge(row["id"], row["total_minor"], row["covered_minor"], row["currency"]) for row in rows]
    opened += await _open(database, held, now)
    await recheck_cases(database, gateway, clock)
    unexplained = await alert_unexplained(database, clock)
    done = Reconciled(differences + len(held), opened, asked, unexplained)
    log.info("reconciled", differences=done.differences, opened=done.opened, asked=done.asked, open=unexplained.cases)
    return done


async def _open(database: Database, piece: list[Difference], now: datetime) -> int:
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        return sum([await store.open_case_if_new(uow, found, now) for found in piece])
