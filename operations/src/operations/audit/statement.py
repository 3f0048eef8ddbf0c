"""Reports of the gateways: their lists page by page in a file, and their balance.

A list of the gateway is ordered by its own ids and our rows by theirs, so the pages go to a SQLite file that is read in
our order. Each page commits with the position after it: an interrupted audit continues there.
"""

import fcntl
import json
import sqlite3
import tempfile
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import IO, Any, Final, Protocol
from urllib.parse import quote

import msgspec

from operations.audit.gateway import Gateway, GatewayNotCompared
from operations.audit.gateway_calls import GatewayCalls, gateway_calls
from operations.audit.reported import (
    FLUTTERWAVE_PREFIX,
    KINDS_LISTED,
    Kind,
    Reported,
    kobo_of,
    read_flutterwave,
    read_paystack,
)

# The gateway's own bound of a page.
PAGE_LENGTH: Final = 1_000
# Bounds a list that never ends: 20 million rows.
_PAGES_MAX: Final = 20_000
# Rows that are in memory at once.
_BATCH: Final = 2_000
# Older lists are read again: the gateway's states have changed since.
_CONTINUED_HOURS_MAX: Final = 6
# A list that took longer than this misses newer rows, which a second reading adds.
_FRESH_SECONDS: Final = 60.0
_OVERLAP: Final = timedelta(hours=1)
_FILE: Final = "gateway-lists.sqlite"
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS run (gateway TEXT NOT NULL, started_at REAL NOT NULL, since TEXT);
CREATE TABLE IF NOT EXISTS progress (list TEXT PRIMARY KEY, position TEXT, is_finished INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS reported (
    kind TEXT NOT NULL, key TEXT NOT NULL, amount_minor INTEGER NOT NULL, fee_minor INTEGER NOT NULL,
    currency TEXT NOT NULL, status TEXT NOT NULL, reference TEXT NOT NULL, at TEXT NOT NULL, PRIMARY KEY (kind, key)
) WITHOUT ROWID;
"""
# A lost file is read again: no flush is worth waiting for. The cache is 16 MiB.
_PRAGMAS: Final = (
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA cache_size = -16384; PRAGMA temp_store = FILE;"
)
_COLUMNS: Final = "key, amount_minor, fee_minor, currency, status, reference, at"
_SAVE: Final = "INSERT OR REPLACE INTO reported VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
# The amount that all processed refunds with one note moved, and the ids of all.
_REFUNDS_BY_NOTE: Final = """
SELECT CASE reference WHEN '' THEN 'id:' || key ELSE reference END AS note,
       sum(CASE status WHEN 'processed' THEN amount_minor ELSE 0 END), 0, max(currency), max(status), group_concat(key),
       max(at)
FROM reported WHERE kind = 'refund' GROUP BY 1 ORDER BY 1
"""
_PATHS: Final[Mapping[Kind, str]] = {
    "charge": "transaction",
    "refund": "refund",
    "transfer": "transfer",
    "dispute": "dispute",
    "settlement": "settlement",
}
_QUERIES: Final[Mapping[Kind, str]] = {
    "charge": "transaction/verify/",
    "refund": "refund/",
    "transfer": "transfer/verify/",
    "dispute": "dispute/",
}
_FLUTTERWAVE_PATHS: Final[Mapping[Kind, str]] = {
    "charge": "transactions",
    "refund": "refunds",
    "transfer": "transfers",
    "dispute": "chargebacks",
    "settlement": "settlements",
}
_WITH_CURSOR: Final = ("charge", "transfer")
_UNREADABLE: Final = (KeyError, TypeError, ValueError, ArithmeticError, msgspec.MsgspecError, StopIteration)


class Provider(Protocol):
    """The lists of one gateway."""

    name: str
    kinds: tuple[Kind, ...]

    async def page(self, kind: Kind, position: str, since: datetime | None) -> tuple[list[Reported], str | None]:
        """Return the rows of a page and the position of the next one. Raises GatewayNotCompared."""
        ...

    async def find(self, kind: Kind, key: str) -> Reported | None:
        """Return the present state of one object; None when the gateway does not have it, or it is unpaid.

        `key`: the reference of a charge or transfer, else the id. Raises GatewayNotCompared.
        """
        ...

    async def balance_minor(self) -> int:
        """Return the money in naira, in kobo. Raises GatewayNotCompared."""
        ...


class Paystack:
    """Paystack's lists: transactions and transfers by cursor, the others by page."""

    name = "paystack"
    kinds = KINDS_LISTED

    def __init__(self, calls: GatewayCalls) -> None:
        self._calls = calls

    async def page(self, kind: Kind, position: str, since: datetime | None) -> tuple[list[Reported], str | None]:
        has_cursor = kind in _WITH_CURSOR
        query: dict[str, str | int] = {"perPage": PAGE_LENGTH}
        if has_cursor:
            query |= {"use_cursor": "true"} | ({"next": position} if position else {})
        else:
            query["page"] = position or "1"
        if since is not None:
            query["from"] = since.isoformat(timespec="seconds").replace("+00:00", "Z")
        response = await self._calls.get(_PATHS[kind], query)
        if response.status_code != 200:
            raise GatewayNotCompared(f"{_PATHS[kind]} answered {response.status_code}")
        try:
            body = msgspec.json.decode(response.content)
            listed = body["data"]
            rows = [row for line in listed if (row := read_paystack(kind, line)) is not None]
            if has_cursor:
                return rows, (body.get("meta") or {}).get("next") or None
        except _UNREADABLE as error:
            raise GatewayNotCompared(f"{type(error).__name__}: {error}") from error
        return rows, str(int(position or 1) + 1) if len(listed) == PAGE_LENGTH else None

    async def balance_minor(self) -> int:
        response = await self._calls.get("balance")
        try:
            lines = msgspec.json.decode(response.content)["data"]
            return next(int(line["balance"]) for line in lines if line["currency"] == "NGN")
        except _UNREADABLE as error:
            raise GatewayNotCompared(f"balance: {type(error).__name__}: {error}") from error

    async def find(self, kind: Kind, key: str) -> Reported | None:
        response = await self._calls.get(_QUERIES[kind] + quote(key, safe=""))
        try:
            return (
                read_paystack(kind, msgspec.json.decode(response.content)["data"])
                if response.status_code == 200
                else None
            )
        except _UNREADABLE as error:
            raise GatewayNotCompared(f"{_QUERIES[kind]}{key}: {type(error).__name__}: {error}") from error


class Flutterwave:
    """Flutterwave's lists, by page. The gateway chooses the size of a page."""

    name = "flutterwave"
    kinds = KINDS_LISTED

    def __init__(self, calls: GatewayCalls) -> None:
        self._calls = calls

    async def page(self, kind: Kind, position: str, since: datetime | None) -> tuple[list[Reported], str | None]:
        page = int(position or 1)
        query: dict[str, str | int] = {"page": page} | ({} if since is None else {"from": since.date().isoformat()})
        if kind == "charge":
            query["status"] = "successful"
        body = await self._get(_FLUTTERWAVE_PATHS[kind], query)
        try:
            rows = [row for line in body["data"] if (row := read_flutterwave(kind, line)) is not None]
            pages = int(body["meta"]["page_info"]["total_pages"])
        except _UNREADABLE as error:
            raise GatewayNotCompared(f"Flutterwave: {type(error).__name__}: {error}") from error
        return rows, str(page + 1) if page < pages else None

    async def find(self, kind: Kind, key: str) -> Reported | None:
        number, _, flw_ref = key.removeprefix(FLUTTERWAVE_PREFIX).partition("@")
        path = _FLUTTERWAVE_PATHS[kind]
        query: dict[str, str | int] = {}
        if kind == "refund":
            path = f"{path}/{quote(number, safe='')}"
        elif kind == "dispute":
            query = {"flw_ref": flw_ref}
        else:
            query = {"reference": key} if kind == "transfer" else {"tx_ref": key, "status": "successful"}
        body = await self._get(path, query, may_be_missing=True)
        try:
            listed = [body["data"]] if kind == "refund" and body else body.get("data", [])
            found = [row for line in listed if (row := read_flutterwave(kind, line)) is not None]
        except _UNREADABLE as error:
            raise GatewayNotCompared(f"Flutterwave's {path}: {type(error).__name__}: {error}") from error
        return next((row for row in found if key in (row.key, row.reference)), None)

    async def balance_minor(self) -> int:
        """Return the ledger balance, which includes the amounts of open chargebacks."""
        body = await self._get("balances/NGN", {})
        try:
            return kobo_of(body["data"]["ledger_balance"])
        except _UNREADABLE as error:
            raise GatewayNotCompared(f"Flutterwave: {type(error).__name__}: {error}") from error

    async def _get(self, path: str, query: Mapping[str, str | int], *, may_be_missing: bool = False) -> dict[str, Any]:
        response = await self._calls.get(path, query)
        if may_be_missing and response.status_code in (400, 404):
            return {}
        if response.status_code != 200:
            raise GatewayNotCompared(f"Flutterwave's {path} answered {response.status_code}")
        try:
            body: dict[str, Any] = json.loads(response.content, parse_float=Decimal)
        except ValueError as error:
            raise GatewayNotCompared(f"Flutterwave: {type(error).__name__}: {error}") from error
        return body


class Statement:
    """The lists of all gateways in one file, and their balance."""

    def __init__(self, gateway: Gateway, providers: tuple[Provider, ...], file: sqlite3.Connection) -> None:
        self._gateway = gateway
        self._providers = providers
        self._file = file
        # Rows from then on are read again; None: all.
        self._since: datetime | None = None

    async def refresh(self) -> None:
        """Read the lists to their end; newer rows only, when an earlier reading was long. Raises GatewayNotCompared."""
        if not self._gateway.key:
            raise GatewayNotCompared("GATEWAY_SECRET_KEY is not known")
        while True:
            started_at, since = self._start()
            for provider in self._providers:
                for kind in provider.kinds:
                    await self._read_list(provider, kind, since)
            with self._file:
                self._file.execute("DELETE FROM progress")
            if time.time() - started_at <= _FRESH_SECONDS:
                return
            self._since = datetime.fromtimestamp(started_at, UTC) - _OVERLAP

    async def held_minor(self) -> int:
        """Our money at all gateways in naira, in kobo, without the balance before the first charge."""
        balances = [await provider.balance_minor() for provider in self._providers]
        return sum(balances) - self._gateway.opening_minor

    def find(self, kind: Kind, key: str) -> Reported | None:
        row = self._file.execute(f"SELECT {_COLUMNS} FROM reported WHERE kind = ? AND key = ?", (kind, key)).fetchone()
        return None if row is None else Reported(*row)

    async def query(self, kind: Kind, key: str, gateway: str) -> Reported | None:
        """Return the present state at a gateway: of a charge and a transfer by reference, of the others by id."""
        provider = next(provider for provider in self._providers if provider.name == gateway)
        found = await provider.find(kind, key)
        if found is not None:
            self._save(kind, [found])
        return found

    async def rows(self, kind: Kind) -> AsyncIterator[Reported]:
        """All objects of a kind in the order of their keys."""
        async for row in self._select(f"SELECT {_COLUMNS} FROM reported WHERE kind = ? ORDER BY key", (kind,)):
            yield row

    async def refunds_by_note(self) -> AsyncIterator[Reported]:
        """Yield the refunds of each note as one: the processed amount, the ids joined by commas as its reference."""
        async for row in self._select(_REFUNDS_BY_NOTE, ()):
            yield row

    async def _select(self, statement: str, values: tuple[str, ...]) -> AsyncIterator[Reported]:
        rows = self._file.execute(statement, values)
        while batch := rows.fetchmany(_BATCH):
            for row in batch:
                yield Reported(*row)

    async def _read_list(self, provider: Provider, kind: Kind, since: datetime | None) -> None:
        name = f"{provider.name} {kind}"
        kept = self._file.execute("SELECT position, is_finished FROM progress WHERE list = ?", (name,)).fetchone()
        position, is_finished = kept or ("", 0)
        for _ in range(_PAGES_MAX):
            if is_finished:
                return
            rows, following = await provider.page(kind, position, since)
            is_finished = following is None
            position = following or ""
            with self._file:
                self._save(kind, rows)
                self._file.execute("INSERT OR REPLACE INTO progress VALUES (?, ?, ?)", (name, position, is_finished))
        raise GatewayNotCompared(f"its list of {kind}s has more than {_PAGES_MAX} pages")

    def _save(self, kind: Kind, rows: Iterable[Reported]) -> None:
        self._file.executemany(_SAVE, [(kind, *row) for row in rows])

    def _start(self) -> tuple[float, datetime | None]:
        """Continue an interrupted reading, else start one. Return its start, and the time of its oldest rows."""
        run = self._file.execute("SELECT started_at, since FROM run WHERE gateway = ?", (self._gateway.url,)).fetchone()
        has_progress = self._file.execute("SELECT 1 FROM progress").fetchone() is not None
        now = time.time()
        if run is not None and has_progress and now - run[0] < _CONTINUED_HOURS_MAX * 3600:
            return run[0], None if run[1] is None else datetime.fromisoformat(run[1])
        with self._file:
            if self._since is None:
                self._file.execute("DELETE FROM reported")
            self._file.execute("DELETE FROM progress")
            self._file.execute("DELETE FROM run")
            since = None if self._since is None else self._since.isoformat()
            self._file.execute("INSERT INTO run VALUES (?, ?, ?)", (self._gateway.url, now, since))
        return now, self._since


@contextmanager
def _own_folder(work_dir: Path | None) -> Iterator[Path]:
    """Yield the work directory, locked; a temporary one when there is none, or a concurrent audit uses it."""
    with ExitStack() as stack:
        if work_dir is None or not _is_locked(stack.enter_context((work_dir / "lock").open("w"))):
            work_dir = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="campus-audit-")))
        yield work_dir


def _is_locked(file: IO[str]) -> bool:
    """Lock the file until it is closed, unless another process has locked it."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@asynccontextmanager
async def statement_of(gateway: Gateway) -> AsyncIterator[Statement]:
    """Yield the statement of these gateways, empty or as an interrupted audit left it."""
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(_own_folder(gateway.work_dir))
        paystack = Paystack(await stack.enter_async_context(gateway_calls(gateway.url, gateway.key)))
        providers: tuple[Provider, ...] = (paystack,)
        if gateway.flutterwave is not None:
            account = gateway.flutterwave
            calls = gateway_calls(account.url, account.key, "Flutterwave: ")
            providers = (paystack, Flutterwave(await stack.enter_async_context(calls)))
        # It has references and amounts; SQLite gives its further files the same mode.
        (folder / _FILE).touch(mode=0o600)
        file = sqlite3.connect(folder / _FILE)
        stack.callback(file.close)
        file.executescript(_PRAGMAS + _SCHEMA)
        yield Statement(gateway, providers, file)
