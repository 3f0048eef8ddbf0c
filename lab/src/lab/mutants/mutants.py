"""The scopes of the mutation tests, and the files of a scope."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[4]
KINDS: Final = ("guard", "python", "sql")


@dataclass(frozen=True, slots=True)
class Mutant:
    """One fault: a file with a changed text, or a statement that changes a migrated database."""

    id: str
    """Independent of line numbers: the list of survivors names it."""
    kind: str
    scope: str
    path: Path | None = None
    source: Callable[[], str] = str
    """The changed text of the file."""
    name: str = ""
    """The function, module-level name or guard that has the fault."""
    statement: str = ""


@dataclass(frozen=True, slots=True)
class Scope:
    """Code with the tests that must detect its faults."""

    name: str
    package: Path
    """The folder of the import path, relative to the repository: it is copied."""
    files: tuple[str, ...]
    """Patterns below the package."""
    tests: tuple[str, ...]

    def sources(self) -> Iterator[Path]:
        """Yield the files of the scope, relative to the repository."""
        for pattern in self.files:
            for path in sorted((ROOT / self.package).glob(pattern)):
                if path.name not in ("__init__.py", "errors.py"):
                    yield path.relative_to(ROOT)


def _service(name: str, *, store: Sequence[str] = ()) -> Scope:
    folder = name.replace("_", "-")
    files = (f"{name}/**/domain/*.py", *(f"{name}/store/{module}.py" for module in store))
    return Scope(folder, Path(f"services/{folder}/src"), files, (f"services/{folder}/tests",))


# The stores of money: every statement that writes or locks an amount, a state of a payment, or a proof of one.
SCOPES: Final = {
    scope.name: scope
    for scope in (
        Scope(
            "ledger",
            Path("libs/common/src"),
            ("common/ledger/*.py",),
            (
                "libs/common/tests/test_ledger_posting.py",
                "services/payments/tests/integration/test_hash_chain.py",
                "services/payments/tests/integration/test_hash_chain_verification.py",
                "services/payments/tests/unit/test_postings.py",
            ),
        ),
        Scope(
            "messaging",
            Path("libs/common/src"),
            (
                "common/database/late_transactions.py",
                "common/database/outbox.py",
                "common/messaging/inbox.py",
                "common/messaging/relay.py",
            ),
            (
                "libs/common/tests/test_commits.py",
                "libs/common/tests/test_consumer_batches.py",
                "libs/common/tests/test_consumers.py",
                "libs/common/tests/test_inbox.py",
                "libs/common/tests/test_relay.py",
                "libs/common/tests/test_unit_of_work.py",
                "libs/common/tests/test_unlocked_decisions.py",
            ),
        ),
        _service(
            "payments",
            store=(
                "balances",
                "chargeback_responses",
                "chargebacks",
                "charges",
                "closed_intents",
                "decisions",
                "escrow",
                "intents",
                "reconciliation",
                "refund_attempts",
                "refunds",
                "revisions",
                "statements",
                "webhooks",
                "withdrawals",
            ),
        ),
        _service(
            "payouts",
            store=(
                "__init__",
                "bank_details",
                "chargebacks",
                "exceptions",
                "found_transfers",
                "payouts",
                "reconciliations",
                "release_statements",
                "returns",
                "schedules",
                "transfers",
                "wallets",
            ),
        ),
        _service(
            "orders",
            store=("checkout", "flash_sales", "orders", "pins", "receipts", "refunds", "returns", "sales", "stock"),
        ),
        _service("identity"),
        _service("notifications"),
    )
}
