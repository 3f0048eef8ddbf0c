"""A valid row of each table of a service, and what the table's guards must reject; `testkit.guards` tries it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

OURS: Final = "0a000000-0000-7000-8000-000000000001"
OTHERS: Final = "0b000000-0000-7000-8000-000000000002"
NOW: Final = "2026-01-01T00:00:00+00:00"
LATER: Final = "2026-01-02T00:00:00+00:00"

Row = Mapping[str, Any]


@dataclass(frozen=True)
class InsertAfter:
    """The insertion of the table's valid row, after this statement."""

    statement: str


@dataclass(frozen=True)
class GuardedTable:
    """A valid row of a table, and what each guard of the table must reject."""

    row: Row = field(default_factory=dict)
    """The columns whose value is not that of `_VALUES`."""
    checks: Mapping[str, Row] = field(default_factory=dict)
    """By CHECK constraint: a change of the row that it rejects."""
    unique: Mapping[str, Row | tuple[Row, Row]] = field(default_factory=dict)
    """By key or unique index: the changes of a second row that it rejects; a pair changes the first row, too. The
    primary key `<table>_pkey` needs none where it rejects an equal row.
    """
    references: Mapping[str, Row] = field(default_factory=dict)
    """By foreign key: a change to a row that does not exist."""
    triggers: Mapping[str, tuple["str | InsertAfter", ...]] = field(default_factory=dict)
    """By trigger: statements that each must fail."""
    policies: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By permissive policy, after its commands: each alternative that admits a caller, as words: `user`, `vendor`,
    `campus`, `hub`, `packing_vendor` for a row of the caller's own, else a permission. `public` admits every caller.
    """
    rejected_rows: Mapping[str, tuple[Row, ...]] = field(default_factory=dict)
    """By policy: changes of the row that it rejects from the first caller whom it admits."""
    restrictions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By restrictive policy: callers whom a permissive policy admits, and this one rejects."""


def append_only(table: str, column: str = "id") -> dict[str, tuple[str | InsertAfter, ...]]:
    """Return the trigger of a table whose rows never change."""
    statements = (f"UPDATE {table} SET {column} = {column}", f"DELETE FROM {table}", f"TRUNCATE {table} CASCADE")
    return {f"{table}_append_only": statements}


def decided_by_two(table: str) -> dict[str, Row]:
    """Return the checks of decisions that one person prepares and another decides."""
    return {
        f"{table}_by_two": {"status": "approved", "decided_by": OURS, "decided_at": NOW},
        f"{table}_status_known": {"status": "x", "decided_by": OTHERS, "decided_at": NOW},
    }


ONE_SIDED_ENTRY: Final = (
    "INSERT INTO ledger_entries (position, transaction_id, account, amount_minor, currency) OVERRIDING SYSTEM VALUE "
    f"VALUES (2, '{OURS}', 'x', 5, 'NGN')"
)
# The tables of messages and commands, which every service has.
MESSAGING: Final[Mapping[str, GuardedTable]] = {
    "dead_letter_actions": GuardedTable(
        row={"action": "replayed", "reason": None},
        checks={
            "dead_letter_actions_known": {"action": "x", "reason": "x"},
            "dead_letter_actions_request_has_its_reason": {"action": "closure_requested"},
        },
    ),
    "dead_letter_closures": GuardedTable(),
    "dead_letters": GuardedTable(row={"replayed_at": NOW}, checks={"dead_letters_resolved_once": {"closed_at": NOW}}),
    "idempotent_commands": GuardedTable(),
    "inbox": GuardedTable(),
    "outbox": GuardedTable(row={"position": 1}),
    "outbox_sequences": GuardedTable(),
}
OPERATION_STOPS: Final = GuardedTable(
    row={"expires_at": LATER},
    checks={"operation_stops_expires_later": {"expires_at": NOW}, "operation_stops_lifted_by": {"lift_reason": "x"}},
    policies={"SELECT operation_stops_known": ("public",)},
)
# The tables of a ledger; each service adds its policies.
LEDGER: Final[Mapping[str, GuardedTable]] = {
    "ledger_accounts": GuardedTable(row={"position": 1}),
    "ledger_balances": GuardedTable(
        row={"side": "debit"},
        checks={"ledger_balances_side_known": {"side": "x"}},
        triggers={"ledger_balances_never_negative": ("UPDATE ledger_balances SET balance_minor = -1",)},
    ),
    "ledger_chain": GuardedTable(checks={"ledger_chain_is_one": {"the_only": False}}),
    "ledger_entries": GuardedTable(
        row={"position": 1},
        checks={"ledger_entries_say_something": {"amount_minor": 0}},
        references={"ledger_entries_transaction": {"transaction_id": OTHERS}},
        triggers={**append_only("ledger_entries", "transaction_id"), "ledger_entries_balanced": (ONE_SIDED_ENTRY,)},
    ),
    "ledger_links": GuardedTable(
        unique={"ledger_links_pkey": {"transaction_id": OTHERS}, "ledger_links_transaction_once": {"sequence": 0}},
        triggers=append_only("ledger_links", "sequence"),
    ),
    "ledger_transactions": GuardedTable(
        row={"position": 1},
        unique={
            "ledger_transactions_pkey": {"posting_key": "0123456789"},
            "ledger_transactions_posting_key_once": {"id": OTHERS},
        },
        triggers=append_only("ledger_transactions"),
    ),
    "ledger_unsealed": GuardedTable(),
}
