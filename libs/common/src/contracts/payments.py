"""Events of the payments service. Amounts in kobo."""

from typing import ClassVar, Literal
from uuid import UUID

import msgspec

from contracts.event import Event
from contracts.money import MinorAmount, MinorTotal


class ReleaseStatement(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Payments' signed word about one vendor: this movement, and all that was released to them and not taken back until now.

    `sequence` grows by one for each statement of the vendor, without a gap. `net_minor` is the sum of all movements up to this one, in
    kobo. `signature` is Ed25519 in base64url over `statement_message`, under the key `key_id`. The vendor, the movement's source and its
    amount are the event's own and are signed too: a statement fits one event of one vendor.
    """

    sequence: int
    net_minor: MinorTotal
    key_id: str
    signature: str


def statement_message(vendor_id: UUID, source: str, amount_minor: int, sequence: int, net_minor: int) -> bytes:
    """What a statement's signature is over. `source` names the movement: `release:<id>`, `refund:<id>`, `chargeback:<id>:<outcome>`, or
    `opening:<vendor>` for a statement that moves nothing."""
    return f"campus.release-statement.v1|{vendor_id}|{source}|{amount_minor}|{sequence}|{net_minor}".encode("ascii")


class EscrowHeld(Event, frozen=True, kw_only=True):
    """A charge covers the order."""

    TYPE: ClassVar[str] = "payments.escrow_held.v1"
    order_id: UUID
    buyer_id: UUID
    vendor_id: UUID
    amount_minor: MinorAmount
    commission_minor: MinorAmount
    delivery_fee_minor: MinorAmount
    reference: str
    held_at: str


class EscrowReleased(Event, frozen=True, kw_only=True):
    """Gross left escrow: net to the vendor, commission and delivery fee to the platform.

    `remaining_minor` is what is still held of the order; `remaining_vendor_minor` the vendor's net share of that.
    """

    TYPE: ClassVar[str] = "payments.escrow_released.v1"
    order_id: UUID
    buyer_id: UUID
    vendor_id: UUID
    release_id: UUID
    gross_minor: MinorAmount
    commission_minor: MinorAmount
    delivery_fee_minor: MinorAmount
    net_minor: MinorAmount
    remaining_minor: MinorAmount
    remaining_vendor_minor: MinorAmount
    statement: ReleaseStatement | None = None


class EscrowRefunded(Event, frozen=True, kw_only=True):
    """A refund was posted; `from_vendor_minor` left the vendor's earnings (0 while all was in escrow)."""

    TYPE: ClassVar[str] = "payments.escrow_refunded.v1"
    order_id: UUID
    buyer_id: UUID
    vendor_id: UUID
    refund_id: UUID
    amount_minor: MinorAmount
    from_vendor_minor: MinorAmount
    remaining_minor: MinorAmount
    remaining_vendor_minor: MinorAmount
    statement: ReleaseStatement | None = None


class RefundSettled(Event, frozen=True, kw_only=True):
    """The gateway paid the refund out. The currency is told when it is not the naira: only quarantined money has another."""

    TYPE: ClassVar[str] = "payments.refund_settled.v1"
    refund_id: UUID
    kind: Literal["order", "overpayment", "quarantine"]
    amount_minor: MinorAmount
    order_id: UUID | None = None
    buyer_id: UUID | None = None
    currency: str | None = None

    @property
    def subject(self) -> str:
        return str(self.order_id or self.refund_id)


class RefundFailed(Event, frozen=True, kw_only=True):
    TYPE: ClassVar[str] = "payments.refund_failed.v1"
    refund_id: UUID
    kind: Literal["order", "overpayment", "quarantine"]
    amount_minor: MinorAmount
    order_id: UUID | None = None
    buyer_id: UUID | None = None
    currency: str | None = None

    @property
    def subject(self) -> str:
        return str(self.order_id or self.refund_id)


class ChargeDisputed(Event, frozen=True, kw_only=True):
    """A chargeback was opened at the gateway; with an `outcome` (`won`, `lost`), it was decided.

    `amount_minor` is what is disputed. `vendor_minor` is the vendor's part of it while it is open, `from_vendor_minor` what a lost
    one took of the vendor's earnings, `to_vendor_minor` what came back to them when a lost one was won after all.
    `remaining_minor` and `remaining_vendor_minor` are what is held of the order after it.
    """

    TYPE: ClassVar[str] = "payments.charge_disputed.v1"
    order_id: UUID
    buyer_id: UUID
    vendor_id: UUID
    amount_minor: MinorAmount
    outcome: str | None = None
    chargeback_id: UUID | None = None
    vendor_minor: MinorAmount = 0
    from_vendor_minor: MinorAmount = 0
    to_vendor_minor: MinorAmount = 0
    remaining_minor: MinorAmount | None = None
    remaining_vendor_minor: MinorAmount | None = None
    statement: ReleaseStatement | None = None


class VendorStatementIssued(Event, frozen=True, kw_only=True):
    """A statement that moves nothing: for a vendor from before statements were signed, and for all vendors after the key was rotated."""

    TYPE: ClassVar[str] = "payments.vendor_statement_issued.v1"
    vendor_id: UUID
    statement: ReleaseStatement


class ChargeQuarantined(Event, frozen=True, kw_only=True):
    """Money came that pays nothing as it stands: too little, another currency, no such order."""

    TYPE: ClassVar[str] = "payments.charge_quarantined.v1"
    reference: str
    amount_minor: MinorAmount
    currency: str
    reason: str
    order_id: UUID | None = None
    # Whose order the reference stands for; None where no order is known.
    buyer_id: UUID | None = None
    quarantined_charge_id: UUID | None = None


class PaymentFailed(Event, frozen=True, kw_only=True):
    """The payment gateway declined an attempt to pay; `failure_reason` holds its words, made safe. A later success still pays."""

    TYPE: ClassVar[str] = "payments.payment_failed.v1"
    order_id: UUID
    buyer_id: UUID
    payment_id: UUID
    reference: str
    amount_minor: MinorAmount
    currency: str
    failure_reason: str


class TransferEvent(Event, frozen=True, kw_only=True):
    """What a signed transfer webhook said; payouts judges it."""

    reference: str
    transfer_code: str
    amount_minor: MinorAmount
    currency: str
    status: str
    gateway_event_id: str
    occurred_at: str
    reason: str | None = None
    account_last4: str | None = None
    bank_code: str | None = None


class TransferSucceeded(TransferEvent, frozen=True, kw_only=True):
    TYPE: ClassVar[str] = "payments.transfer_succeeded.v1"


class TransferFailed(TransferEvent, frozen=True, kw_only=True):
    TYPE: ClassVar[str] = "payments.transfer_failed.v1"


class TransferReversed(TransferEvent, frozen=True, kw_only=True):
    TYPE: ClassVar[str] = "payments.transfer_reversed.v1"


class RewardCredited(Event, frozen=True, kw_only=True):
    TYPE: ClassVar[str] = "payments.reward_credited.v1"
    user_id: UUID
    amount_minor: MinorAmount
    reason: str


class ErasureJudged(Event, frozen=True, kw_only=True):
    """What of escrow, refunds, quarantined charges and chargebacks is still under way of a person who wants to go; nothing: they may."""

    TYPE: ClassVar[str] = "payments.erasure_judged.v1"
    request_id: UUID
    user_id: UUID
    open_matters: tuple[str, ...] = ()
