"""Recheck the open cases, and mark those `explained` whose difference has disappeared."""

from datetime import datetime
from typing import Final
from uuid import UUID

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from common.observability.logging import get_logger
from common.primitives.clock import Clock
from payments.clients.gateway import GatewayRejected, Gateways, PaymentGateway
from payments.domain.errors import MalformedEvent
from payments.domain.identifiers import attempt_of_reference
from payments.domain.reconciliation import (
    CHECKED_IN_LISTS_ONLY,
    Difference,
    compare_charge,
    compare_refund,
    compare_unlisted_charge,
    compare_unlisted_refund,
)
from payments.domain.settlements import Settlement
from payments.store import reconciliation
from payments.store.reconciliation import OpenCase
from payments.use_cases.reconciliation.post_settlement import post_settlement
from payments.use_cases.refunds.query_attempt import query_attempt

log = get_logger(__name__)

# Each costs a query to the gateway; the next round checks the rest, the least recently checked first.
CASES_BATCH_MAX: Final = 50


async def recheck_cases(database: Database, gateways: Gateways, clock: Clock) -> int:
    """Return the number of explained cases. Raises GatewayUnavailable."""
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        cases = await reconciliation.list_open_cases(uow, CASES_BATCH_MAX)
    explained = 0
    for case in cases:
        found = await _differences_or_none(database, gateways.of(case.gateway), case)
        explained += await _record(database, case, found, clock.now())
    return explained


async def _differences_or_none(database: Database, gateway: PaymentGateway, case: OpenCase) -> list[Difference] | None:
    """None for a case that cannot be compared: it stays open, and staff close it with evidence."""
    if case.kind in CHECKED_IN_LISTS_ONLY:
        return None
    try:
        return await _differences_of(database, gateway, case)
    except (GatewayRejected, MalformedEvent) as fault:
        log.warning("reconciliation case cannot be rechecked", subject=case.subject, error=str(fault))
        return None


async def _record(database: Database, case: OpenCase, found: list[Difference] | None, now: datetime) -> bool:
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        for difference in found or ():
            await reconciliation.open_case_if_new(uow, difference, now, case.gateway)
        if found is None or any(difference.kind == case.kind for difference in found):
            await reconciliation.save_case_seen(uow, case.id, now)
            return False
        return await reconciliation.save_case_explained(uow, case.id, now)


async def _differences_of(database: Database, gateway: PaymentGateway, case: OpenCase) -> list[Difference]:
    noun, _, key = case.subject.partition(":")
    if noun == "charge":
        return await _differences_of_charge(database, gateway, key, case.reference or key)
    if case.kind == "settlement_not_in_book":
        return await post_settlement(database, gateway, Settlement(key, "settled", case.theirs_minor, case.currency))
    if noun == "order":
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            difference = await reconciliation.find_order_held_without_charge(uow, UUID(key))
        return [] if difference is None else [difference]
    if case.kind == "refund_not_at_gateway":
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            recorded = await reconciliation.find_recorded_attempt(uow, UUID(key))
        if recorded is None or recorded.refund.status != "settled":
            return []
        return compare_unlisted_refund(recorded.refund, await query_attempt(gateway, recorded.attempt))
    return await _differences_of_refund(database, gateway, key)


async def _differences_of_charge(
    database: Database, gateway: PaymentGateway, identity: str, reference: str
) -> list[Difference]:
    reported = await gateway.find_transaction(identity)
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        recorded = await reconciliation.find_recorded_charges(uow, [identity], [reference])
    ours = recorded.get(identity) or recorded.get(reference)
    if ours is not None:
        return compare_unlisted_charge(ours, reported)
    return compare_charge(reported, None) if reported is not None and reported.was_paid else []


async def _differences_of_refund(database: Database, gateway: PaymentGateway, gateway_id: str) -> list[Difference]:
    update = await gateway.find_refund(gateway_id)
    if update is None or update.status != "processed":
        return []
    attempt_id = attempt_of_reference(update.note)
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        recorded = await reconciliation.find_recorded_refund(uow, attempt_id, update.gateway_refund_id)
    return compare_refund(update, attempt_id, recorded)
