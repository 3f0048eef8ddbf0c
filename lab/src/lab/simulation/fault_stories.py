"""Stories whose point is a fault: a call to the gateway, or a process that dies at one kind of effect."""

from collections.abc import Mapping, Sequence
from typing import Final, get_args

from lab.simulation import faults, payments, payouts, steps
from lab.simulation.faults import ProcessName
from lab.simulation.journeys import (
    PAYOUT,
    D,
    Journey,
    decided,
    delivered,
    opened,
    paid,
    placed,
    transfer,
)
from lab.simulation.step import Step
from lab.stepped.effects import KINDS, Kind
from lab.stepped.simulated_broker import Loss
from lab.stepped.simulated_gateway import Call, CallFault


def _with_fault(fault: CallFault) -> Mapping[str, Journey]:
    """Return journeys whose next call of one operation of the gateway has this fault."""
    lost = (steps.drop_webhook(0), steps.wait(120))

    def fails(call: Call) -> Step:
        return faults.fail_call_of(call, fault)

    journeys = {
        "a payment is opened": (
            *placed(0)[:-1], fails("POST /gateway/transaction/initialize"), placed(0)[-1],
            payments.pay(0, 0, "exactly"), D,
        ),
        "a payment is queried": (
            *placed(0), payments.pay(0, 0, "exactly"), *lost, fails("GET /gateway/transaction/verify"),
            steps.pass_days(1), D,
        ),
        "a refund is created": (*paid(0), fails("POST /gateway/refund"), steps.cancel(0, "buyer", "back"), D),
        "a refund is queried": (
            *paid(0), steps.cancel(0, "buyer", "back"), D, steps.settle_refunds(0, "process"), *lost,
            fails("GET /gateway/refund"), steps.pass_days(1), D,
        ),
        "a transfer is created": (*PAYOUT, fails("POST /gateway/transfer"), payouts.dispatch_payout(0), D),
        "a transfer is queried": (
            *PAYOUT, payouts.dispatch_payout(0), D, payouts.settle_transfer(0, 0, "succeed", "Declined"), *lost,
            fails("GET /gateway/transfer/verify"), steps.pass_days(1), D,
        ),
        "a dispute is queried": (
            *delivered(0), *opened(0), *decided(0, "lose"), steps.decide_chargeback(0, "overturn"),
            steps.send_webhook(0, "once"), fails("GET /gateway/dispute"), D, steps.pass_days(1), D,
        ),
    }  # fmt: skip
    return {f"{name}, with {fault}": journey for name, journey in journeys.items()}


def _with_death(process: ProcessName, kind: Kind) -> Journey:
    """Return a journey from the order to the paid payout and a lost chargeback, whose process dies before its first
    effect of this kind. After a day each process fetches the keys of tokens again.
    """
    dies = faults.kill_at_kind(process, "before", kind)
    return (dies, steps.pass_days(1), *PAYOUT, *transfer("succeed"), *opened(0), *decided(0, "lose"))


_DEATHS: Final[Mapping[ProcessName, Sequence[Kind]]] = {
    "api-gateway": ("statement", "call"),
    "orders-api": ("statement", "commit", "publish", "call"),
    "orders-worker": ("statement", "commit", "publish", "acknowledgement"),
    "payments-api": ("statement", "commit", "publish", "call"),
    "payments-worker": KINDS,
    "payouts-api": ("statement", "commit", "publish", "call"),
    "payouts-worker": KINDS,
}
"""The kinds of effects that each process has."""

WITH_FAULTS: Final[Mapping[str, Journey]] = {
    **{story: journey for fault in get_args(CallFault) for story, journey in _with_fault(fault).items()},
    **{
        f"{process} dies at a {kind}": _with_death(process, kind)
        for process, kinds in _DEATHS.items()
        for kind in kinds
    },
    **{
        f"a process loses its connection at a {loss}": (faults.drop_connection(1, loss), *paid(0))
        for loss in get_args(Loss)
    },
}
