"""The situations that the seeds of a run must reach, derived from the product, and the list of those that none can."""

import tomllib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import product
from pathlib import Path
from typing import Final, Literal, get_args

import asyncpg

from campus_tools.documents.lifecycles import LIFECYCLES
from contracts.topology import SUBSCRIPTIONS
from contracts.transaction_types import TransactionType
from lab.stepped.effects import KINDS
from lab.stepped.reached import REACHED, decision_names
from lab.stepped.simulated_broker import Loss
from lab.stepped.simulated_gateway import CREATING, Call, CallFault, EarlyEnd
from operations.processes import CAMPUS
from payments.clients.paystack_records import KNOWN_EVENTS
from payments.domain.charges import QuarantineReason
from payments.domain.reconciliation import Kind
from payouts.domain.accounts import TransactionType as WalletTransactionType
from payouts.domain.returns import ReturnKind
from payouts.domain.severity import CAUSES
from payouts.domain.transfer_updates import UpdateSource
from payouts.domain.transitions import Verdict
from payouts.domain.wallet import LineKind
from testkit.state_changes import StateChange

_UNREACHABLE: Final = Path(__file__).with_name("unreachable.toml")
REACHED_BY_TESTS: Final = Path(__file__).with_name("reached_by_tests.toml")
MONEY: Final = ("orders", "payments", "payouts")
KeyEnd = Literal["scope ends", "revocation arrives"]
Removal = Literal["before", "during", "after"]
Unreachable = Literal["excluded", "in_tests"]
"""Of a situation that no seed can reach: no test can either, or tests of the services do."""

# By service: the first columns of the rows, and the values of each.
_VALUES: Final[Sequence[tuple[str, str, str, Sequence[Iterable[str]]]]] = (
    ("payments", "escrow ledger", "SELECT type FROM ledger_transactions", [get_args(TransactionType)]),
    ("payouts", "wallets' ledger", "SELECT type FROM ledger_transactions", [get_args(WalletTransactionType)]),
    ("payouts", "wallet line", "SELECT kind FROM wallet_lines", [get_args(LineKind)]),
    ("payouts", "exception", "SELECT cause FROM payout_exceptions", [CAUSES]),
    ("payouts", "reconciliation", "SELECT kind FROM reconciliations", [get_args(ReturnKind)]),
    (
        "payouts",
        "transfer report",
        "SELECT update_source, verdict FROM transfer_observations",
        [get_args(UpdateSource), get_args(Verdict)],
    ),
    ("payments", "quarantined", "SELECT reason FROM quarantined_charges", [get_args(QuarantineReason)]),
    ("payments", "difference", "SELECT kind FROM reconciliation_cases", [get_args(Kind)]),
    (
        "payments",
        "webhook",
        # A replayed one has another outcome.
        "SELECT event_type, outcome FROM processed_webhook_events "
        "UNION SELECT event_type, 'dead' FROM dead_letter_webhooks",
        [KNOWN_EVENTS, ("done", "ignored", "dead")],
    ),
    (
        "orders",
        "resolution",
        "SELECT outcome, status FROM dispute_resolutions",
        [("buyer", "vendor", "split"), ("approved", "rejected")],
    ),
)

# By change of a row: the states of other rows of the same order or payout, meanwhile.
_MEANWHILE: Final[Mapping[str, Sequence[str]]] = {
    "chargeback opened": (
        "refund pending", "refund submitting", "refund submitted", "refund failed", "refund settled",
        "chargeback opened",
        "chargeback won", "chargeback lost", "return_request requested", "dispute_resolution prepared",
        "quarantined_charge quarantined", "order expired", "order cancelled",
    ),
    "chargeback lost": (
        "refund pending", "refund submitting", "refund submitted", "refund failed", "refund settled",
        "chargeback opened",
        "return_request requested", "dispute_resolution prepared", "order disputed", "order delivered", "order paid",
        "order refund_pending", "order refunded",
    ),
    "chargeback won": (
        "refund pending", "refund submitting", "refund submitted", "refund failed", "refund settled",
        "chargeback opened",
        "return_request requested", "dispute_resolution prepared", "order disputed", "order delivered", "order paid",
        "order refund_pending", "order refunded",
    ),
    "refund settled": (
        "chargeback opened", "chargeback won", "chargeback lost", "refund pending", "refund submitted", "refund failed",
        "quarantined_charge quarantined", "order paid", "order disputed",
    ),
    "refund failed": (
        "chargeback opened", "chargeback won", "chargeback lost", "refund submitted", "refund settled", "order paid",
    ),
    "refund pending": (
        "chargeback opened", "chargeback won", "chargeback lost", "refund pending", "refund submitted", "refund failed",
        "refund settled",
    ),
    "dispute_resolution approved": ("chargeback opened", "chargeback won", "chargeback lost", "refund settled"),
    "return_request approved": ("chargeback opened", "chargeback won", "chargeback lost", "refund submitted",
    "refund settled"),
    "payment_intent paid": ("order expired", "order cancelled", "payment_intent failed", "payment_intent closed"),
    "payment_intent overpaid": ("order paid_escrow", "order dispatched", "order delivered", "order refund_pending"),
    "order paid": ("chargeback opened", "refund submitted", "refund settled"),
    "order refunded": ("chargeback opened", "chargeback lost", "return_request requested"),
    "payout_request processed": ("payout_exception open", "reconciliation prepared"),
    "payout_request failed": ("payout_exception open", "payout_transfer reversed", "payout_transfer failed"),
    "payout_transfer success": ("payout_request processed", "payout_request failed", "payout_exception open",
    "payout_transfer reversed"),
    "payout_transfer reversed": ("payout_request processed", "payout_exception open", "payout_transfer reversed"),
    "payout_transfer failed": ("payout_transfer failed", "payout_exception open"),
    "payout_exception open": ("payout_request processed", "payout_request failed", "reconciliation prepared"),
    "transfer_hold held": ("payout_request failed", "payout_request processed"),
}  # fmt: skip


