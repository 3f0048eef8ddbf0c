"""Compare what the gateway paid back in a period with the refunds of the book, both ways."""

from collections.abc import AsyncIterator, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from common.primitives.clock import iso
from payments.clients.gateway import PAGE_LENGTH, PaymentGateway
from payments.domain.identifiers import attempt_of_reference
from payments.domain.reconciliation import Difference, compare_refund, compare_unseen_refund, is_under_way
from payments.domain.refunds import read_refund
from payments.store import reconciliation as store
from payments.use_cases.reconciliation.reconcile_charges import PAGES_MAX
from payments.use_cases.refunds.query_attempt import query_attempt


async def reconcile_refunds(
    database: Database, gateway: PaymentGateway, begin: datetime, end: datetime, now: datetime
) -> AsyncIterator[list[Difference]]:
    """The differences, a piece at a time. Raises GatewayAway, GatewayRefused and NewsUnreadable."""
    seen: set[UUID] = set()
    for page in range(1, PAGES_MAX + 1):
        told = await gateway.page_of_refunds(iso(begin), iso(end), page)
        yield await _compare_reported(database, told, seen, now)
        if len(told) < PAGE_LENGTH:
            break
    behind: tuple[datetime, UUID] | None = None
    while True:
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            rows = await store.list_settled_refunds(uow, begin, end, behind)
        found: list[Difference] = []
        for row in rows:
            booked = store.booked_refund(row)
            # What a lost chargeback gave in a refund's place left no money at the gateway, and has nothing to show there.
            if booked.ledger_minor and booked.id not in seen:
                found += compare_unseen_refund(booked, await query_attempt(gateway, store.attempt_of(row)))
        yield found
        if len(rows) < store.PIECE:
            return
        behind = rows[-1]["settled_at"], rows[-1]["id"]


async def _compare_reported(
    database: Database, told: list[Mapping[str, Any]], seen: set[UUID], now: datetime
) -> list[Difference]:
    found: list[Difference] = []
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        for entry in told:
            update = read_refund(entry)
            if update.status != "processed":
                continue
            attempt_id = attempt_of_reference(update.note)
            booked = await store.find_booked_refund(uow, attempt_id, update.gateway_refund_id)
            if (booked is None or booked.status != "settled") and is_under_way(entry, now):
                continue
            differences = compare_refund(update, attempt_id, booked)
            if booked is not None and not differences:
                seen.add(booked.id)
            found += differences
    return found
