"""Subscriptions of this service, and the work items of its own queue."""

from typing import Final
from uuid import UUID

import msgspec

from common.database.unit_of_work import UnitOfWork
from common.messaging.messages import Outcome, Received, Subscription, WorkItem, applied_if
from contracts.identity import (
    ErasureRequested,
    VendorApproved,
    VendorChanged,
    VendorClosed,
    VendorReinstated,
    VendorSuspended,
)
from contracts.payments import (
    ChargeDisputed,
    EscrowHeld,
    EscrowRefunded,
    EscrowReleased,
    OutsideRefundRecorded,
    ReleaseStatement,
    TransferEvent,
    TransferFailed,
    TransferReversed,
    TransferSucceeded,
    VendorStatementIssued,
)
from payouts.dependencies import Dependencies
from payouts.domain.chargebacks import ChargebackStatus, ChargebackUpdate
from payouts.domain.release_statements import Statement
from payouts.domain.transfer_updates import TransferUpdate
from payouts.domain.transitions import Report
from payouts.domain.wallet import Movement, Refund, Release
from payouts.store.projections import OrderShare
from payouts.use_cases.erasure.evaluate_erasure import evaluate_erasure
from payouts.use_cases.projections.close_vendor import close_vendor
from payouts.use_cases.projections.project_vendor import project_vendor
from payouts.use_cases.projections.project_vendor_status import project_vendor_status
from payouts.use_cases.releases.record_stated_share import record_stated_share
from payouts.use_cases.releases.record_statement import record_statement
from payouts.use_cases.transfers.record_transfer_update import record_transfer_update
from payouts.use_cases.transfers.resolve_transfer import resolve_transfer
from payouts.use_cases.wallets.credit_release import credit_release
from payouts.use_cases.wallets.debit_refund import debit_refund
from payouts.use_cases.wallets.record_chargeback import record_chargeback
from payouts.use_cases.wallets.record_escrow_share import record_escrow_share


