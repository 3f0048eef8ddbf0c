"""Evaluate and record a report of the gateway about a transfer, with its consequences."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from common.ledger import posting as ledger
from common.observability.telemetry import STALE_EVENTS
from common.primitives.ids import new_id
from contracts.payouts import PayoutProcessed, PayoutSubmitted
from payouts import store
from payouts.domain import accounts
from payouts.domain.transfer_fees import fee_to_post
from payouts.domain.transfer_updates import (
    LockedTransfer,
    TransferUpdate,
    as_reversal,
    consequences_of,
    may_be_paid_twice,
)
from payouts.domain.transitions import Verdict
from payouts.use_cases.exceptions.close_open_exception import close_open_exception
from payouts.use_cases.exceptions.open_exception import open_exception
from payouts.use_cases.payouts.hold_contradicted import hold_contradicted
from payouts.use_cases.payouts.restitute_after_settlement import restitute_after_settlement
from payouts.use_cases.transfers.stop_other_attempts import stop_other_attempts


async def record_update(uow: UnitOfWork, transfer: LockedTransfer, update: TransferUpdate, now: datetime) -> Verdict:
    """Record the observation and executes its consequences. The transfer and its payout must be locked (contract
    section 8).

    A failure or reversal opens an exception and moves neither money nor state: an operator decides. Where a quarantine
    awaits the end of the transfer, that decision was made before.
    """
    update = as_reversal(transfer, update)
    follows = consequences_of(transfer, update)
    await store.record_observation(uow, transfer.id, update, follows.verdict, now)
    if follows.sets_status:
        await store.save_transfer_status(uow, transfer, update, now)
    await _post_fee(uow, transfer, update, now)
    if follows.is_submitted:
        uow.publish(_about_payout(PayoutSubmitted, transfer))
    if follows.completes_payout:
        await _complete_payout(uow, transfer, now)
    if follows.closes_exception:
        await close_open_exception(
            uow, transfer.payout_id, "The gateway confirmed the transfer.", now, transfer_id=transfer.id
        )
    if follows.completes_payout:
        await stop_other_attempts(uow, transfer, now)
    is_held = may_be_paid_twice(transfer, update) and await hold_contradicted(uow, transfer, now)
    if follows.opens is not None and not is_held:
        await open_exception(uow, transfer, follows.opens, follows.detail, now)
    if follows.needs_query:
        uow.enqueue_work("payouts.transfers", transfer.reference, {"transferId": str(transfer.id)})
    await restitute_after_settlement(uow, transfer, update, now)
    if follows.verdict == "stale":
        STALE_EVENTS.labels(f"transfer.{update.status}").inc()
    return follows.verdict


async def _post_fee(uow: UnitOfWork, transfer: LockedTransfer, update: TransferUpdate, now: datetime) -> None:
    """Post a fee that the gateway reports for the first time, or the difference to the posted one."""
    fee_minor = fee_to_post(transfer, update)
    if fee_minor is None:
        return
    await store.save_fee(uow, transfer.id, fee_minor, now)
    added_minor = fee_minor - (transfer.fee_minor or 0)
    key = f"transfer_fee:{transfer.id}"
    if transfer.fee_minor is not None:
        key = f"{key}:{new_id()}"
    if added_minor:
        await ledger.post(uow, accounts.transfer_fee(key, added_minor))


async def _complete_payout(uow: UnitOfWork, transfer: LockedTransfer, now: datetime) -> None:
    """Move the amount from in transit to gateway cash, once."""
    if await store.mark_processed(uow, transfer.id, now):
        await ledger.post(uow, accounts.payout_processed(transfer.payout_id, transfer.amount_minor))
        uow.publish(_about_payout(PayoutProcessed, transfer))


def _about_payout(
    event: type[PayoutSubmitted] | type[PayoutProcessed], transfer: LockedTransfer
) -> PayoutSubmitted | PayoutProcessed:
    return event(
        payout_id=transfer.payout_id,
        vendor_id=transfer.vendor_id,
        amount_minor=transfer.amount_minor,
        reference=transfer.reference,
        number=transfer.number,
    )
