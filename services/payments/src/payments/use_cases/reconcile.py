"""Reconcile a period: what the gateway, the book and the orders say of the same money, and a case for each difference."""

from dataclasses import dataclass
from datetime import datetime

from common.caller import THE_SERVICE
from common.clock import Clock
from common.database import Database
from common.logging import get_logger
from payments.clients.gateway import PaymentGateway
from payments.domain.reconciliation import HEALING, Difference, held_without_charge
from payments.store import reconciliation as store
from payments.use_cases.recheck_cases import recheck_cases
from payments.use_cases.reconcile_charges import reconcile_charges
from payments.use_cases.reconcile_refunds import reconcile_refunds
from payments.use_cases.take_from_gateway import take_from_gateway
from payments.use_cases.tell_of_cases import Unexplained, tell_of_cases

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
                    asked += await take_from_gateway(database, gateway, found)
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        rows = await store.list_orders_held_without_charge(uow, begin, end)
    held = [held_without_charge(row["id"], row["total_minor"], row["covered_minor"], row["currency"]) for row in rows]
    opened += await _open(database, held, now)
    await recheck_cases(database, gateway, clock)
    unexplained = await tell_of_cases(database, clock)
    done = Reconciled(differences + len(held), opened, asked, unexplained)
    log.info("reconciled", differences=done.differences, opened=done.opened, asked=done.asked, open=unexplained.cases)
    return done


async def _open(database: Database, piece: list[Difference], now: datetime) -> int:
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        return sum([await store.open_case_once(uow, found, now) for found in piece])
