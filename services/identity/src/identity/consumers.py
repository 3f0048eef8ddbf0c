"""What the service hears of people who want to go, and the work that it leaves for its own worker."""

from typing import TYPE_CHECKING, Any, Final

from common import telemetry
from common.caller import THE_SERVICE
from common.database import UnitOfWork
from common.faults import NotYetKnown, PermanentFault
from common.messages import Received, Subscription, WorkItem
from common.sealing import SealBroken, UnknownKey
from contracts import orders, payments, payouts
from identity.use_cases.hear_verdict import hear_verdict
from identity.use_cases.request_code import SENDING_QUEUE
from identity.use_cases.send_code import CodeToSend, send_code

if TYPE_CHECKING:
    from identity.app import Dependencies

Judged = orders.ErasureJudged | payments.ErasureJudged | payouts.ErasureJudged


async def on_orders_judged(
    event: orders.ErasureJudged, received: Received, uow: UnitOfWork, dependencies: "Dependencies"
) -> None:
    await _hear(event, received, uow, dependencies)


async def on_payments_judged(
    event: payments.ErasureJudged, received: Received, uow: UnitOfWork, dependencies: "Dependencies"
) -> None:
    await _hear(event, received, uow, dependencies)


async def on_payouts_judged(
    event: payouts.ErasureJudged, received: Received, uow: UnitOfWork, dependencies: "Dependencies"
) -> None:
    await _hear(event, received, uow, dependencies)


async def _hear(event: Judged, received: Received, uow: UnitOfWork, dependencies: "Dependencies") -> None:
    service, matters, now = event.publisher(), event.open_matters, dependencies.clock.now()
    if not await hear_verdict(uow, dependencies.hashes, event.request_id, service, matters, now=now):
        telemetry.STALE_NEWS.labels(received.type).inc()


async def on_code_to_send(item: CodeToSend, received: Received, dependencies: "Dependencies") -> None:
    try:
        async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
            await send_code(uow, dependencies.encryption.codes, dependencies.hashes, item, now=dependencies.clock.now())
    except UnknownKey as unknown:
        # Another process encrypted under a key that this one gets with its next start: the retry ladder brings the item again.
        raise NotYetKnown from unknown
    except SealBroken:
        raise PermanentFault("the sealed address does not open") from None


WORK: Final[list[WorkItem[Any]]] = [WorkItem(SENDING_QUEUE, CodeToSend, on_code_to_send)]
SUBSCRIPTIONS: Final[list[Subscription[Any]]] = [
    Subscription(orders.ErasureJudged, on_orders_judged),
    Subscription(payments.ErasureJudged, on_payments_judged),
    Subscription(payouts.ErasureJudged, on_payouts_judged),
]
