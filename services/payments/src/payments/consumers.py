"""Subscriptions to other services' events, and the work items of the service itself."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

import msgspec

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import UnitOfWork
from common.messaging.faults import PermanentFault
from common.messaging.messages import Outcome, Received, Subscription, WorkItem, applied_if
from contracts.identity import EmailConfirmed, ErasureRequested, UserErased, UserProvisioned, VendorClosed
from contracts.orders import (
    DisputeResolved,
    OrderCancelled,
    OrderDelivered,
    OrderDisputed,
    OrderExpired,
    OrderPlaced,
    PurchasePlaced,
    RefundRequested,
)
from contracts.payouts import BankDetailsChanged, BankDetailsQuarantined
from payments.dependencies import Dependencies
from payments.domain.errors import DisputeUnconfirmed, MalformedEvent
from payments.domain.escrow import Parts
from payments.domain.queues import REFUND_QUEUE, WEBHOOK_QUEUE, WITHDRAWAL_QUEUE
from payments.domain.refunds import RefundUpdate, RequestedRefund
from payments.metrics import WEBHOOKS_PROCESSED
from payments.store import erasure, projections, withdrawals
from payments.use_cases.erasure.evaluate_erasure import evaluate_erasure
from payments.use_cases.escrow.close_order import close_order
from payments.use_cases.escrow.freeze_escrow import freeze_escrow
from payments.use_cases.escrow.release_on_delivery import release_on_delivery
from payments.use_cases.escrow.unfreeze_escrow import unfreeze_escrow
from payments.use_cases.refunds.query_reported_refunds import query_reported_refunds
from payments.use_cases.refunds.refund_order import refund_order
from payments.use_cases.refunds.retry_with_account import retry_with_account
from payments.use_cases.refunds.submit_refund import submit_refund
from payments.use_cases.rewards.credit_reward import credit_reward
from payments.use_cases.webhooks.confirm_webhook import confirm_webhook
from payments.use_cases.webhooks.dead_letter_webhook import dead_letter_webhook
from payments.use_cases.webhooks.finish_replay import finish_replay
from payments.use_cases.webhooks.process_webhook import WebhookAttempt, WebhookResult, process_webhook
from payments.use_cases.withdrawals.submit_withdrawal import submit_withdrawal


class WebhookWork(msgspec.Struct, frozen=True, rename="camel"):
    """The work item of `payments.webhooks`: the key of a row of processed_webhook_events."""

    webhook_id: str
    is_replay: bool = False


class RefundWork(msgspec.Struct, frozen=True, rename="camel"):
    """The work item of `payments.refunds`."""

    refund_id: UUID


class WithdrawalWork(msgspec.Struct, frozen=True, rename="camel"):
    """The work item of `payments.withdrawals`."""

    withdrawal_id: UUID


async def on_user_provisioned(
    event: UserProvisioned, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    await projections.save_buyer(uow, event.user_id, event.email, dependencies.clock.now())
    # A confirmed address earns the reward: here, or by the first confirmation (contract section 10.1).
    if event.email_confirmed and event.referral.applied and event.referral.reward_minor > 0:
        await credit_reward(uow, event.user_id, event.referral.reward_minor, dependencies.clock.now())


async def on_email_confirmed(
    event: EmailConfirmed, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    """May arrive before the profile's event, and twice: the posting key is the user's."""
    if event.referral_reward_minor > 0:
        await credit_reward(uow, event.user_id, event.referral_reward_minor, dependencies.clock.now())


async def on_user_erased(event: UserErased, received: Received, uow: UnitOfWork, dependencies: Dependencies) -> None:
    await erasure.erase_buyer(uow, event.user_id, dependencies.clock.now())


async def on_vendor_closed(event: VendorClosed, received: Received, uow: UnitOfWork, _: object) -> None:
    await erasure.erase_vendor(uow, event.vendor_id)


async def on_erasure_requested(
    event: ErasureRequested, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    await evaluate_erasure(uow, event.request_id, event.user_id, event.vendor_id)


async def on_order_placed(event: OrderPlaced, received: Received, uow: UnitOfWork, dependencies: Dependencies) -> None:
    order = projections.PlacedOrder(
        event.order_id,
        event.buyer_id,
        event.vendor_id,
        event.total_minor,
        event.commission_minor,
        event.delivery_fee_minor,
        event.currency,
        datetime.fromisoformat(event.payment_due_at),
        event.number,
        event.purchase_id,
    )
    uow.on_end(lambda _: dependencies.placed.wake(event.buyer_id))
    await projections.record_order_if_new(uow, order, dependencies.clock.now())


async def on_purchase_placed(
    event: PurchasePlaced, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    uow.on_end(lambda _: dependencies.placed.wake(event.buyer_id))
    await projections.record_purchase_if_new(
        uow, event.purchase_id, event.buyer_id, event.number, event.order_ids, dependencies.clock.now()
    )


async def on_order_cancelled(
    event: OrderCancelled, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> Outcome:
    return applied_if(await close_order(uow, event.order_id, "cancelled", dependencies.clock.now()))


async def on_order_expired(
    event: OrderExpired, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> Outcome:
    return applied_if(await close_order(uow, event.order_id, "expired", dependencies.clock.now()))


async def on_order_delivered(
    event: OrderDelivered, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    await release_on_delivery(uow, event.order_id, dependencies.clock.now())


async def on_order_disputed(
    event: OrderDisputed, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> Outcome:
    return applied_if(await freeze_escrow(uow, event.order_id, received.sequence, dependencies.clock.now()))


async def on_dispute_resolved(
    event: DisputeResolved, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> Outcome:
    return applied_if(
        await unfreeze_escrow(uow, event.order_id, received.sequence, event.release_minor, dependencies.clock.now())
    )


async def on_refund_requested(
    event: RefundRequested, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    requested = RequestedRefund(
        event.order_id,
        event.refund_id,
        event.amount_minor,
        event.reason,
        _parts_of_items(event),
        is_all_to_balance=event.refund_to == "balance",
    )
    await refund_order(uow, requested, dependencies.clock.now())


def _parts_of_items(event: RefundRequested) -> Parts | None:
    """Return the parts that a refund of items takes back; None for a refund of a mere amount."""
    if event.commission_minor is None:
        return None
    commission_minor, fee_minor = event.commission_minor, event.delivery_fee_minor or 0
    return Parts(event.amount_minor - commission_minor - fee_minor, commission_minor, fee_minor)


async def on_webhook_queued(item: WebhookWork, received: Received, dependencies: Dependencies) -> None:
    await confirm_webhook(dependencies.database, dependencies.gateways, item.webhook_id)
    try:
        result = await _process_confirmed(item, received, dependencies)
        if result.refund_event is not None:
            # The gateway is never called inside a unit of work.
            refunds = await query_reported_refunds(dependencies.database, dependencies.gateways, result.refund_event)
            result = await _process(item, received, dependencies, refunds)
    except MalformedEvent as fault:
        raise PermanentFault(str(fault)) from fault
    if item.is_replay:
        async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
            await finish_replay(uow, item.webhook_id)
    WEBHOOKS_PROCESSED.labels(*result.metric_labels).inc()


async def _process_confirmed(item: WebhookWork, received: Received, dependencies: Dependencies) -> WebhookResult:
    try:
        return await _process(item, received, dependencies)
    except DisputeUnconfirmed:
        await confirm_webhook(dependencies.database, dependencies.gateways, item.webhook_id, is_unconfirmed=True)
        return await _process(item, received, dependencies, is_queried=True)


async def _process(
    item: WebhookWork,
    received: Received,
    dependencies: Dependencies,
    refunds: Sequence[RefundUpdate] | None = None,
    *,
    is_queried: bool = False,
) -> WebhookResult:
    attempt = WebhookAttempt(item.webhook_id, received.is_last_attempt, refunds, is_queried)
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        return await process_webhook(
            uow, dependencies.gateways, dependencies.surcharge_bound, attempt, dependencies.clock.now()
        )


async def on_webhook_exhausted(item: WebhookWork, received: Received, uow: UnitOfWork, error: str) -> None:
    await dead_letter_webhook(uow, item.webhook_id, error, received.attempt)


async def on_refund_queued(item: RefundWork, received: Received, dependencies: Dependencies) -> None:
    database, gateways, clock = dependencies.database, dependencies.gateways, dependencies.clock
    if not await retry_with_account(database, gateways, clock, item.refund_id):
        await submit_refund(database, gateways, clock, item.refund_id)


async def on_withdrawal_queued(item: WithdrawalWork, received: Received, dependencies: Dependencies) -> None:
    await submit_withdrawal(dependencies.database, dependencies.gateways, dependencies.clock, item.withdrawal_id)


async def on_bank_details_quarantined(
    event: BankDetailsQuarantined, received: Received, uow: UnitOfWork, _: object
) -> None:
    if event.bank_code is not None and event.last4 is not None:
        await withdrawals.record_quarantined_account(uow, event.vendor_id, event.bank_code, event.last4)


async def on_bank_details_changed(event: BankDetailsChanged, received: Received, uow: UnitOfWork, _: object) -> None:
    """Forget a quarantined account once it is verified again: two people have released it."""
    if event.verified:
        await withdrawals.delete_quarantined_account(uow, event.vendor_id, event.bank_code, event.last4)


SUBSCRIPTIONS: Final[list[Subscription]] = [
    Subscription(UserProvisioned, on_user_provisioned),
    Subscription(EmailConfirmed, on_email_confirmed),
    Subscription(UserErased, on_user_erased, alone=True),
    Subscription(VendorClosed, on_vendor_closed, alone=True),
    Subscription(ErasureRequested, on_erasure_requested, alone=True),
    Subscription(OrderPlaced, on_order_placed, starts_late=True),
    Subscription(PurchasePlaced, on_purchase_placed),
    Subscription(OrderCancelled, on_order_cancelled),
    Subscription(OrderExpired, on_order_expired),
    Subscription(OrderDelivered, on_order_delivered),
    Subscription(OrderDisputed, on_order_disputed),
    Subscription(DisputeResolved, on_dispute_resolved),
    Subscription(RefundRequested, on_refund_requested),
    Subscription(BankDetailsQuarantined, on_bank_details_quarantined),
    Subscription(BankDetailsChanged, on_bank_details_changed),
]

WORK: Final[list[WorkItem]] = [
    WorkItem(WEBHOOK_QUEUE, WebhookWork, on_webhook_queued, on_webhook_exhausted),
    WorkItem(REFUND_QUEUE, RefundWork, on_refund_queued),
    WorkItem(WITHDRAWAL_QUEUE, WithdrawalWork, on_withdrawal_queued),
]
