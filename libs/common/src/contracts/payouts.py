"""Events of the payouts service. Amounts in kobo.

`number` is the payout's number for people; absent without a payout, and in events of earlier versions.
"""

from typing import ClassVar
from uuid import UUID

from contracts.event import Event
from contracts.money import MinorAmount
from contracts.numbers import PayoutNumber
from contracts.severities import Severity


class PayoutEvent(Event, frozen=True, kw_only=True):
    payout_id: UUID
    vendor_id: UUID
    amount_minor: MinorAmount
    reference: str | None = None
    number: PayoutNumber | None = None


class PayoutRequested(PayoutEvent, frozen=True, kw_only=True):
    TYPE: ClassVar[str] = "payouts.payout_requested.v1"


class PayoutSubmitted(PayoutEvent, frozen=True, kw_only=True):
    TYPE: ClassVar[str] = "payouts.payout_submitted.v1"


class PayoutProcessed(PayoutEvent, frozen=True, kw_only=True):
    TYPE: ClassVar[str] = "payouts.payout_processed.v1"


class PayoutFailed(PayoutEvent, frozen=True, kw_only=True):
    """The payout failed, and its amount is back in the wallet. `cancelled`: the vendor cancelled it before
    submission.
    """

    TYPE: ClassVar[str] = "payouts.payout_failed.v1"
    cancelled: bool = False


class PayoutReversed(PayoutEvent, frozen=True, kw_only=True):
    """The bank returned a processed payout; maker and checker returned its amount to the wallet. It stays processed."""

    TYPE: ClassVar[str] = "payouts.payout_reversed.v1"
    reconciliation_id: UUID


class PayoutDelayed(Event, frozen=True, kw_only=True):
    """An exception holds the payout; published once for each exception."""

    TYPE: ClassVar[str] = "payouts.payout_delayed.v1"
    payout_id: UUID
    vendor_id: UUID
    amount_minor: MinorAmount
    cause: str
    exception_id: UUID | None = None
    number: PayoutNumber | None = None


class ExceptionEvent(Event, frozen=True, kw_only=True):
    exception_id: UUID
    cause: str
    severity: Severity
    respond_by: str
    payout_id: UUID | None = None
    batch_id: UUID | None = None
    vendor_id: UUID | None = None
    number: PayoutNumber | None = None


class ExceptionOpened(ExceptionEvent, frozen=True, kw_only=True):
    TYPE: ClassVar[str] = "payouts.exception_opened.v1"


class ExceptionChanged(ExceptionEvent, frozen=True, kw_only=True):
    TYPE: ClassVar[str] = "payouts.exception_changed.v1"


class ExceptionClosed(ExceptionEvent, frozen=True, kw_only=True):
    TYPE: ClassVar[str] = "payouts.exception_closed.v1"


class BankDetailsChanged(Event, frozen=True, kw_only=True):
    """The vendor set a bank account, or the current one lost its verification, without which it gets no payout."""

    TYPE: ClassVar[str] = "payouts.bank_details_changed.v1"
    vendor_id: UUID
    last4: str
    bank_code: str
    verified: bool = True


class BankDetailsQuarantined(Event, frozen=True, kw_only=True):
    """Finance stopped payouts to the vendor's bank account; published once for each account."""

    TYPE: ClassVar[str] = "payouts.bank_details_quarantined.v1"
    vendor_id: UUID
    reason: str
    last4: str | None = None
    bank_code: str | None = None


class ErasureJudged(Event, frozen=True, kw_only=True):
    """The user's open matters in wallet and payouts, which block their erasure; empty: the erasure may proceed."""

    TYPE: ClassVar[str] = "payouts.erasure_judged.v1"
    request_id: UUID
    user_id: UUID
    open_matters: tuple[str, ...] = ()
