"""The lifecycles of payments, refunds, quarantined charges, chargebacks and reconciliation cases
(contract section 7).
"""

from typing import Final, Literal, get_args

from common.primitives.lifecycles import Lifecycle, Rule

PaymentStatus = Literal["opening", "pending", "failed", "paid", "quarantined", "overpaid", "closed"]
PaymentTrigger = Literal[
    "opened_at_gateway", "declined", "charged", "charged_wrongly", "charged_again", "order_closed", "order_paid"
]
# `pending` is due and unsent, `submitting` is sent without a response, `submitted` is accepted by the gateway. A
# `prepared` one failed, and its decision waits for the checker.
RefundStatus = Literal["pending", "submitting", "submitted", "settled", "failed", "prepared"]
RefundTrigger = Literal[
    # The service's own, and people's.
    "sent",
    "not_sent",
    "query_rejected",
    "rejected_by_gateway",
    "credited_to_balance",
    "offset",
    "retried_with_account",
    "account_rejected",
    "decision_prepared",
    "decision_rejected",
    "attempt_approved",
    "account_approved",
    # Reports of the gateway about the current attempt.
    "in_progress",
    "accepted",
    "paid",
    "transfer_paid",
    "account_needed",
    "failed",
    "given_up",
    "reversed",
    # Reports about an attempt that another one has replaced, and about a refund that was made in the dashboard.
    "replaced_attempt_paid",
    "outside_paid",
    "outside_returned",
]

# `accepted` pays its order, `returned` becomes a refund; both are final.
QuarantinedChargeStatus = Literal["quarantined", "prepared", "accepted", "returned"]
QuarantineTrigger = Literal["decision_prepared", "decision_rejected", "accepted", "returned"]
ChargebackStatus = Literal["opened", "won", "lost"]
ChargebackTrigger = Literal["opened", "won", "lost", "won_after_loss", "lost_after_win"]
ResponseStatus = Literal["submitting", "submitted", "rejected", "overtaken"]
ResponseOutcome = Literal["submitted", "rejected", "overtaken"]
HoldStatus = Literal["held", "spent", "returned"]
HoldTrigger = Literal["spent", "returned", "held_again"]
# `waiting` and `prepared` wait for two people. The end of a withdrawal that was not paid returns its money to the
# balance.
WithdrawalStatus = Literal["waiting", "prepared", "pending", "submitting", "submitted", "paid", "failed", "rejected"]
WithdrawalTrigger = Literal[
    "decision_prepared",
    "decision_rejected",
    "payment_approved",
    "return_approved",
    "sent",
    "rejected_by_gateway",
    "accepted",
    "reported_paid",
    "paid",
    "failed",
    "reversed",
]
CaseStatus = Literal["open", "explained", "closed"]
CaseTrigger = Literal["explained", "closed"]

_GATEWAY: Final = "payment gateway"
_SERVICE: Final = "payments service"
_CHECKER: Final = "another one of staff with `refunds:approve`"

_UNPAID: Final[tuple[PaymentStatus, ...]] = ("opening", "pending", "failed", "closed")

# `paid` is final. A payment that is failed or closed can still be paid: the payer may try again on the gateway's page.
PAYMENT: Final = Lifecycle[PaymentStatus, PaymentTrigger](
    "Payment",
    "One payment of an order at the payment gateway.",
    get_args(PaymentStatus),
    {
        "opened_at_gateway": Rule({"opening": "pending"}, by=_GATEWAY),
        "declined": Rule(
            {"pending": "failed"},
            repeated={"failed"},
            stale={"opening", "quarantined", "overpaid", "closed", "paid"},
            by=_GATEWAY,
        ),
        "charged": Rule(
            dict.fromkeys((*_UNPAID, "quarantined", "overpaid"), "paid"), by="payment gateway, or the balance alone"
        ),
        "charged_wrongly": Rule(
            dict.fromkeys((*_UNPAID, "overpaid"), "quarantined"),
            repeated={"quarantined"},
            stale={"paid"},
            by="payment gateway: too little, or another currency",
        ),
        "charged_again": Rule(
            dict.fromkeys((*_UNPAID, "quarantined"), "overpaid"),
            repeated={"overpaid"},
            stale={"paid"},
            by="payment gateway: the order was paid before",
        ),
        "order_closed": Rule(dict.fromkeys(("opening", "pending"), "closed"), by="orders: cancelled or expired"),
        "order_paid": Rule(
            dict.fromkeys(("opening", "pending"), "closed"), by="payment gateway: the order was paid otherwise"
        ),
    },
)