async def on_vendor_approved(
    event: VendorApproved, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> Outcome:
    return await _project_vendor(event, received, uow, dependencies)


async def on_vendor_changed(
    event: VendorChanged, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> Outcome:
    return await _project_vendor(event, received, uow, dependencies)


async def on_vendor_suspended(
    event: VendorSuspended, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> Outcome:
    return await _project_vendor_status(event, True, received, uow, dependencies)


async def on_vendor_reinstated(
    event: VendorReinstated, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> Outcome:
    return await _project_vendor_status(event, False, received, uow, dependencies)


async def on_vendor_closed(event: VendorClosed, received: Received, uow: UnitOfWork, _: object) -> None:
    await close_vendor(uow, event.vendor_id, event.owner_user_id, received.sequence)


async def on_erasure_requested(
    event: ErasureRequested, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    minimum_minor = dependencies.transfer_minimum_minor
    await evaluate_erasure(uow, event.request_id, event.user_id, event.vendor_id, minimum_minor)


async def _project_vendor(
    event: VendorApproved | VendorChanged | VendorSuspended | VendorReinstated,
    received: Received,
    uow: UnitOfWork,
    dependencies: Dependencies,
) -> Outcome:
    numbers, now = dependencies.account_numbers, dependencies.clock.now()
    owner, name, sequence = event.owner_user_id, event.legal_name, received.sequence
    return applied_if(await project_vendor(uow, numbers, event.vendor_id, owner, name, sequence, now))


async def _project_vendor_status(
    event: VendorSuspended | VendorReinstated,
    suspended: bool,
    received: Received,
    uow: UnitOfWork,
    dependencies: Dependencies,
) -> Outcome:
    # The event contains the whole vendor. It may be the first one received.
    await _project_vendor(event, received, uow, dependencies)
    return applied_if(await project_vendor_status(uow, event.vendor_id, suspended, received.sequence))


async def on_escrow_held(event: EscrowHeld, received: Received, uow: UnitOfWork, _: object) -> Outcome:
    share_minor = event.amount_minor - event.commission_minor - event.delivery_fee_minor
    share = OrderShare(event.vendor_id, event.order_id, share_minor, received.sequence)
    return applied_if(await record_escrow_share(uow, share))


async def on_escrow_released(
    event: EscrowReleased, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> Outcome:
    release = Release(
        event.release_id,
        event.order_id,
        event.vendor_id,
        event.gross_minor,
        event.commission_minor,
        event.delivery_fee_minor,
        event.net_minor,
    )
    now, key = dependencies.clock.now(), f"release:{event.release_id}"
    stated = _statement(event.statement, event.vendor_id, key, event.net_minor)
    is_newest, is_proven = await record_stated_share(uow, _remaining(event, received), stated, now, line_key=key)
    await credit_release(uow, release, now, is_proven=is_proven)
    return applied_if(is_newest)


async def on_escrow_refunded(
    event: EscrowRefunded, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> Outcome:
    reversal = Movement(event.from_vendor_minor, event.from_commission_minor, event.from_delivery_fee_minor)
    refund = Refund(event.refund_id, event.order_id, event.vendor_id, reversal)
    now, key = dependencies.clock.now(), f"refund:{event.refund_id}"
    stated = _statement(event.statement, event.vendor_id, key, -event.from_vendor_minor)
    is_newest, is_proven = await record_stated_share(uow, _remaining(event, received), stated, now, line_key=key)
    await debit_refund(uow, refund, now, is_proven=is_proven)
    return applied_if(is_newest)


async def on_charge_disputed(
    event: ChargeDisputed, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> Outcome:
    if event.remaining_vendor_minor is not None:
        share = OrderShare(event.vendor_id, event.order_id, event.remaining_vendor_minor, received.sequence)
        await record_escrow_share(uow, share)
    statuses: dict[str | None, ChargebackStatus] = {None: "opened", "won": "won", "lost": "lost"}
    update = ChargebackUpdate(
        event.chargeback_id or event.order_id,
        event.order_id,
        event.vendor_id,
        statuses[event.outcome],
        event.vendor_minor,
        lost=Movement(event.from_vendor_minor, event.from_commission_minor, event.from_delivery_fee_minor),
        won=Movement(event.to_vendor_minor, event.to_commission_minor, event.to_delivery_fee_minor),
    )
    now = dependencies.clock.now()
    # `record_chargeback` writes the line under this key.
    line_key = f"chargeback:{update.id}:{received.sequence}"
    moved_minor = event.to_vendor_minor - event.from_vendor_minor
    source = f"chargeback:{update.id}:{event.outcome}"
    stated = _statement(event.statement, event.vendor_id, source, moved_minor)
    await record_statement(uow, stated, now, line_key=line_key)
    return applied_if(await record_chargeback(uow, update, received.sequence, now))


async def on_outside_refund_recorded(
    event: OutsideRefundRecorded, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> Outcome:
    """Move the wallet like the decision of a chargeback."""
    status: ChargebackStatus = "lost" if event.outcome == "recorded" else "won"
    update = ChargebackUpdate(
        event.refund_id,
        event.order_id,
        event.vendor_id,
        status,
        0,
        lost=Movement(event.from_vendor_minor, event.from_commission_minor, event.from_delivery_fee_minor),
        won=Movement(event.to_vendor_minor, event.to_commission_minor, event.to_delivery_fee_minor),
    )
    now = dependencies.clock.now()
    source = f"outside_refund:{event.refund_id}:{event.outcome}"
    moved_minor = event.to_vendor_minor - event.from_vendor_minor
    stated = _statement(event.statement, event.vendor_id, source, moved_minor)
    line_key = f"chargeback:{update.id}:{received.sequence}"
    await record_stated_share(uow, _remaining(event, received), stated, now, line_key=line_key)
    return applied_if(await record_chargeback(uow, update, received.sequence, now))


async def on_vendor_statement_issued(
    event: VendorStatementIssued, _: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    stated = _statement(event.statement, event.vendor_id, f"opening:{event.vendor_id}", 0)
    await record_statement(uow, stated, dependencies.clock.now())


def _remaining(event: EscrowReleased | EscrowRefunded | OutsideRefundRecorded, received: Received) -> OrderShare:
    return OrderShare(event.vendor_id, event.order_id, event.remaining_vendor_minor, received.sequence)


def _statement(stated: ReleaseStatement | None, vendor_id: UUID, source: str, amount_minor: int) -> Statement | None:
    """Return the statement with the movement of its event, as payments signs it."""
    if stated is None:
        return None
    return Statement(
        vendor_id, source, amount_minor, stated.sequence, stated.net_minor, stated.key_id, stated.signature
    )


async def on_transfer_succeeded(
    event: TransferSucceeded, _: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    await record_transfer_update(uow, event.reference, _transfer_update("success", event), dependencies.clock.now())


async def on_transfer_failed(event: TransferFailed, _: Received, uow: UnitOfWork, dependencies: Dependencies) -> None:
    await record_transfer_update(uow, event.reference, _transfer_update("failed", event), dependencies.clock.now())


async def on_transfer_reversed(
    event: TransferReversed, _: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    await record_transfer_update(uow, event.reference, _transfer_update("reversed", event), dependencies.clock.now())


def _transfer_update(status: Report, event: TransferEvent) -> TransferUpdate:
    """Return the update by the event's type. A finer status of the gateway, such as `rejected`, has the same rank."""
    return TransferUpdate(
        "webhook",
        status,
        event.amount_minor,
        event.currency,
        event.transfer_code or None,
        None if status == "success" else event.reason,
        event.gateway_event_id,
        event.fee_minor,
    )


class QueuedTransfer(msgspec.Struct, frozen=True, rename="camel"):
    """A transfer to query at the gateway now, before it is due."""

    transfer_id: UUID


async def on_transfer_queued(item: QueuedTransfer, _: Received, dependencies: Dependencies) -> None:
    await resolve_transfer(dependencies.database, dependencies.gateways, dependencies.clock, item.transfer_id)


SUBSCRIPTIONS: Final[list[Subscription]] = [
    Subscription(VendorApproved, on_vendor_approved),
    Subscription(VendorChanged, on_vendor_changed),
    Subscription(VendorSuspended, on_vendor_suspended),
    Subscription(VendorReinstated, on_vendor_reinstated),
    Subscription(VendorClosed, on_vendor_closed, alone=True),
    Subscription(ErasureRequested, on_erasure_requested, alone=True),
    Subscription(EscrowHeld, on_escrow_held, starts_late=True),
    Subscription(EscrowReleased, on_escrow_released),
    Subscription(EscrowRefunded, on_escrow_refunded),
    Subscription(ChargeDisputed, on_charge_disputed),
    Subscription(OutsideRefundRecorded, on_outside_refund_recorded),
    Subscription(VendorStatementIssued, on_vendor_statement_issued),
    Subscription(TransferSucceeded, on_transfer_succeeded, alone=True),
    Subscription(TransferFailed, on_transfer_failed, alone=True),
    Subscription(TransferReversed, on_transfer_reversed, alone=True),
]
WORK: Final[list[WorkItem]] = [WorkItem("payouts.transfers", QueuedTransfer, on_transfer_queued)]