def _expected() -> set[str]:
    """Return all names, also of those that cannot be reached."""
    names: set[str] = set()
    for lifecycle, tables in LIFECYCLES.items():
        if any(table.startswith(MONEY) for table in tables):
            names |= decision_names(lifecycle)
            names |= {f"{lifecycle.name}: from {a} to {b}" for a, b in lifecycle.transitions if a != b}
    for _, name, _, values in _VALUES:
        names |= {f"{name}: {', '.join(row)}" for row in product(*values)}
    for service in MONEY:
        for event in (event for event in SUBSCRIPTIONS[service] if event.TYPE.startswith(MONEY)):
            names |= {f"message: {event.TYPE} {how}" for how in ("beside its duplicate", "redelivered", "early")}
    names |= {f"{change} while {state}" for change, states in _MEANWHILE.items() for state in states}
    names |= {f"call: {fault} of {call}" for fault, call in product(get_args(CallFault), get_args(Call))}
    names |= {f"end: {end} before the response of {call}" for end, call in product(get_args(EarlyEnd), CREATING)}
    names |= {f"connection: lost {loss}" for loss in get_args(Loss)}
    processes = [plan.name for plan in CAMPUS.processes if plan.service in (*MONEY, "api-gateway")]
    firsts = ("a response", "a lost response")
    names |= {f"key: its {end} after {first}" for end, first in product(get_args(KeyEnd), firsts)}
    names |= {f"member: removed {when} the PIN" for when in get_args(Removal)}
    return names | {f"death: {process} at a {kind}" for process, kind in product(processes, KINDS)}


EXPECTED: Final = frozenset(_expected())


def unreachable() -> dict[Unreachable, dict[str, list[str]]]:
    """Return the patterns of names that no seed can reach, by reason, and by whether a test can."""
    tables = tomllib.loads(_UNREACHABLE.read_text(encoding="utf-8"))
    return {kind: tables[kind] for kind in get_args(Unreachable)}


def explained(*kinds: Unreachable) -> set[str]:
    """Return the names that no seed can reach: of these kinds, or of all."""
    by_reason = [unreachable()[kind] for kind in kinds or get_args(Unreachable)]
    patterns = [pattern for reasons in by_reason for several in reasons.values() for pattern in several]
    return {name for name in EXPECTED if any(fnmatchcase(name, pattern) for pattern in patterns)}


def reaching_tests() -> dict[str, str]:
    """Return the test that reaches a situation, as `<file>::<function>`, where the services' own tests reach it."""
    by_test = tomllib.loads(REACHED_BY_TESTS.read_text(encoding="utf-8"))
    return {name: test for test, names in by_test.items() for name in names}


async def record_rows(databases: Mapping[str, asyncpg.Connection]) -> None:
    """Record the situations that rows show."""
    for service, name, statement, _ in (one for one in _VALUES if one[0] in databases):
        rows = await databases[service].fetch(statement.replace("SELECT", "SELECT DISTINCT"))
        REACHED.update(f"{name}: {', '.join(row.values())}" for row in rows)


def record_meanwhile(changes: Iterable[StateChange]) -> None:
    """Record which rows of an order or a payout changed while another one of it was in some state."""
    rows: dict[str, dict[tuple[str, str], str]] = defaultdict(dict)
    for change in sorted(changes):
        row, others = (change.table, change.id), rows[change.subject]
        kind = change.table.removesuffix("s")
        REACHED.update(
            f"{kind} {change.after} while {table.removesuffix('s')} {state}"
            for (table, id_), state in others.items()
            if (table, id_) != row
        )
        others[row] = change.after


def situations_report() -> tuple[str, list[str]]:
    """Return lines with the names never reached, each with its test, and those that are explained wrongly."""
    excluded, tests = explained(), reaching_tests()
    expected = EXPECTED - excluded
    missing = [f"{name} ({tests.get(name, 'no test')})" for name in sorted(expected - REACHED)]
    untested = len(expected - REACHED - tests.keys())
    line = (
        f"situations: {len(expected) - len(missing)} of {len(expected)} reached, {len(excluded)} explained as "
        "unreachable"
    )
    verdict = (
        f"{untested} of the expected situations are reached by no story, no seed and no test"
        if untested
        else "every expected situation is reached by a story, a seed or a test"
    )
    return "\n  never: ".join([line, *missing]) + f"\n{verdict}", sorted(excluded & REACHED)
