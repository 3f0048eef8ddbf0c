"""Events of the payments service. Amounts in kobo.

`number` is the order's number for people; absent without an order, and for an order of which payments knows none.
"""

from typing import ClassVar, Final, Literal
from uuid import UUID

import msgspec

from contracts.event import Event
from contracts.money import AmountRule, CheckedAmounts, MinorAmount, MinorTotal
from contracts.numbers import OrderNumber


class ReleaseStatement(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A signed statement of payments about one vendor: this movement, and the net total of all their movements.

    `sequence` grows by one for each statement of the vendor, without a gap. `net_minor` is the sum of all movements up
    to this one, in kobo. `signature` is Ed25519 in base64url over `statement_message`, under the key `key_id`. The
    event's vendor, source and amount are signed too, so that a statement is valid in one event of one vendor only.
    """

    sequence: int
    net_minor: MinorTotal
    key_id: str
    signature: str


def statement_message(vendor_id: UUID, source: str, amount_minor: int, sequence: int, net_minor: int) -> bytes:
    """Return the signed bytes of a statement. `source` names the movement.

    It is `release:<id>`, `refund:<id>`, `chargeback:<id>:<outcome>`, `outside_refund:<id>:<outcome>`, or
    `opening:<vendor>` for a statement without a movement.
    """
    return f"campus.release-statement.v1|{vendor_id}|{source}|{amount_minor}|{sequence}|{net_minor}".encode("ascii")


# The vendor's share of what is in escrow.
_REMAINING: Final = AmountRule("remaining_minor", ("remaining_vendor_minor",))
# The parts of a reversal, and of its return.
_REVERSED_PARTS: Final = ("from_vendor_minor", "from_commission_minor", "from_delivery_fee_minor")
# The part of a refund that the buyer's balance receives.
_IN_BALANCE: Final = AmountRule("amount_minor", ("balance_minor",))
_RETURNED_PARTS: Final = ("to_vendor_minor", "to_commission_minor", "to_delivery_fee_minor")


class EscrowState(CheckedAmounts, frozen=True, kw_only=True, rename="camel", omit_defaults=False):
    """The money of one order after a movement, in kobo: `held_minor` was paid, and `locked_minor` of it is in escrow.

    `net_minor`, `commission_minor` and `delivery_fee_minor` were released to the vendor and the platform and not
    reversed. The rest returned to the buyer, as refunds or chargebacks.
    """

    AMOUNT_RULES: ClassVar[tuple[AmountRule, ...]] = (
        AmountRule("held_minor", ("locked_minor", "net_minor", "commission_minor", "delivery_fee_minor")),
    )
    held_at: str
    held_minor: MinorAmount
    locked_minor: MinorAmount
    net_minor: MinorAmount
    commission_minor: MinorAmount
    delivery_fee_minor: MinorAmount


class EscrowHeld(Event, frozen=True, kw_only=True):
    """A charge covers the order. `paid_orders` is the number of orders that it pays together, absent for one."""

    TYPE: ClassVar[str] = "payments.escrow_held.v1"
    AMOUNT_RULES: ClassVar[tuple[AmountRule, ...]] = (
        AmountRule("amount_minor", ("commission_minor", "delivery_fee_minor")),
    )
    order_id: UUID
    buyer_id: UUID
    vendor_id: UUID
    amount_minor: MinorAmount
    commission_minor: MinorAmount
    delivery_fee_minor: MinorAmount
    reference: str
    held_at: str
    number: OrderNumber | None = None
    purchase_id: UUID | None = None
    paid_orders: int | None = None


class EscrowReleased(Event, frozen=True, kw_only=True):
    """The gross amount was released from escrow: net to the vendor, commission and delivery fee to the platform.

    `remaining_minor` is the part of the order in escrow; `remaining_vendor_minor` is the vendor's net share of it.
    """

    TYPE: ClassVar[str] = "payments.escrow_released.v1"
    AMOUNT_RULES: ClassVar[tuple[AmountRule, ...]] = (
        AmountRule("gross_minor", ("net_minor", "commission_minor", "delivery_fee_minor"), is_sum=True),
        _REMAINING,
    )
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
    escrow: EscrowState | None = None
    number: OrderNumber | None = None


class EscrowRefunded(Event, frozen=True, kw_only=True):
    """A refund was posted; `balance_minor` of it is in the buyer's balance.

    `from_vendor_minor` was deducted from the vendor's earnings (0 while all was in escrow).

    `from_commission_minor` and `from_delivery_fee_minor` were deducted from what a release had paid to the platform.
    """

    TYPE: ClassVar[str] = "payments.escrow_refunded.v1"
    AMOUNT_RULES: ClassVar[tuple[AmountRule, ...]] = (
        AmountRule("amount_minor", _REVERSED_PARTS),
        _IN_BALANCE,
        _REMAINING,
    )
    order_id: UUID
    buyer_id: UUID
    vendor_id: UUID
    refund_id: UUID
    amount_minor: MinorAmount
    from_vendor_minor: MinorAmount
    # Absent in events of the version before.
    from_commission_minor: MinorAmount | None = None
    from_delivery_fee_minor: MinorAmount | None = None
    remaining_minor: MinorAmount
    remaining_vendor_minor: MinorAmount
    statement: ReleaseStatement | None = None
    escrow: EscrowState | None = None
    number: OrderNumber | None = None
    balance_minor: MinorAmount | None = None


class RefundSettled(Event, frozen=True, kw_only=True):
    """The gateway paid the refund, or the balance received all of it. `balance_minor` of the amount went there.
    `currency` is present when it is not the naira, as only for quarantined charges."""

    TYPE: ClassVar[str] = "payments.refund_settled.v1"
    AMOUNT_RULES: ClassVar[tuple[AmountRule, ...]] = (_IN_BALANCE,)
    refund_id: UUID
    kind: Literal["order", "overpayment", "quarantine"]
    amount_minor: MinorAmount
    order_id: UUID | None = None
    buyer_id: UUID | None = None
    currency: str | None = None
    number: OrderNumber | None = None
    balance_minor: MinorAmount | None = None

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
    number: OrderNumber | None = None

    @property
    def subject(self) -> str:
        return str(self.order_id or self.refund_id)


class ChargeDisputed(Event, frozen=True, kw_only=True):
    """A chargeback was opened at the gateway; with an `outcome` (`won`, `lost`), it was decided.

    `amount_minor` is the disputed amount. `vendor_minor` is the vendor's part of it while it is open.
    `from_vendor_minor` is the deduction from the vendor's earnings for a lost chargeback, `to_vendor_minor` its return
    when that is won later. The other amounts of both are commission and delivery fee that a release had paid to the
    platform. `remaining_minor` and `remaining_vendor_minor` are the order's parts in escrow after the movement.
    """

    TYPE: ClassVar[str] = "payments.charge_disputed.v1"
    # A loss is from the vendor, a win to the vendor, and an open dispute concerns the vendor's part.
    AMOUNT_RULES: ClassVar[tuple[AmountRule, ...]] = (
        *(AmountRule("amount_minor", parts) for parts in (("vendor_minor",), _REVERSED_PARTS, _RETURNED_PARTS)),
        _REMAINING,
    )
    order_id: UUID
    buyer_id: UUID
    vendor_id: UUID
    amount_minor: MinorAmount
    outcome: str | None = None
    chargeback_id: UUID | None = None
    vendor_minor: MinorAmount = 0
    from_vendor_minor: MinorAmount = 0
    to_vendor_minor: MinorAmount = 0
    # Absent in events of the version before, and while the chargeback is open.
    from_commission_minor: MinorAmount | None = None
    from_delivery_fee_minor: MinorAmount | None = None
    to_commission_minor: MinorAmount | None = None
    to_delivery_fee_minor: MinorAmount | None = None
    remaining_minor: MinorAmount | None = None
    remaining_vendor_minor: MinorAmount | None = None
    statement: ReleaseStatement | None = None
    escrow: EscrowState | None = None
    number: OrderNumber | None = None


class OutsideRefundRecorded(Event, frozen=True, kw_only=True):
    """A refund of `amount_minor` was made in the gateway's dashboard, and is debited to the order's money.

    `outcome` is `returned` when it was not paid, or not the order's: the money is the order's again.
    `from_vendor_minor` is the deduction from the vendor's earnings, `to_vendor_minor` its return. The other amounts of
    both are commission and delivery fee that a release had paid to the platform. `remaining_minor` and
    `remaining_vendor_minor` are the order's parts in escrow after the movement.
    """

    TYPE: ClassVar[str] = "payments.outside_refund_recorded.v1"
    AMOUNT_RULES: ClassVar[tuple[AmountRule, ...]] = (
        *(AmountRule("amount_minor", parts) for parts in (_REVERSED_PARTS, _RETURNED_PARTS)),
        _REMAINING,
    )
    order_id: UUID
    buyer_id: UUID
    vendor_id: UUID
    refund_id: UUID
    amount_minor: MinorAmount
    outcome: Literal["recorded", "returned"] = "recorded"
    from_vendor_minor: MinorAmount = 0
    from_commission_minor: MinorAmount = 0
    from_delivery_fee_minor: MinorAmount = 0
    to_vendor_minor: MinorAmount = 0
    to_commission_minor: MinorAmount = 0
    to_delivery_fee_minor: MinorAmount = 0
    remaining_minor: MinorAmount
    remaining_vendor_minor: MinorAmount
    statement: ReleaseStatement | None = None
    escrow: EscrowState
    number: OrderNumber | None = None


class VendorStatementIssued(Event, frozen=True, kw_only=True):
    """A statement without a movement: for vendors older than signed statements, and for all vendors after a key
    rotation.
    """

    TYPE: ClassVar[str] = "payments.vendor_statement_issued.v1"
    vendor_id: UUID
    statement: ReleaseStatement


class EscrowStated(Event, frozen=True, kw_only=True):
    """The escrow of an order without a movement, for services that project it only since a later version."""

    TYPE: ClassVar[str] = "payments.escrow_stated.v1"
    order_id: UUID
    buyer_id: UUID
    vendor_id: UUID
    escrow: EscrowState
    number: OrderNumber | None = None


class ChargeQuarantined(Event, frozen=True, kw_only=True):
    """A charge pays for nothing yet: too little, another currency, or an unknown order.

    `order_id` is the first of `order_ids`, which its intent asked for; `expected_minor` is their sum.
    """

    TYPE: ClassVar[str] = "payments.charge_quarantined.v1"
    reference: str
    amount_minor: MinorAmount
    currency: str
    reason: str
    order_id: UUID | None = None
    # The buyer of the referenced order; None when no order is known.
    buyer_id: UUID | None = None
    quarantined_charge_id: UUID | None = None
    number: OrderNumber | None = None
    order_ids: tuple[UUID, ...] = ()
    purchase_id: UUID | None = None
    expected_minor: MinorAmount | None = None

    @property
    def named_orders(self) -> tuple[UUID, ...]:
        """Return the orders of the charge; none of an unknown reference. An event of an older version names the
        first.
        """
        return self.order_ids or ((self.order_id,) if self.order_id is not None else ())


class PaymentFailed(Event, frozen=True, kw_only=True):
    """The gateway declined a payment attempt; `reason` (and `failure_reason`) is its sanitized reason. A later attempt
    may succeed. The payment of a purchase names it, and the first of its orders.
    """

    TYPE: ClassVar[str] = "payments.payment_failed.v1"
    order_id: UUID
    buyer_id: UUID
    payment_id: UUID
    reference: str
    amount_minor: MinorAmount
    currency: str
    failure_reason: str
    reason: str | None = None
    number: OrderNumber | None = None
    purchase_id: UUID | None = None


class TransferEvent(Event, frozen=True, kw_only=True):
    """The content of a signed transfer webhook, for evaluation by payouts."""

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
    # The gateway's fee in kobo; absent when it reports none.
    fee_minor: MinorAmount | None = None


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


class GoodwillGiven(Event, frozen=True, kw_only=True):
    """Two members of staff gave the buyer of an order an amount, which the platform pays to the balance."""

    TYPE: ClassVar[str] = "payments.goodwill_given.v1"
    order_id: UUID
    goodwill_id: UUID
    buyer_id: UUID
    amount_minor: MinorAmount
    number: OrderNumber | None = None


class WithdrawalRequested(Event, frozen=True, kw_only=True):
    """Refunded money left a buyer's balance for a bank account of theirs; its transfer is not sent yet."""

    TYPE: ClassVar[str] = "payments.withdrawal_requested.v1"
    withdrawal_id: UUID
    user_id: UUID
    amount_minor: MinorAmount
    account_last4: str


class WithdrawalPaid(Event, frozen=True, kw_only=True):
    """The gateway paid a withdrawal to the buyer's bank account."""

    TYPE: ClassVar[str] = "payments.withdrawal_paid.v1"
    withdrawal_id: UUID
    user_id: UUID
    amount_minor: MinorAmount
    account_last4: str


class WithdrawalReturned(Event, frozen=True, kw_only=True):
    """A withdrawal failed, or two people returned it: `amount_minor` is in the balance again."""

    TYPE: ClassVar[str] = "payments.withdrawal_returned.v1"
    withdrawal_id: UUID
    user_id: UUID
    amount_minor: MinorAmount
    account_last4: str


class ErasureJudged(Event, frozen=True, kw_only=True):
    """The user's open matters in escrow, refunds, quarantined charges and chargebacks, which block their erasure.

    Empty: the erasure may proceed.
    """

    TYPE: ClassVar[str] = "payments.erasure_judged.v1"
    request_id: UUID
    user_id: UUID
    open_matters: tuple[str, ...] = ()
