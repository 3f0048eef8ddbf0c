"""Meaning and consequences of a gateway's report about a transfer (contract section 8).

Reports are evaluated by the table of transitions, never by the order of their arrival.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Literal
from uuid import UUID

from payouts.domain.payout_transitions import PayoutStatus
from payouts.domain.severity import Cause, cause_of
from payouts.domain.transitions import OWN_STATES, UNDER_WAY, Event, Report, State, Verdict, verdict_of
from providers.gateways import FLUTTERWAVE, PAYSTACK, GatewayName

# These report a transfer that the bank returned as failed, and have no word for a reversal.
REPORT_REVERSAL_AS_FAILURE: Final[frozenset[GatewayName]] = frozenset({FLUTTERWAVE})

UpdateSource = Literal["webhook", "call", "query"]


@dataclass(frozen=True, slots=True)
class TransferUpdate:
    """A report of the gateway, by webhook, in the response to a call, or in the response to a query. Amounts in kobo.

    `reason` is what the bank or the gateway reports, never our own narration. `fee_minor`: the gateway's fee, when the
    report has it.
    """

    update_source: UpdateSource
    status: Report
    amount_minor: int
    currency: str
    transfer_code: str | None = None
    reason: str | None = None
    gateway_event_id: str | None = None
    fee_minor: int | None = None

    @property
    def failure(self) -> str | None:
        """The reason of a transfer that paid nothing or was returned."""
        return None if self.status == "success" or self.status in UNDER_WAY else self.reason


@dataclass(frozen=True, slots=True)
class LockedTransfer:
    """A transfer under lock with its payout. `effective_status` is that of the last effective report."""

    id: UUID
    payout_id: UUID
    vendor_id: UUID
    # None for an attempt after a reset.
    batch_id: UUID | None
    reference: str
    status: State
    amount_minor: int
    currency: str
    payout_status: PayoutStatus
    effective_status: Report | None
    poll_count: int = 0
    # A process is to act on it at a set time.
    leased: bool = True
    # The number of submissions: a caller with another number was replaced.
    submissions: int = 0
    # The start of the last call whose end is unknown; None when there is none.
    called_at: datetime | None = None
    # When the gateway first reported an end.
    ended_at: datetime | None = None
    # A four-eyes decision has returned a processed payout's amount to the wallet.
    returned: bool = False
    # The gateway's fee as the ledger has it; None before the gateway reported one.
    fee_minor: int | None = None
    gateway: GatewayName = PAYSTACK
    # The payout has another recorded attempt: an earlier one, or one after a reset.
    has_other_attempts: bool = True
    # Its unrecorded success was recovered from the vendor, and not returned since.
    recovered: bool = False
    # The payout's number for people.
    number: str | None = None
    # The number among the attempts of its payout, from 1.
    attempt: int = 1
    # The payout has an open exception.
    has_open_exception: bool = True
    # The payout's amount returns to the wallet once the gateway confirms that it was not sent.
    awaits_restitution: bool = True


def as_reversal(transfer: LockedTransfer, update: TransferUpdate) -> TransferUpdate:
    """Return the update; a failure after a success is a reversal at a gateway that has no word for one."""
    arrived = transfer.effective_status in ("success", "reversed")
    if update.status == "failed" and arrived and transfer.gateway in REPORT_REVERSAL_AS_FAILURE:
        return replace(update, status="reversed")
    return update


def evaluate_update(transfer: LockedTransfer, update: TransferUpdate) -> Verdict:
    """Return how the report is recorded.

    `advanced`: a higher state, or progress under way. `confirmed`: the gateway, queried after it had contradicted
    itself, reports a success. `late_success`: a success after the reversal of the same transfer; the payout completes,
    the exception stays open. `repeated`, `stale`: no effect. `contradiction`: an exception, and a query.
    """
    return verdict_of(_reported_state(transfer), _event_of(transfer, update))


def _reported_state(transfer: LockedTransfer) -> State:
    """Return the state that reports apply to. Without an effective report all of `OWN_STATES` are alike."""
    return transfer.effective_status or "unknown"


def _event_of(transfer: LockedTransfer, update: TransferUpdate) -> Event:
    """Return the report as an event of the table: with the amount that it is about, and what is known of the payout."""
    if not _has_same_amount(transfer, update):
        return "mismatch"
    if update.status != "success":
        return update.status
    if transfer.recovered:
        return "success_of_recovered"
    if transfer.payout_status == "failed":
        return "success_after_restitution"
    if transfer.payout_status == "processed":
        return "success_after_reversal" if transfer.returned else "success_of_processed"
    return "success_confirmed" if update.update_source == "query" else "success"


def _has_same_amount(transfer: LockedTransfer, update: TransferUpdate) -> bool:
    return (update.amount_minor, update.currency) == (transfer.amount_minor, transfer.currency)


def may_be_paid_twice(transfer: LockedTransfer, update: TransferUpdate) -> bool:
    """Return whether a success may concern money that the ledger returned, or paid by another attempt."""
    is_returned = transfer.payout_status == "failed" or transfer.returned
    return update.status == "success" and (is_returned or transfer.has_other_attempts)


def has_effect(verdict: Verdict) -> bool:
    return verdict in ("advanced", "confirmed", "late_success")


@dataclass(frozen=True, slots=True)
class Consequences:
    """All consequences of one report. They are executed in one transaction."""

    verdict: Verdict
    # The reported status becomes the row's status.
    sets_status: bool = False
    # The gateway accepted the transfer, reported for the first time.
    is_submitted: bool = False
    # The money has left for good: the payout becomes processed, unless it is.
    completes_payout: bool = False
    closes_exception: bool = False
    opens: Cause | None = None
    detail: str = ""
    needs_query: bool = False


def consequences_of(transfer: LockedTransfer, update: TransferUpdate) -> Consequences:
    """Return the effects on transfer and payout. A failure or reversal changes neither: an operator decides."""
    verdict = evaluate_update(transfer, update)
    effective = has_effect(verdict)
    if verdict == "contradiction":
        # Never dropped: an exception opens, and the gateway is queried, unless this is its response.
        detail = (
            f"The gateway reports {update.status} over {update.amount_minor} {update.currency} kobo; the ledger has "
            f"{transfer.effective_status or transfer.status} over {transfer.amount_minor} {transfer.currency}."
        )
        return Consequences(
            verdict,
            _has_same_amount(transfer, update) and _sets_status(transfer, update, verdict),
            opens="unclassified",
            detail=detail,
            needs_query=update.update_source != "query",
        )
    if effective and update.status == "success":
        is_submitted = transfer.status in OWN_STATES
        # After a reversal the exception stays open: the gateway reported the return of the money, and staff must
        # check.
        return Consequences(
            verdict, True, is_submitted, completes_payout=True, closes_exception=verdict != "late_success"
        )
    if verdict == "repeated" and (update.update_source, update.status) == ("query", "success"):
        # The gateway, queried, confirms the success: that settles a contradiction, and never a reversal.
        return Consequences(verdict, sets_status=True, closes_exception=transfer.effective_status != "reversed")
    if (verdict, update.update_source, update.status, transfer.status) == (
        "repeated",
        "webhook",
        "success",
        "reversed",
    ):
        # The row has the gateway's earlier response. A query shows whether the money has left again since.
        return Consequences(verdict, needs_query=True)
    if (verdict, update.status, transfer.status) == ("repeated", "reversed", "success"):
        # The gateway has confirmed a success since the first reversal, or was not queried: its response decides.
        if update.update_source == "webhook":
            return Consequences(verdict, needs_query=True)
        return Consequences(verdict, sets_status=True, opens="reversed", detail=_described(update))
    sets_status = _sets_status(transfer, update, verdict)
    is_submitted = sets_status and transfer.status in OWN_STATES and update.status in (*UNDER_WAY, "success")
    if effective and update.status not in UNDER_WAY:
        opens = cause_of(update.status, update.reason)
        return Consequences(verdict, sets_status, is_submitted, opens=opens, detail=_described(update))
    return Consequences(verdict, sets_status, is_submitted)


def _described(update: TransferUpdate) -> str:
    return update.reason or f"The gateway reports the transfer as {update.status}."


def _sets_status(transfer: LockedTransfer, update: TransferUpdate, verdict: Verdict) -> bool:
    """Return whether the reported status becomes the row's. A webhook's failure never does; a queried end does."""
    if update.update_source == "webhook":
        return False
    if update.update_source == "query" and update.status not in UNDER_WAY and verdict != "stale":
        return True
    if verdict == "contradiction":
        return False
    return transfer.status in OWN_STATES or (has_effect(verdict) and transfer.status in UNDER_WAY)
