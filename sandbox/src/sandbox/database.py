"""The sandbox's database: one SQLite file, one connection, and the append-only list of money movements."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sandbox.clock import now_text

SCHEMA = (Path(__file__).parent / "schema.sql").read_text()

# SQLite's largest integer; a number above it would be an overflow in the driver instead of an error response.
AMOUNT_MINOR_MAX = 2**63 - 1

# What newer versions added to tables of an older file.
WIDER_CHECKS = (
    ("webhooks", "('gateway', 'messaging'))", "('gateway', 'messaging', 'sms'))"),
    ("webhooks", "('gateway', 'messaging', 'sms'))", "('gateway', 'messaging', 'sms', 'flutterwave'))"),
    (
        "refunds",
        "('pending', 'processed', 'failed'))",
        "('pending', 'processing', 'needs-attention', 'processed', 'failed'))",
    ),
    (
        "disputes",
        "('awaiting-merchant-feedback', 'resolved')",
        "('awaiting-merchant-feedback', 'awaiting-bank-feedback', 'resolved')",
    ),
)
OF_THE_FIRST_GATEWAY = "gateway TEXT NOT NULL DEFAULT 'paystack'"
NEWER_COLUMNS = {
    "movements": (OF_THE_FIRST_GATEWAY,),
    "transactions": (
        "fees_minor INTEGER",
        "settlement_id INTEGER",
        OF_THE_FIRST_GATEWAY,
        "account_expires_at TEXT",
        "paid_into INTEGER REFERENCES transactions (id)",
    ),
    "transfers": (OF_THE_FIRST_GATEWAY,),
    "settlements": (OF_THE_FIRST_GATEWAY, "destination TEXT NOT NULL DEFAULT 'account'"),
    "disputes": ("due_at TEXT", "resolved_at TEXT", "evidence_id INTEGER", "attachments TEXT", "message TEXT"),
}


class InsufficientBalance(Exception):
    """A movement would exceed the balance of its currency."""


class Database:
    """
    Every read and write is a synchronous call on one connection, used by one event loop only. Between two awaits
    nothing else runs, so a check and the write that relies on it cannot be separated by another request.
    """

    def __init__(self, path: Path | str, opening_balance_minor: int = 0) -> None:
        self.connection = sqlite3.connect(path, isolation_level=None, cached_statements=256)
        self.connection.row_factory = sqlite3.Row
        self.connection.execute("PRAGMA journal_mode = WAL")
        # A power cut may lose the last commits of the sandbox, never its consistency; a sync per payment would be slow.
        self.connection.execute("PRAGMA synchronous = NORMAL")
        self.connection.execute("PRAGMA foreign_keys = ON")
        self._upgrade_older_file()
        self.connection.executescript(SCHEMA)
        if opening_balance_minor and self.one("SELECT 1 FROM movements LIMIT 1") is None:
            with self.transaction():
                self.post("opening", "opening", opening_balance_minor, "NGN")

    def close(self) -> None:
        self.connection.close()

    def _upgrade_older_file(self) -> None:
        """Widens the checks of an older file in the way that SQLite documents, and adds the columns that it lacks."""
        self.connection.execute("PRAGMA writable_schema = ON")
        for table, narrow, wide in WIDER_CHECKS:
            self.connection.execute(
                "UPDATE sqlite_master SET sql = replace(sql, ?, ?) WHERE name = ?", (narrow, wide, table)
            )
        self.connection.execute("PRAGMA writable_schema = RESET")
        for table, columns in NEWER_COLUMNS.items():
            present = {row["name"] for row in self.all(f"PRAGMA table_info({table})")}
            for column in columns if present else ():
                if column.split()[0] not in present:
                    self.connection.execute(f"ALTER TABLE {table} ADD COLUMN {column}")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit everything inside together, or nothing of it. There must be no await inside."""
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self.connection.execute("ROLLBACK")
            raise
        self.connection.execute("COMMIT")

    def one(self, statement: str, *values: Any) -> sqlite3.Row | None:
        row: sqlite3.Row | None = self.connection.execute(statement, values).fetchone()
        return row

    def all(self, statement: str, *values: Any) -> list[sqlite3.Row]:
        return self.connection.execute(statement, values).fetchall()

    def run(self, statement: str, *values: Any) -> int:
        """Execute one writing statement; returns the id of the row it inserted."""
        return self.connection.execute(statement, values).lastrowid or 0

    def balance_minor(self, currency: str, gateway: str = "paystack") -> int:
        """Return the merchant's balance at one gateway in one currency, in minor units."""
        row = self.one(
            "SELECT balance_after FROM movements WHERE currency = ? AND gateway = ? ORDER BY id DESC LIMIT 1",
            currency,
            gateway,
        )
        return 0 if row is None else int(row["balance_after"])

    def post(self, kind: str, reference: str, amount_minor: int, currency: str, gateway: str = "paystack") -> None:
        """Append a movement (positive: money in). Raises InsufficientBalance when the balance would go below zero."""
        balance_after = self.balance_minor(currency, gateway) + amount_minor
        if balance_after < 0:
            raise InsufficientBalance(currency)
        self.run(
            "INSERT INTO movements (kind, reference, amount_minor, currency, gateway, balance_after, created_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            kind,
            reference,
            amount_minor,
            currency,
            gateway,
            balance_after,
            now_text(),
        )

    def read_setting(self, name: str) -> str | None:
        row = self.one("SELECT value FROM settings WHERE name = ?", name)
        return None if row is None else str(row["value"])

    def save_setting(self, name: str, value: str) -> None:
        self.run(
            "INSERT INTO settings (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            name,
            value,
        )
