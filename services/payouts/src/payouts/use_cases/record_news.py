"""Judge what the gateway says of a transfer, keep it, and do what follows."""

from datetime import datetime

from common import ledger
from common.clock import iso
from common.database import UnitOfWork
from common.telemetry import STALE_NEWS
from contracts.payouts import ExceptionClosed, PayoutProcessed, PayoutSubmitted
from payouts import store
from payouts.domain import accounts
from payouts.domain.transfer_news import Consequences, News, TransferInHand, Verdict, consequences_of
from payouts.use_cases.open_exception import open_exception


async def record_news(uow: UnitOfWork, transfer: TransferInHand, news: News, now: datetime) -> Verdict:
    """Keeps the observation and acts on the verdict. The transfer and its payout must be locked (contract section 8).

    A failure or reversal opens an exception and moves neither money nor state: an operator decides.
    """
    follows = consequences_of(transfer, news)
    await store.record_observation(uow, transfer.id, news, follows.verdict, now)
    if follows.names_the_state:
        await store.save_transfer_status(uow, transfer, news, now)
    if follows.is_submitted:
        uow.publish(_about_payout(PayoutSubmitted, transfer))
    if follows.completes:
        await _complete_payout(uow, transfer, follows, now)
    if follows.opens is not None:
        await open_exception(uow, transfer, follows.opens, follows.detail, now)
    if follows.asks_the_gateway:
        uow.leave_work("payouts.transfers", transfer.reference, {"transferId": str(transfer.id)})
    if follows.verdict == "stale":
        STALE_NEWS.labels(f"transfer.{news.status}").inc()
    return follows.verdict


async def _complete_payout(uow: UnitOfWork, transfer: TransferInHand, follows: Consequences, now: datetime) -> None:
    """The money has left: in transit becomes gateway cash, once."""
    if await store.mark_processed(uow, transfer.payout_id, now):
        await ledger.post(uow, accounts.payout_processed(transfer.payout_id, transfer.amount_minor))
        uow.publish(_about_payout(PayoutProcessed, transfer))
    if not follows.closes_the_exception:
        return
    closed = await store.close_exception(uow, transfer.payout_id, "The gateway confirmed the transfer.", now)
    if closed is not None:
        uow.publish(
            ExceptionClosed(
                exception_id=closed.id,
                cause=closed.cause,
                severity=closed.severity,
                respond_by=iso(closed.respond_by),
                payout_id=transfer.payout_id,
                vendor_id=transfer.vendor_id,
            )
        )


def _about_payout(
    event: type[PayoutSubmitted] | type[PayoutProcessed], transfer: TransferInHand
) -> PayoutSubmitted | PayoutProcessed:
    return event(
        payout_id=transfer.payout_id,
        vendor_id=transfer.vendor_id,
        amount_minor=transfer.amount_minor,
        reference=transfer.reference,
    )
