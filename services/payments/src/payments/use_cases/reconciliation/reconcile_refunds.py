"""Compare the gateway's processed refunds of a period with the recorded refunds, both ways."""

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from uuid import UUID

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from payments.clients.gateway import GatewayRejected, PaymentGateway
from payments.domain.errors import MalformedEvent
from payments.domain.identifiers import attempt_of_reference, refund_reference
from payments.domain.reconciliation import (
    Difference,
    RecordedRefund,
    compare_refund,
    compare_unlisted_refund,
    is_within_webhook_grace,
    subject_of_refund,
    unreadable_at_gateway,
)
from payments.domain.refunds import RefundUpdate
from payments.store import reconciliation, refunds
from payments.store.reconciliation import SettledPosition
from payments.store.refund_attempts import RefundAttempt
from payments.use_cases.reconciliation.reconcile_charges import PAGES_MAX
from payments.use_cases.refunds.query_attempt import query_attempt
from payments.use_cases.refunds.record_transfer_fee import record_transfer_fee


async def reconcile_refunds(
    database: Database, gateway: PaymentGateway, start: datetime, end: datetime, now: datetime
) -> AsyncIterator[list[Difference]]:
    """Yield the differences in batches; fees of transfers are posted. Raises GatewayUnavailable, and GatewayRejected
    for the list.
    """
    seen: set[UUID] = set()
    for page in range(1, PAGES_MAX + 1):
        listed = await gateway.page_of_refunds(start, end, page)
        yield await _compare_reported(database, listed.rows, seen, now)
        yield [
            unreadable_at_gateway(subject_of_refund(row.key, None), row.note, row.reason) for row in listed.unreadable
        ]
        if listed.is_last:
            break
    after: SettledPosition | None = None
    while True:
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            settled, after = await reconciliation.list_settled_refunds(uow, gateway.name, start, end, after)
        found: list[Difference] = []
        for refund, attempt in settled:
            # A refund that a chargeback offset moved no money at the gateway, which does not list it.
            if refund.ledger_minor and refund.id not in seen:
                found += await _compare_unlisted(database, gateway, refund, attempt)
        yield found
        if after is None:
            return


async def _compare_unlisted(
    database: Database, gateway: PaymentGateway, refund: RecordedRefund, attempt: RefundAttempt
) -> list[Difference]:
    try:
        update = await query_attempt(gateway, attempt)
    except (GatewayRejected, MalformedEvent) as fault:
        # One odd refund does not end the run.
        return [unreadable_at_gateway(f"refund:{refund.id}", refund_reference(attempt.id), str(fault))]
    if update is not None and update.transfer_fee_minor is not None:
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            locked = await refunds.lock_refund(uow, refund.id)
            # A reversal since then has a query of its own.
            if locked is not None and (locked.status, locked.attempt_id) == ("settled", attempt.id):
                await record_transfer_fee(uow, attempt.id, update, is_queried=True)
    return compare_unlisted_refund(refund, update)


async def _compare_reported(
    database: Database, listed: Sequence[RefundUpdate], seen: set[UUID], now: datetime
) -> list[Difference]:
    found: list[Difference] = []
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        for update in listed:
            if update.status != "processed":
                continue
            attempt_id = attempt_of_reference(update.note)
            recorded = await reconciliation.find_recorded_refund(uow, attempt_id, update.gateway_refund_id)
            if (recorded is None or recorded.status != "settled") and is_within_webhook_grace(update.updated_at, now):
                continue
            differences = compare_refund(update, attempt_id, recorded)
            if recorded is not None and not differences:
                seen.add(recorded.id)
            found += differences
    return found