_UNDER_WAY: Final[tuple[RefundStatus, ...]] = ("pending", "submitting", "submitted")
FAILED: Final[frozenset[RefundStatus]] = frozenset({"failed", "prepared"})
_ENDED: Final[frozenset[RefundStatus]] = FAILED | {"settled"}
_STAYS_FAILED: Final[dict[RefundStatus, RefundStatus]] = {"failed": "failed", "prepared": "prepared"}

# A settled refund can still fail: the bank may return the money.
REFUND: Final = Lifecycle[RefundStatus, RefundTrigger](
    "Refund",
    "Money on its way back to a buyer.",
    get_args(RefundStatus),
    {
        # A call without a response is resolved before the next one.
        "sent": Rule({"pending": "submitting"}, repeated={"submitting"}, stale={"submitted", *_ENDED}, by=_SERVICE),
        "not_sent": Rule({"submitting": "pending"}, by=_SERVICE),
        "query_rejected": Rule(dict.fromkeys(("pending", "submitting"), "failed"), by=_GATEWAY),
        "rejected_by_gateway": Rule({"submitting": "failed"}, by=_GATEWAY),
        "credited_to_balance": Rule({"pending": "settled"}, by=_SERVICE),
        # A lost chargeback has returned all of it, or the order's share.
        "offset": Rule(dict.fromkeys(("pending", *FAILED), "settled"), by="the payer's bank"),
        "retried_with_account": Rule(dict.fromkeys(("submitting", "submitted"), "submitted"), by=_GATEWAY),
        "account_rejected": Rule(dict.fromkeys(("submitting", "submitted"), "failed"), by=_GATEWAY),
        "decision_prepared": Rule({"failed": "prepared"}, by="staff with `refunds:prepare`"),
        "decision_rejected": Rule({"prepared": "failed"}, by="staff with `refunds:approve`"),
        # A new attempt, or the account that the gateway requested.
        "attempt_approved": Rule({"prepared": "pending"}, by=_CHECKER),
        "account_approved": Rule({"prepared": "submitting"}, by=_CHECKER),
        "in_progress": Rule(repeated={*_UNDER_WAY}, stale=_ENDED, by=_GATEWAY),
        "accepted": Rule(
            dict.fromkeys(("pending", "submitting"), "submitted"), repeated={"submitted"}, stale=_ENDED, by=_GATEWAY
        ),
        # A payment after a failure still settles the refund.
        "paid": Rule(dict.fromkeys((*_UNDER_WAY, *FAILED), "settled"), stale={"settled"}, by=_GATEWAY),
        # After the transfer's failure the webhook is late or a contradiction: only a query has the final state.
        "transfer_paid": Rule(
            {**dict.fromkeys(_UNDER_WAY, "settled"), **_STAYS_FAILED}, stale={"settled"}, by=_GATEWAY
        ),
        "account_needed": Rule(dict.fromkeys(_UNDER_WAY, "failed"), stale=_ENDED, by=_GATEWAY),
        "failed": Rule(dict.fromkeys(_UNDER_WAY, "failed"), stale=_ENDED, by=_GATEWAY),
        # The gateway waited for the payer's account, and waits no longer.
        "given_up": Rule({**dict.fromkeys(_UNDER_WAY, "failed"), **_STAYS_FAILED}, stale={"settled"}, by=_GATEWAY),
        "reversed": Rule(
            dict.fromkeys((*_UNDER_WAY, "settled"), "failed"), stale=FAILED, by="payment gateway: the bank returned it"
        ),
        # While another attempt is under way or has paid, the payer may be paid twice: staff must check.
        "replaced_attempt_paid": Rule(dict.fromkeys(("pending", *FAILED), "settled"), by=_GATEWAY),
        "outside_paid": Rule({"submitted": "settled"}, stale={"pending", "submitting", *_ENDED}, by=_GATEWAY),
        "outside_returned": Rule({"submitted": "failed"}, stale={"pending", "submitting", *_ENDED}, by=_GATEWAY),
    },
)

_QUARANTINE_CHECKER: Final = "another one of staff with `quarantine:approve`"

QUARANTINE: Final = Lifecycle[QuarantinedChargeStatus, QuarantineTrigger](
    "Quarantine",
    "A charge that pays no order by itself.",
    get_args(QuarantinedChargeStatus),
    {
        "decision_prepared": Rule({"quarantined": "prepared"}, by="staff with `quarantine:prepare`"),
        "decision_rejected": Rule({"prepared": "quarantined"}, by="staff with `quarantine:approve`"),
        "accepted": Rule({"prepared": "accepted"}, by=_QUARANTINE_CHECKER),
        "returned": Rule({"prepared": "returned"}, by=_QUARANTINE_CHECKER),
    },
)

