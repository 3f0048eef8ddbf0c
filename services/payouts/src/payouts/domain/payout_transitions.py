"""The lifecycles of payouts, holds and exceptions (contract section 8). That of transfers is in `transitions.py`."""

from typing import Final, Literal, get_args

from common.primitives.lifecycles import Lifecycle, Rule

PayoutStatus = Literal["pending", "processed", "failed"]
PayoutTrigger = Literal["transfer_succeeded", "amount_returned"]
ExceptionStatus = Literal["open", "closed"]
HoldStatus = Literal["held", "recovered", "released"]
HoldOutcome = Literal["recovered", "released"]

# A processed payout stays processed: a return by the bank is a posting of its own.
PAYOUT: Final = Lifecycle[PayoutStatus, PayoutTrigger](
    "Payout",
    "A vendor's request for money of the wallet.",
    get_args(PayoutStatus),
    {
        "transfer_succeeded": Rule({"pending": "processed"}, repeated={"processed"}, by="payment gateway"),
        "amount_returned": Rule(
            {"pending": "failed"},
            by="vendor before a transfer (cancellation), or two of staff after a failed one",
        ),
    },
)
_HOLD_CHECKER: Final = "two of staff: `reconciliations:prepare`, `reconciliations:approve`"

HOLD: Final = Lifecycle[HoldStatus, HoldOutcome](
    "Hold",
    "The amount of a returned payout whose transfer may have been paid, or a payout that finance holds.",
    get_args(HoldStatus),
    {
        "recovered": Rule({"held": "recovered"}, by=_HOLD_CHECKER),
        "released": Rule({"held": "released"}, by=_HOLD_CHECKER),
    },
)
EXCEPTION: Final = Lifecycle[ExceptionStatus, Literal["closed"]](
    "Exception",
    "A payout that staff must look at.",
    get_args(ExceptionStatus),
    {
        "closed": Rule(
            {"open": "closed"},
            repeated={"closed"},
            by="staff with `exceptions:classify`, or payouts service after the cause ended",
        )
    },
)
