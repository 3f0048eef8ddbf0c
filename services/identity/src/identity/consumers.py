"""Evaluations of erasure requests by other services, and the queue of codes to send."""

from typing import Final

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import UnitOfWork
from common.messaging.faults import NotYetKnown, PermanentFault
from common.messaging.messages import Outcome, Received, Subscription, WorkItem, applied_if
from common.primitives.encryption import DecryptionFailed, UnknownKey
from contracts import orders, payments, payouts
from identity.dependencies import Dependencies
from identity.domain.errors import VendorIsClosed
from identity.domain.one_time_codes import SENDING_QUEUE
from identity.use_cases.codes.send_code import CodeToSend, send_code
from identity.use_cases.erasure.record_evaluation import record_evaluation
from identity.use_cases.vendors.suspend_vendor import suspend_vendor

ErasureEvaluation = orders.ErasureJudged | payments.ErasureJudged | payouts.ErasureJudged


async def on_orders_evaluated(
    event: orders.ErasureJudged, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> Outcome:
    return await _record_evaluation(event, received, uow, dependencies)


async def on_payments_evaluated(
    event: payments.ErasureJudged, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> Outcome:
    return await _record_evaluation(event, received, uow, dependencies)


async def on_payouts_evaluated(
    event: payouts.ErasureJudged, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> Outcome:
    return await _record_evaluation(event, received, uow, dependencies)


async def on_vendor_suspension_decided(
    event: orders.VendorSuspensionDecided, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> Outcome:
    try:
        await suspend_vendor(uow, event.vendor_id, event.reason, by=event.decided_by, now=dependencies.clock.now())
    except VendorIsClosed:
        return Outcome.STALE
    return Outcome.APPLIED


async def _record_evaluation(
    event: ErasureEvaluation, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> Outcome:
    service, matters, now = event.publisher(), event.open_matters, dependencies.clock.now()
    return applied_if(await record_evaluation(uow, dependencies.hashes, event.request_id, service, matters, now=now))


async def on_code_to_send(item: CodeToSend, received: Received, dependencies: Dependencies) -> None:
    try:
        async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
            await send_code(uow, dependencies.encryption.codes, dependencies.hashes, item, now=dependencies.clock.now())
    except UnknownKey as unknown:
        # Another process encrypted with a newer key; this one gets it at its next start. The retry ladder redelivers
        # the item.
        raise NotYetKnown from unknown
    except DecryptionFailed:
        raise PermanentFault("the encrypted address cannot be decrypted with CODE_DELIVERY_KEY") from None


WORK: Final[list[WorkItem]] = [WorkItem(SENDING_QUEUE, CodeToSend, on_code_to_send)]
SUBSCRIPTIONS: Final[list[Subscription]] = [
    Subscription(orders.ErasureJudged, on_orders_evaluated),
    Subscription(orders.VendorSuspensionDecided, on_vendor_suspension_decided),
    Subscription(payments.ErasureJudged, on_payments_evaluated),
    Subscription(payouts.ErasureJudged, on_payouts_evaluated),
]