_BANK: Final = "the payer's bank"
_QUERIED: Final = "payment gateway, when it is queried"

# A decision may be reversed, but not by a webhook: it may be older than the recorded decision.
CHARGEBACK: Final = Lifecycle[ChargebackStatus, ChargebackTrigger](
    "Chargeback",
    "A claim of the payer's bank to a charge. A refund made in the gateway's dashboard is recorded like a lost one.",
    get_args(ChargebackStatus),
    {
        "opened": Rule({"opened": "opened"}, stale={"won", "lost"}, by=_BANK),
        "won": Rule({"opened": "won"}, repeated={"won"}, by=_BANK),
        "lost": Rule({"opened": "lost"}, repeated={"lost"}, by=_BANK),
        "won_after_loss": Rule({"lost": "won"}, by=_QUERIED),
        "lost_after_win": Rule({"won": "lost"}, by=_QUERIED),
    },
)

RESPONSE: Final = Lifecycle[ResponseStatus, ResponseOutcome](
    "Response",
    "Evidence or a resolution that staff send to the payer's bank about a chargeback.",
    get_args(ResponseStatus),
    {
        "submitted": Rule({"submitting": "submitted"}, by=_GATEWAY),
        "rejected": Rule({"submitting": "rejected"}, by=_GATEWAY),
        "overtaken": Rule({"submitting": "overtaken"}, by="the payer's bank: the chargeback is decided"),
    },
)
HOLD: Final = Lifecycle[HoldStatus, HoldTrigger](
    "Balance hold",
    "The part of a buyer's balance that is held for one payment.",
    get_args(HoldStatus),
    {
        "spent": Rule({"held": "spent"}, by=_SERVICE),
        "returned": Rule({"held": "returned"}, by="payments service: the payment is closed, failed or quarantined"),
        "held_again": Rule({"returned": "held"}, by="payment gateway: a late charge, while the balance has it"),
    },
)
_SENT: Final[tuple[WithdrawalStatus, ...]] = ("submitting", "submitted")
_UNSENT: Final[frozenset[WithdrawalStatus]] = frozenset({"waiting", "prepared", "pending", "rejected"})
WITHDRAWAL: Final = Lifecycle[WithdrawalStatus, WithdrawalTrigger](
    "Withdrawal",
    "Refunded money on its way from a buyer's balance to a bank account.",
    get_args(WithdrawalStatus),
    {
        "decision_prepared": Rule({"waiting": "prepared"}, by="staff with `refunds:prepare`"),
        "decision_rejected": Rule({"prepared": "waiting"}, by="staff with `refunds:approve`"),
        "payment_approved": Rule({"prepared": "pending"}, by=_CHECKER),
        "return_approved": Rule({"prepared": "rejected"}, by=_CHECKER),
        "sent": Rule(
            {"pending": "submitting"},
            repeated=set(_SENT),
            stale={"waiting", "prepared", "paid", "failed", "rejected"},
            by=_SERVICE,
        ),
        "rejected_by_gateway": Rule({"submitting": "failed"}, by=_GATEWAY),
        "accepted": Rule(
            {"submitting": "submitted"}, repeated={"submitted"}, stale={*_UNSENT, "paid", "failed"}, by=_GATEWAY
        ),
        # After a failure the webhook is late or a contradiction: only a query has the final state.
        "reported_paid": Rule(
            {**dict.fromkeys(_SENT, "paid"), "failed": "failed"}, repeated={"paid"}, stale=_UNSENT, by=_GATEWAY
        ),
        "paid": Rule(
            {**dict.fromkeys(_SENT, "paid"), "failed": "paid"},
            repeated={"paid"},
            stale=_UNSENT,
            by="payment gateway, when it is queried",
        ),
        "failed": Rule(dict.fromkeys(_SENT, "failed"), repeated={"failed"}, stale={*_UNSENT, "paid"}, by=_GATEWAY),
        "reversed": Rule(
            dict.fromkeys((*_SENT, "paid"), "failed"),
            repeated={"failed"},
            stale=_UNSENT,
            by="payment gateway: the bank returned it",
        ),
    },
)
CASE: Final = Lifecycle[CaseStatus, CaseTrigger](
    "Case",
    "A difference between the ledger and the gateway's records. Other figures open a new one.",
    get_args(CaseStatus),
    {
        "explained": Rule({"open": "explained"}, by="payments service: the difference has disappeared"),
        "closed": Rule({"open": "closed"}, by="staff with `exceptions:classify`"),
    },
)
