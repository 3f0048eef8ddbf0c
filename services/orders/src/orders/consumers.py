"""The subscriptions of the service: event to use case. No other module uses the events of other services."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final, TypedDict

import msgspec

from common.database.unit_of_work import UnitOfWork
from common.messaging.messages import Outcome, Received, Subscription, applied_if
from common.primitives.lifecycles import Rejection
from contracts.identity import (
    CampusChanged,
    ErasureRefused,
    ErasureRequested,
    HubChanged,
    ProfileChanged,
    UserErased,
    UserProvisioned,
    VendorApproved,
    VendorChanged,
    VendorClosed,
    VendorReinstated,
    VendorSuspended,
)
from contracts.notifications import CartReceived
from contracts.payments import (
    ChargeDisputed,
    ChargeQuarantined,
    EscrowHeld,
    EscrowRefunded,
    EscrowReleased,
    EscrowState,
    EscrowStated,
    OutsideRefundRecorded,
    RefundFailed,
    RefundSettled,
)
from orders.dependencies import Dependencies
from orders.domain.disputes import ChargeOutcome
from orders.domain.orders import ReportedEscrow, Windows
from orders.domain.pins import SharedPayment
from orders.domain.projections import HubProjection, UserProjection, VendorProjection
from orders.domain.purchase_drafts import DraftLine
from orders.domain.sales import Sale
from orders.store.orders import SoldOrder
from orders.use_cases.disputes.record_chargeback import record_chargeback
from orders.use_cases.erasure.cancel_erasure import cancel_erasure
from orders.use_cases.erasure.erase_buyer import erase_buyer
from orders.use_cases.erasure.evaluate_erasure import evaluate_erasure
from orders.use_cases.orders.accept_payment import accept_payment
from orders.use_cases.orders.complete_order import complete_order
from orders.use_cases.orders.record_quarantined_charge import record_quarantined_charge
from orders.use_cases.projections.close_vendor import close_vendor
from orders.use_cases.projections.project_campus import project_campus
from orders.use_cases.projections.project_hub import project_hub
from orders.use_cases.projections.project_user import project_user
from orders.use_cases.projections.project_vendor import project_vendor
from orders.use_cases.projections.project_vendor_status import project_vendor_status
from orders.use_cases.purchase_drafts.record_purchase_draft import record_purchase_draft
from orders.use_cases.refunds.record_refund_failed import record_refund_failed
from orders.use_cases.refunds.record_refund_posted import record_refund_posted
from orders.use_cases.refunds.record_refund_settled import record_refund_settled
from orders.use_cases.sales.lock_paid_order import lock_paid_order
from orders.use_cases.sales.lock_sold_order import lock_sold_order
from orders.use_cases.sales.project_sale import project_sale
from orders.use_cases.sales.project_sale_with_transition import project_sale_with_transition


async def on_vendor_approved(
    event: VendorApproved, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> Outcome:
    rejection = await project_vendor(uow, _vendor(event), received.sequence, now=dependencies.clock.now())
    return _OUTCOMES[rejection]


async def on_vendor_changed(
    event: VendorChanged, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> Outcome:
    rejection = await project_vendor(uow, _vendor(event), received.sequence, now=dependencies.clock.now())
    return _OUTCOMES[rejection]


async def on_vendor_suspended(
    event: VendorSuspended, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> Outcome:
    now = dependencies.clock.now()
    return _OUTCOMES[await project_vendor_status(uow, _vendor(event), True, received.sequence, now=now)]


async def on_vendor_reinstated(
    event: VendorReinstated, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> Outcome:
    now = dependencies.clock.now()
    return _OUTCOMES[await project_vendor_status(uow, _vendor(event), False, received.sequence, now=now)]


async def on_vendor_closed(
    event: VendorClosed, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    await close_vendor(uow, event.vendor_id, event.campus_id, received.sequence, dependencies.clock.now())


async def on_erasure_requested(
    event: ErasureRequested, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> Outcome:
    rejection = await evaluate_erasure(
        uow, event.request_id, event.user_id, event.vendor_id, sequence=received.sequence, **_timing(dependencies)
    )
    return _OUTCOMES[rejection]


async def on_erasure_refused(event: ErasureRefused, received: Received, uow: UnitOfWork, _: Dependencies) -> Outcome:
    return _OUTCOMES[await cancel_erasure(uow, event.user_id, received.sequence)]


async def on_user_erased(event: UserErased, received: Received, uow: UnitOfWork, dependencies: Dependencies) -> Outcome:
    return _OUTCOMES[await erase_buyer(uow, event.user_id, received.sequence, dependencies.clock.now())]


async def on_user_provisioned(
    event: UserProvisioned, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> Outcome:
    return await _project_user(event, received, uow, dependencies)


async def on_profile_changed(
    event: ProfileChanged, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> Outcome:
    return await _project_user(event, received, uow, dependencies)


async def on_campus_changed(event: CampusChanged, received: Received, uow: UnitOfWork, _: Dependencies) -> Outcome:
    return _OUTCOMES[await project_campus(uow, event.campus_id, event.name, event.active, received.sequence)]


async def on_hub_changed(event: HubChanged, received: Received, uow: UnitOfWork, _: Dependencies) -> Outcome:
    hub = HubProjection(
        event.hub_id,
        event.campus_id,
        event.name,
        event.delivery_fee_minor,
        event.active,
        event.address,
        None if event.opening_hours is None else msgspec.to_builtins(event.opening_hours),
    )
    return _OUTCOMES[await project_hub(uow, hub, received.sequence)]


async def on_cart_received(
    event: CartReceived, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> Outcome:
    lines = [DraftLine(line.retailer_id, line.quantity) for line in event.items]
    now = dependencies.clock.now()
    return applied_if(await record_purchase_draft(uow, event.draft_id, event.user_id, lines, now))


async def on_escrow_held(event: EscrowHeld, received: Received, uow: UnitOfWork, dependencies: Dependencies) -> Outcome:
    pins, sequence = dependencies.pins, received.sequence
    shared = None if event.paid_orders is None else SharedPayment(event.reference, event.paid_orders)
    sold, receipt = await lock_paid_order(uow, event.order_id)
    sale = Sale(datetime.fromisoformat(event.held_at), event.amount_minor, locked_minor=event.amount_minor)
    await project_sale_with_transition(uow, sold, sale, sequence)
    await dependencies.receipts.issue_with_transition(uow, receipt, sale.sold_at)
    rejection = await accept_payment(
        uow,
        sold.order,
        ReportedEscrow(event.amount_minor, sequence),
        pins,
        shared_payment=shared,
        **_timing(dependencies),
    )
    return _OUTCOMES[rejection]


async def on_escrow_released(
    event: EscrowReleased, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> Outcome:
    remaining, sequence = event.remaining_minor, received.sequence
    sold = await lock_sold_order(uow, event.order_id)
    if event.escrow is not None:
        await project_sale_with_transition(uow, sold, _sale(event.escrow), sequence)
    rejection = await complete_order(uow, sold.order, remaining, sequence=sequence, **_timing(dependencies))
    return _OUTCOMES[rejection]


async def on_escrow_refunded(
    event: EscrowRefunded, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> Outcome:
    remaining, sequence = event.remaining_minor, received.sequence
    sold = await lock_sold_order(uow, event.order_id)
    rejection = await record_refund_posted(
        uow, sold.order, event.refund_id, remaining, sequence=sequence, **_timing(dependencies)
    )
    await _project_escrow(uow, sold, event.escrow, sequence)
    return _OUTCOMES[rejection]


async def on_escrow_stated(event: EscrowStated, received: Received, uow: UnitOfWork, _: Dependencies) -> Outcome:
    sold = await lock_sold_order(uow, event.order_id)
    return _OUTCOMES[await project_sale(uow, sold, _sale(event.escrow), received.sequence)]


async def on_refund_settled(
    event: RefundSettled, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> Outcome:
    # Refunds of an overpayment or of quarantined money belong to payments and change no order.
    if event.kind == "order" and event.order_id is not None:
        about, sequence = (event.order_id, event.refund_id), received.sequence
        return _OUTCOMES[await record_refund_settled(uow, *about, sequence=sequence, **_timing(dependencies))]
    return Outcome.IGNORED


async def on_refund_failed(
    event: RefundFailed, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> Outcome:
    if event.kind == "order" and event.order_id is not None:
        about, sequence = (event.order_id, event.refund_id), received.sequence
        return _OUTCOMES[await record_refund_failed(uow, *about, sequence=sequence, **_timing(dependencies))]
    return Outcome.IGNORED


async def on_charge_disputed(
    event: ChargeDisputed, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> Outcome:
    outcome, sequence = _CHARGE_OUTCOMES.get(event.outcome or ""), received.sequence
    sold = await lock_sold_order(uow, event.order_id)
    rejection = await record_chargeback(uow, sold.order, outcome, sequence=sequence, **_timing(dependencies))
    await _project_escrow(uow, sold, event.escrow, sequence)
    return _OUTCOMES[rejection]


async def on_charge_quarantined(
    event: ChargeQuarantined, _: Received, uow: UnitOfWork, dependencies: Dependencies
) -> Outcome:
    if not event.named_orders:
        return Outcome.IGNORED
    return _OUTCOMES[await record_quarantined_charge(uow, event.named_orders, dependencies.clock.now())]


async def on_outside_refund_recorded(
    event: OutsideRefundRecorded, received: Received, uow: UnitOfWork, _: Dependencies
) -> Outcome:
    sold = await lock_sold_order(uow, event.order_id)
    return _OUTCOMES[await project_sale(uow, sold, _sale(event.escrow), received.sequence)]


_OUTCOMES: Final[Mapping[Rejection | None, Outcome]] = {
    None: Outcome.APPLIED,
    Rejection.REPEATED: Outcome.DUPLICATE,
    Rejection.STALE: Outcome.STALE,
    Rejection.FORBIDDEN: Outcome.IGNORED,
}
# Any other value means that the bank has not decided.
_CHARGE_OUTCOMES: Final[Mapping[str, ChargeOutcome]] = {"won": "won", "lost": "lost"}


class _Timing(TypedDict):
    now: datetime
    windows: Windows


def _timing(dependencies: Dependencies) -> _Timing:
    return {"now": dependencies.clock.now(), "windows": dependencies.windows}


async def _project_escrow(uow: UnitOfWork, sold: SoldOrder, escrow: EscrowState | None, sequence: int) -> None:
    """Project the sale; an event of the previous release does not contain it."""
    if escrow is not None:
        await project_sale(uow, sold, _sale(escrow), sequence)


def _sale(escrow: EscrowState) -> Sale:
    return Sale(
        datetime.fromisoformat(escrow.held_at),
        escrow.held_minor,
        escrow.locked_minor,
        escrow.net_minor,
        escrow.commission_minor,
        escrow.delivery_fee_minor,
    )


async def _project_user(
    event: UserProvisioned | ProfileChanged, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> Outcome:
    user = UserProjection(
        event.user_id, event.email, event.phone, event.full_name, phone_confirmed=bool(event.phone_confirmed)
    )
    hashes, contacts = dependencies.address_hashes, dependencies.contacts
    return _OUTCOMES[await project_user(uow, user, received.sequence, hashes=hashes, contacts=contacts)]


def _vendor(event: VendorApproved | VendorChanged | VendorSuspended | VendorReinstated) -> VendorProjection:
    # An approval is of a vendor that has no absence yet.
    away = (None, None) if isinstance(event, VendorApproved) else (event.absent_until, event.absence_message)
    return VendorProjection(
        event.vendor_id,
        event.business_name,
        event.campus_id,
        event.commission_basis_points,
        event.owner_user_id,
        None if away[0] is None else datetime.fromisoformat(away[0]),
        away[1],
    )


SUBSCRIPTIONS: list[Subscription] = [
    Subscription(VendorApproved, on_vendor_approved, alone=True),
    Subscription(VendorChanged, on_vendor_changed, alone=True),
    Subscription(VendorSuspended, on_vendor_suspended, alone=True),
    Subscription(VendorReinstated, on_vendor_reinstated, alone=True),
    Subscription(VendorClosed, on_vendor_closed, alone=True),
    Subscription(UserProvisioned, on_user_provisioned),
    Subscription(ProfileChanged, on_profile_changed),
    Subscription(ErasureRequested, on_erasure_requested, alone=True),
    Subscription(ErasureRefused, on_erasure_refused, alone=True),
    Subscription(UserErased, on_user_erased, alone=True),
    Subscription(CampusChanged, on_campus_changed),
    Subscription(HubChanged, on_hub_changed),
    Subscription(EscrowHeld, on_escrow_held, starts_late=True),
    Subscription(EscrowReleased, on_escrow_released, starts_late=True),
    Subscription(EscrowRefunded, on_escrow_refunded),
    Subscription(EscrowStated, on_escrow_stated),
    Subscription(RefundSettled, on_refund_settled),
    Subscription(RefundFailed, on_refund_failed),
    Subscription(ChargeDisputed, on_charge_disputed),
    Subscription(OutsideRefundRecorded, on_outside_refund_recorded),
    # Its charge may be of several orders.
    Subscription(ChargeQuarantined, on_charge_quarantined, alone=True),
    # The trigger against erasures ends the transaction.
    Subscription(CartReceived, on_cart_received, alone=True),
]
