"""What the service hears, on one screen: event to use case."""

from typing import TYPE_CHECKING, Any

from common import telemetry
from common.database import UnitOfWork
from common.messages import Received, Subscription
from contracts.identity import CampusChanged, HubChanged, VendorApproved, VendorChanged
from contracts.payments import EscrowHeld, EscrowRefunded, EscrowReleased, RefundFailed, RefundSettled
from orders.domain.moves import NoMove
from orders.use_cases.accept_payment import accept_payment
from orders.use_cases.complete_order import complete_order
from orders.use_cases.learn_place import learn_place
from orders.use_cases.learn_vendor import learn_vendor
from orders.use_cases.record_refund_failed import record_refund_failed
from orders.use_cases.record_refund_posted import record_refund_posted
from orders.use_cases.settle_refund import settle_refund

if TYPE_CHECKING:
    from orders.app import Dependencies


async def on_vendor(
    event: VendorApproved | VendorChanged, received: Received, uow: UnitOfWork, dependencies: "Dependencies"
) -> None:
    _count(received, await learn_vendor(uow, event, received.sequence, now=dependencies.clock.now()))


async def on_place(
    event: CampusChanged | HubChanged, received: Received, uow: UnitOfWork, dependencies: "Dependencies"
) -> None:
    _count(received, await learn_place(uow, event, received.sequence))


async def on_escrow_held(event: EscrowHeld, received: Received, uow: UnitOfWork, dependencies: "Dependencies") -> None:
    now = dependencies.clock.now()
    _count(received, await accept_payment(uow, event, dependencies.pins, now=now, windows=dependencies.windows))


async def on_escrow_released(
    event: EscrowReleased, received: Received, uow: UnitOfWork, dependencies: "Dependencies"
) -> None:
    now = dependencies.clock.now()
    _count(received, await complete_order(uow, event, now=now, windows=dependencies.windows))


async def on_escrow_refunded(
    event: EscrowRefunded, received: Received, uow: UnitOfWork, dependencies: "Dependencies"
) -> None:
    _count(received, await record_refund_posted(uow, event, now=dependencies.clock.now()))


async def on_refund_settled(
    event: RefundSettled, received: Received, uow: UnitOfWork, dependencies: "Dependencies"
) -> None:
    now = dependencies.clock.now()
    _count(received, await settle_refund(uow, event, now=now, windows=dependencies.windows))


async def on_refund_failed(
    event: RefundFailed, received: Received, uow: UnitOfWork, dependencies: "Dependencies"
) -> None:
    _count(received, await record_refund_failed(uow, event))


def _count(received: Received, answer: NoMove | None) -> None:
    """Stale news is ignored, and seen on the dashboards."""
    if answer is NoMove.STALE:
        telemetry.STALE_NEWS.labels(received.type).inc()


SUBSCRIPTIONS: list[Subscription[Any]] = [
    Subscription(VendorApproved, on_vendor),
    Subscription(VendorChanged, on_vendor),
    Subscription(CampusChanged, on_place),
    Subscription(HubChanged, on_place),
    Subscription(EscrowHeld, on_escrow_held),
    Subscription(EscrowReleased, on_escrow_released),
    Subscription(EscrowRefunded, on_escrow_refunded),
    Subscription(RefundSettled, on_refund_settled),
    Subscription(RefundFailed, on_refund_failed),
]
