"""Handlers of payouts' events."""

from common.database.unit_of_work import UnitOfWork
from common.messaging.messages import Received
from contracts.payouts import (
    BankDetailsChanged,
    BankDetailsQuarantined,
    PayoutDelayed,
    PayoutFailed,
    PayoutProcessed,
    PayoutReversed,
)
from notifications.deliveries.consumers.subject_parameters import payout_parameters
from notifications.deliveries.use_cases.deliveries.notify_shop import notify_shop
from notifications.dependencies import Dependencies


async def on_payout_processed(
    event: PayoutProcessed, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    parameters = {**payout_parameters(event), "amountMinor": event.amount_minor}
    notify_shop(uow, dependencies.delivery_context(), event.vendor_id, "payout_processed", parameters, event.payout_id)


async def on_payout_delayed(
    event: PayoutDelayed, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    """Notify once for each exception: a payout may be delayed repeatedly."""
    parameters = {**payout_parameters(event), "amountMinor": event.amount_minor, "cause": event.cause}
    notify_shop(
        uow,
        dependencies.delivery_context(),
        event.vendor_id,
        "payout_delayed",
        parameters,
        event.exception_id or received.event_id,
    )


async def on_payout_failed(
    event: PayoutFailed, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    # The vendor cancelled it; the bank details are fine.
    if event.cancelled:
        return
    parameters = {**payout_parameters(event), "amountMinor": event.amount_minor}
    notify_shop(uow, dependencies.delivery_context(), event.vendor_id, "payout_failed", parameters, event.payout_id)


async def on_payout_reversed(
    event: PayoutReversed, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    parameters = {**payout_parameters(event), "amountMinor": event.amount_minor}
    notify_shop(
        uow, dependencies.delivery_context(), event.vendor_id, "payout_reversed", parameters, event.reconciliation_id
    )


async def on_bank_details_changed(
    event: BankDetailsChanged, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    parameters = {"last4": event.last4, "standing": "verified" if event.verified else "unverified"}
    notify_shop(
        uow, dependencies.delivery_context(), event.vendor_id, "bank_details_changed", parameters, received.event_id
    )


async def on_bank_details_quarantined(
    event: BankDetailsQuarantined, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    parameters = {"reason": event.reason} | ({"last4": event.last4} if event.last4 else {})
    notify_shop(
        uow, dependencies.delivery_context(), event.vendor_id, "bank_details_quarantined", parameters, received.event_id
    )
