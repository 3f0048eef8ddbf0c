"""Compare what the gateway took in a period with the charges of the book, both ways."""

from collections.abc import AsyncIterator, Mapping
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from common.primitives.clock import iso
from payments.clients.gateway import PAGE_LENGTH, PaymentGateway
from payments.domain.charges import Charge
from payments.domain.reconciliation import (
    Difference,
    compare_charge,
    compare_unseen_charge,
    is_under_way,
    reported_charge,
)
from payments.store import reconciliation as store

# Half a million payments of a period; a gateway that never ends its list must not hold the run for ever.
PAGES_MAX: Final = 5_000


async def reconcile_charges(
    database: Database, gateway: PaymentGateway, begin: datetime, end: datetime, now: datetime
) -> AsyncIterator[list[Difference]]:
    """The differences, a piece at a time. Raises GatewayAway, GatewayRefused and NewsUnreadable."""
    seen: set[str] = set()
    for page in range(1, PAGES_MAX + 1):
        told = await gateway.page_of_paid_transactions(iso(begin), iso(end), page)
        yield await _compare_reported(database, told, seen, now)
        if len(told) < PAGE_LENGTH:
            break
    behind: tuple[datetime, UUID] | None = None
    while True:
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            rows = await store.list_settled_charges(uow, begin, end, behind)
        found: list[Difference] = []
        for booked in (store.booked_charge(row) for row in rows if row["identity"] not in seen):
            # Opened before the period, or not at all: only the gateway can say.
            found += compare_unseen_charge(booked, await gateway.find_transaction(booked.reference))
        yield found
        if len(rows) < store.PIECE:
            return
        behind = rows[-1]["settled_at"], rows[-1]["id"]


async def _compare_reported(
    database: Database, told: list[Mapping[str, Any]], seen: set[str], now: datetime
) -> list[Difference]:
    charges: list[tuple[Charge, Mapping[str, Any]]] = [
        (charge, entry) for entry in told if (charge := reported_charge(entry)) is not None
    ]
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        booked = await store.find_booked_charges(
            uow, [charge.identity for charge, _ in charges], [charge.reference for charge, _ in charges]
        )
    found: list[Difference] = []
    for charge, entry in charges:
        ours = booked.get(charge.identity) or booked.get(charge.reference)
        if ours is not None:
            seen.add(ours.identity)
        elif is_under_way(entry, now):
            continue
        found += compare_charge(charge, ours)
    return found
