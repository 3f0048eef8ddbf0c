"""How news of a transfer is judged: by rank of state, never by arrival (contract section 8)."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal
from uuid import UUID

from payouts.domain.severity import Cause, cause_of

UpdateSource = Literal["webhook", "call", "query"]
Verdict = Literal["advanced", "confirmed", "late_success", "repeated", "stale", "contradiction"]

RANKS: Final[dict[str, int]] = {
    "pending": 0,
    "received": 0,
    "otp": 0,
    "success": 1,
    "failed": 1,
    "rejected": 1,
    "blocked": 1,
    "abandoned": 1,
    "reversed": 2,
}
# Under way: the gateway has the order, and nobody knows yet how it ends.
UNDER_WAY: Final = frozenset(status for status, rank in RANKS.items() if rank == 0)
# Before the gateway has said anything of its own.
OURS: Final = frozenset({"reserved", "submitting", "unknown"})

# What stands of an attempt with which its payout was processed.
_ARRIVED: Final = frozenset({"success", "reversed"})


@dataclass(frozen=True, slots=True)
class TransferUpdate:
    """What the gateway said of a transfer: by webhook, in answer to our call, or when asked. Amount in kobo."""

    update_source: UpdateSource
    status: str
    amount_minor: int
    currency: str
    transfer_code: str | None = None
    reason: str | None = None
    gateway_event_id: str | None = None

    @property
    def failure(self) -> str | None:
        """Why it failed. Of a transfer that did not, the reason is our own narration."""
        return None if self.status == "success" or self.status in UNDER_WAY else self.reason


@dataclass(frozen=True, slots=True)
class LockedTransfer:
    """A transfer under lock, with its payout, and the last state of it that took effect."""

    id: UUID
    payout_id: UUID
    vendor_id: UUID
    # None for an attempt after a reset.
    batch_id: UUID | None
    reference: str
    status: str
    amount_minor: int
    currency: str
    payout_status: str
    effective_status: str | None
    poll_count: int = 0
    # Somebody is to do something with it at a certain time.
    leased: bool = True
    # How often it was taken to be sent: whoever has another number in hand was overtaken.
    submissions: int = 0
    # When the last call began that is not known to have ended; None: there is none.
    called_at: datetime | None = None
    # When the gateway first said that it arrived.
    arrived_at: datetime | None = None
    # Two people have returned a processed payout's amount to the wallet, because its money had come back.
    returned: bool = False


def evaluate_update(transfer: LockedTransfer, update: TransferUpdate) -> Verdict:
    """What the news means for this transfer.

    advanced: a higher state, or a further step on the way; it takes effect.
    confirmed: the gateway, asked because it had contradicted itself, says success; it takes effect.
    late_success: a success that comes after the reversal of the same transfer; the payout completes, the exception stays.
    repeated, stale: no effect. contradiction: an exception, and a query.
    """
    differs = (update.amount_minor, update.currency) != (transfer.amount_minor, transfer.currency)
    # After its money was returned, a payout must not leave a second time without somebody looking (section 14.4).
    if differs or (update.status == "success" and transfer.payout_status == "failed"):
        return "contradiction"
    if update.status == "success" and transfer.returned and transfer.effective_status == "reversed":
        return "contradiction"
    # Another attempt of the payout has arrived: its money has left twice, or is about to.
    if (
        update.status == "success"
        and transfer.payout_status == "processed"
        and transfer.effective_status not in _ARRIVED
    ):
        return "contradiction"
    if transfer.effective_status is None:
        return "advanced"
    before, now = RANKS[transfer.effective_status], RANKS[update.status]
    if update.status == transfer.effective_status or (
        update.status == "success" and transfer.payout_status == "processed"
    ):
        return "repeated"
    if now > before or now == before == 0:
        return "advanced"
    if now < before:
        return "late_success" if update.status == "success" else "stale"
    return "confirmed" if update.update_source == "query" and update.status == "success" else "contradiction"


def has_effect(verdict: Verdict) -> bool:
    return verdict in ("advanced", "confirmed", "late_success")


@dataclass(frozen=True, slots=True)
class Consequences:
    """All that follows from one piece of news; whoever records it carries out each of these in one transaction."""

    verdict: Verdict
    # The news' status becomes the transfer's own, as the row shows it.
    sets_status: bool = False
    # The first that is heard of the gateway having the order.
    is_submitted: bool = False
    # The money has left for good: the payout is processed, unless it was before.
    completes_payout: bool = False
    closes_exception: bool = False
    opens: Cause | None = None
    detail: str = ""
    needs_query: bool = False


def consequences_of(transfer: LockedTransfer, update: TransferUpdate) -> Consequences:
    """What the news does to the transfer and its payout. A failure or reversal moves neither: an operator decides."""
    verdict = evaluate_update(transfer, update)
    effective = has_effect(verdict)
    if verdict == "contradiction":
        # Never dropped: people hear of it, and the gateway is asked, unless this was its answer.
        detail = (
            f"The gateway reports {update.status} over {update.amount_minor} {update.currency} kobo; the books have "
            f"{transfer.effective_status or transfer.status} over {transfer.amount_minor} {transfer.currency}."
        )
        agrees = (update.amount_minor, update.currency) == (transfer.amount_minor, transfer.currency)
        return Consequences(
            verdict,
            agrees and _names_the_state(transfer, update, verdict),
            opens="unclassified",
            detail=detail,
            needs_query=update.update_source != "query",
        )
    if effective and update.status == "success":
        is_submitted = transfer.status in OURS
        # After a reversal the exception stays: the gateway said that the money came back, and somebody must look.
        return Consequences(
            verdict, True, is_submitted, completes_payout=True, closes_exception=verdict != "late_success"
        )
    if verdict == "repeated" and (update.update_source, update.status) == ("query", "success"):
        # The gateway, asked, stands by the success: that answers a contradiction, and never a reversal.
        return Consequences(verdict, sets_status=True, closes_exception=transfer.effective_status != "reversed")
    if (verdict, update.update_source, update.status, transfer.status) == (
        "repeated",
        "webhook",
        "success",
        "reversed",
    ):
        # The row says what the gateway answered before. Whether the money has left again since then, it knows when asked.
        return Consequences(verdict, needs_query=True)
    sets_status = _names_the_state(transfer, update, verdict)
    is_submitted = sets_status and transfer.status in OURS and update.status in UNDER_WAY | {"success"}
    if effective and RANKS[update.status] > 0:
        detail = update.reason or f"The gateway reports the transfer as {update.status}."
        return Consequences(
            verdict, sets_status, is_submitted, opens=cause_of(update.status, update.reason), detail=detail
        )
    return Consequences(verdict, sets_status, is_submitted)


def _names_the_state(transfer: LockedTransfer, update: TransferUpdate, verdict: Verdict) -> bool:
    """Whether what the gateway said becomes the row's state. A webhook's failure never does; how it ended, asked, does."""
    if update.update_source == "webhook":
        return False
    if update.update_source == "query" and RANKS[update.status] > 0 and verdict != "stale":
        return True
    if verdict == "contradiction":
        return False
    return transfer.status in OURS or (has_effect(verdict) and transfer.status in UNDER_WAY)
