"""Judge what the gateway says of a transfer, keep it, and do what follows."""

from datetime import datetime

from common import ledger
from common.clock import iso
from common.database import UnitOfWork
from common.telemetry import STALE_NEWS
from contracts.payouts import ExceptionClosed, PayoutProcessed, PayoutSubmitted
from payouts import store
from payouts.domain import accounts
from payouts.domain.severity import cause_of
from payouts.domain.transfer_news import OURS, RANKS, UNDER_WAY, News, TransferInHand, Verdict, judge, takes_effect
from payouts.use_cases.open_exception import open_exception


async def record_news(uow: UnitOfWork, transfer: TransferInHand, news: News, now: datetime) -> Verdict:
    """Keeps the observation and acts on the verdict. The transfer and its payout must be locked (contract section 8).

    A failure or reversal opens an exception and moves neither money nor state: an operator decides.
    """
    verdict = judge(transfer, news)
    await store.record_observation(uow, transfer.id, news, verdict, now)
    succeeded = takes_effect(verdict) and news.status == "success"
    if succeeded or _names_the_state(transfer, news, verdict):
        await store.save_transfer_status(uow, transfer, news, now)
        if transfer.status in OURS and news.status in UNDER_WAY | {"success"}:
            uow.publish(_about_payout(PayoutSubmitted, transfer))
    if succeeded:
        await _complete_payout(uow, transfer, verdict, now)
    elif takes_effect(verdict) and RANKS[news.status] > 0:
        detail = news.reason or f"The gateway reports the transfer as {news.status}."
        await open_exception(uow, transfer, cause_of(news.status, news.reason), detail, now)
    elif verdict == "contradiction":
        await _look_into(uow, transfer, news, now)
    elif verdict == "stale":
        STALE_NEWS.labels(f"transfer.{news.status}").inc()
    return verdict


def _names_the_state(transfer: TransferInHand, news: News, verdict: Verdict) -> bool:
    """Whether an answer to our own call or question becomes the row's state. A webhook's failure never does."""
    if news.heard_from == "webhook" or verdict == "contradiction":
        return False
    return transfer.status in OURS or (takes_effect(verdict) and transfer.status in UNDER_WAY)


async def _complete_payout(uow: UnitOfWork, transfer: TransferInHand, verdict: Verdict, now: datetime) -> None:
    """The money has left: in transit becomes gateway cash, once."""
    if await store.mark_processed(uow, transfer.payout_id, now):
        await ledger.post(uow, accounts.payout_processed(transfer.payout_id, transfer.amount_minor))
        uow.publish(_about_payout(PayoutProcessed, transfer))
    if verdict == "late_success":
        # The reversal still stands: the gateway says that the money came back, and somebody must look.
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


async def _look_into(uow: UnitOfWork, transfer: TransferInHand, news: News, now: datetime) -> None:
    """A contradiction is never dropped: people hear of it, and the gateway is asked, unless this was its answer."""
    detail = (
        f"The gateway reports {news.status} over {news.amount_minor} {news.currency} kobo; the books have "
        f"{transfer.standing or transfer.status} over {transfer.amount_minor} {transfer.currency}."
    )
    await open_exception(uow, transfer, "unclassified", detail, now)
    if news.heard_from != "query":
        uow.leave_work("payouts.transfers", transfer.reference, {"transferId": str(transfer.id)})


def _about_payout(
    event: type[PayoutSubmitted] | type[PayoutProcessed], transfer: TransferInHand
) -> PayoutSubmitted | PayoutProcessed:
    return event(
        payout_id=transfer.payout_id,
        vendor_id=transfer.vendor_id,
        amount_minor=transfer.amount_minor,
        reference=transfer.reference,
    )
