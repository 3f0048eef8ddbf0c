"""Look again at the open cases: what has been explained since is closed by itself."""

from datetime import datetime
from typing import Final
from uuid import UUID

import asyncpg

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from common.primitives.clock import Clock
from payments.clients.gateway import PaymentGateway
from payments.domain.identifiers import attempt_of_reference
from payments.domain.reconciliation import (
    Difference,
    compare_charge,
    compare_refund,
    compare_unseen_charge,
    compare_unseen_refund,
    held_without_charge,
    reported_charge,
)
from payments.domain.refunds import read_refund
from payments.store import reconciliation as store
from payments.use_cases.refunds.query_attempt import query_attempt

# Each costs a question to the gateway; the rest is looked at in the next round, the longest unseen first.
CASES_BATCH_MAX: Final = 50


async def recheck_cases(database: Database, gateway: PaymentGateway, clock: Clock) -> int:
    """How many were explained. Raises GatewayAway and GatewayRefused."""
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        cases = await store.list_open_cases(uow, CASES_BATCH_MAX)
    explained = 0
    for case in cases:
        found = await _differences_of(database, gateway, case)
        explained += await _record(database, case, found, clock.now())
    return explained


async def _record(database: Database, case: asyncpg.Record, found: list[Difference], now: datetime) -> bool:
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        for difference in found:
            await store.open_case_if_new(uow, difference, now)
        if any(difference.kind == case["kind"] for difference in found):
            await store.save_case_seen(uow, case["id"], now)
            return False
        return await store.save_case_explained(uow, case["id"], now)


async def _differences_of(database: Database, gateway: PaymentGateway, case: asyncpg.Record) -> list[Difference]:
    noun, _, name = case["subject"].partition(":")
    if noun == "charge":
        return await _differences_of_charge(database, gateway, name, case["reference"])
    if noun == "order":
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            row = await store.find_order_held_without_charge(uow, UUID(name))
        if row is None:
            return []
        return [held_without_charge(row["id"], row["total_minor"], row["covered_minor"], row["currency"])]
    if case["kind"] == "refund_not_at_gateway":
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            refund = await store.find_refund_row(uow, UUID(name))
        if refund is None or refund["status"] != "settled":
            return []
        told = await query_attempt(gateway, store.attempt_of(refund))
        return compare_unseen_refund(store.booked_refund(refund), told)
    return await _differences_of_refund(database, gateway, name)


async def _differences_of_charge(
    database: Database, gateway: PaymentGateway, identity: str, reference: str
) -> list[Difference]:
    told = await gateway.find_transaction(reference)
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        booked = await store.find_booked_charges(uow, [identity], [reference])
    ours = booked.get(identity) or booked.get(reference)
    if ours is not None:
        return compare_unseen_charge(ours, told)
    charge = None if told is None else reported_charge(told)
    return [] if charge is None else compare_charge(charge, None)


async def _differences_of_refund(database: Database, gateway: PaymentGateway, gateway_id: str) -> list[Difference]:
    told = await gateway.find_refund(gateway_id)
    update = None if told is None else read_refund(told)
    if update is None or update.status != "processed":
        return []
    attempt_id = attempt_of_reference(update.note)
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        booked = await store.find_booked_refund(uow, attempt_id, update.gateway_refund_id)
    return compare_refund(update, attempt_id, booked)
