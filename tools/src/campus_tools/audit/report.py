"""Runs the audit and tells what it found."""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import httpx
from rich.console import Console

from campus_tools.audit.comparisons import COMPARISONS, Connections
from campus_tools.audit.invariants import INVARIANTS, ROWS_MAX

AUDITED: Final = ("orders", "payments", "payouts")
# Longer than the last step of a hurried retry ladder; a standing difference is no message under way.
SETTLE_SECONDS: Final = 30.0


@dataclass(frozen=True, slots=True)
class Finding:
    """A broken promise: where, which, and the rows that break it."""

    where: str
    promise: str
    rows: tuple[str, ...]


async def audit_system(secrets: Mapping[str, str], sandbox: httpx.AsyncClient, console: Console) -> bool:
    """Audits the system of these secrets and prints one line for each promise; tells whether all hold."""
    console.print("\n[bold cyan]The audit[/]")
    findings = {(finding.where, finding.promise): finding for finding in await findings_of(secrets, sandbox)}
    promises = [(line.service, line.promise) for line in INVARIANTS] + [("all", line.promise) for line in COMPARISONS]
    for where, promise in promises:
        finding = findings.get((where, promise))
        mark = "[green]✓[/]" if finding is None else "[bold red]✗[/]"
        console.print(f"  {mark} {where}: {promise}", soft_wrap=True)
        for row in finding.rows if finding else ():
            console.print(f"      {row}", soft_wrap=True)
    console.print(
        "[bold green]The books are clean.[/]" if not findings else f"[bold red]{len(findings)} promises are broken.[/]"
    )
    return not findings


async def findings_of(
    secrets: Mapping[str, str], sandbox: httpx.AsyncClient, *, settle_seconds: float = SETTLE_SECONDS
) -> list[Finding]:
    """Every broken promise of the system; an empty list when the books are clean."""
    async with _connections(secrets["AUDIT_DATABASE_URL"]) as databases:
        deadline = time.monotonic() + settle_seconds
        while True:
            findings = await _inside(databases) + await _between(databases, sandbox)
            if not findings or time.monotonic() > deadline:
                return findings
            await asyncio.sleep(0.5)


async def _inside(databases: Connections) -> list[Finding]:
    findings = []
    for line in INVARIANTS:
        rows = await databases[line.service].fetch(f"SELECT * FROM ({line.offending}) AS offending LIMIT {ROWS_MAX}")
        if rows:
            findings.append(Finding(line.service, line.promise, tuple(str(dict(row)) for row in rows)))
    return findings


async def _between(databases: Connections, sandbox: httpx.AsyncClient) -> list[Finding]:
    findings = []
    for line in COMPARISONS:
        offending = await line.offending(databases, sandbox)
        if offending:
            findings.append(Finding("all", line.promise, tuple(offending[:ROWS_MAX])))
    return findings


@asynccontextmanager
async def _connections(url: str) -> AsyncIterator[Connections]:
    async with AsyncExitStack() as stack:
        databases = {}
        for service in AUDITED:
            address = urlunsplit(urlsplit(url)._replace(path=f"/campus_{service}"))
            databases[service] = await asyncpg.connect(address)
            stack.push_async_callback(databases[service].close)
        yield databases
