"""Run the audit and print or serialize its findings."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

import httpx
from rich.console import Console

from common.primitives.database_servers import DatabaseServers
from operations.audit.access import AUDITED, database_variable
from operations.audit.comparisons import COMPARISONS, Comparison, Connections
from operations.audit.findings import KINDS, Finding, Kind, Offence, Report, grouped
from operations.audit.gateway import Gateway, GatewayNotCompared
from operations.audit.invariants import INVARIANTS, ROWS_MAX, Invariant
from operations.audit.statement import Statement, statement_of
from operations.audit.under_way import events_under_way

# Longer than the last step of a shortened retry ladder: a difference that persists has no pending message.
SETTLE_SECONDS: Final = 30.0
_MARKS: Final = {"broken": "[bold red]✗[/]", "open": "[bold yellow]![/]", "waiting": "[bold blue]…[/]"}
_HEADINGS: Final = {
    "broken": "Broken: a rule does not hold",
    "open": "Open: staff must decide",
    "waiting": "Waiting: a pending message resolves it",
}


async def audit(secrets: Mapping[str, str], gateway: Gateway, *, settle_seconds: float = SETTLE_SECONDS) -> Report:
    """Audit the system of these secrets. Check broken and waiting rules again for up to `settle_seconds`."""
    async with _connections(secrets) as databases, statement_of(gateway) as statement:
        deadline = time.monotonic() + settle_seconds
        check = Check(databases, statement, gateway)
        while True:
            report = await check.run()
            if all(finding.kind == "open" for finding in report.findings) or time.monotonic() > deadline:
                return report
            await asyncio.sleep(0.5)


async def findings_of(
    secrets: Mapping[str, str], sandbox: httpx.AsyncClient, *, settle_seconds: float = SETTLE_SECONDS
) -> list[Finding]:
    """Return all findings of a system whose gateway is this sandbox; none when the ledgers are clean.

    Raises GatewayNotCompared: the sandbox is unreachable, so the audit would be incomplete.
    """
    report = await audit(secrets, _sandbox_of(secrets, sandbox), settle_seconds=settle_seconds)
    if report.not_compared is not None:
        raise GatewayNotCompared(report.not_compared)
    return list(report.findings)


async def audit_system(secrets: Mapping[str, str], sandbox: httpx.AsyncClient, console: Console) -> bool:
    """Audit a system whose gateway is this sandbox, print the report, and return whether its ledgers are clean."""
    report = await audit(secrets, _sandbox_of(secrets, sandbox))
    print_report(report, console)
    return report.verdict == "clean" and report.not_compared is None


def _sandbox_of(secrets: Mapping[str, str], sandbox: httpx.AsyncClient) -> Gateway:
    given = {name: text for name, text in os.environ.items() if name == "OPENING_BALANCE_MINOR"}
    return Gateway.of(given, secrets, str(sandbox.base_url).rstrip("/"))


def print_report(report: Report, console: Console) -> None:
    """Print one line for each rule, then the findings by kind, then the verdict."""
    console.print("\n[bold cyan]The audit[/]")
    worst: dict[tuple[str, str], str] = {}
    for finding in sorted(report.findings, key=lambda finding: KINDS.index(finding.kind), reverse=True):
        worst[finding.where, finding.rule] = finding.kind
    for where, rule in rules():
        kind = worst.get((where, rule))
        if report.not_compared is not None and is_with_gateway(rule):
            console.print(f"  [bold yellow]?[/] {where}: {rule}: not compared", soft_wrap=True)
        else:
            console.print(f"  {'[green]✓[/]' if kind is None else _MARKS[kind]} {where}: {rule}", soft_wrap=True)
    for kind in KINDS:
        of_kind = [finding for finding in report.findings if finding.kind == kind]
        if of_kind:
            console.print(f"\n[bold]{_HEADINGS[kind]}[/]")
        for finding in of_kind:
            console.print(f"  {_MARKS[kind]} {finding.where}: {finding.rule}", soft_wrap=True)
            for row in finding.rows:
                console.print(f"      {row}", soft_wrap=True, markup=False)
    if report.not_compared is None:
        console.print(f"Compared with the payment gateway at {report.gateway_url}.", soft_wrap=True)
    else:
        console.print(
            f"[bold yellow]Not compared[/] with the payment gateway at {report.gateway_url}: {report.not_compared}. "
            "Name it by GATEWAY_API_URL and run the audit again.",
            soft_wrap=True,
        )
    console.print(_verdict_of(report))


def report_as_json(report: Report) -> dict[str, Any]:
    """Return the report with the field names of `GET /api/audits` (product contract, section 13.3)."""
    return {
        "verdict": report.verdict,
        "gateway": {
            "url": report.gateway_url,
            "compared": report.not_compared is None,
            "reason": report.not_compared,
        },
        "findings": [
            {
                "check": f"{finding.where}: {finding.rule}",
                "kind": finding.kind,
                "subject": offence.subject,
                "expected": offence.expected,
                "actual": offence.actual,
            }
            for finding in report.findings
            for offence in finding.offences
        ],
    }


def report_from_json(document: Mapping[str, Any]) -> Report:
    """Return the report that `report_as_json` gave."""
    offences: dict[tuple[str, Kind], list[Offence]] = {}
    for line in document["findings"]:
        offence = Offence(line["subject"], line["expected"], line["actual"], line["kind"])
        offences.setdefault((line["check"], line["kind"]), []).append(offence)
    findings = []
    for (check, kind), found in offences.items():
        where, _, rule = check.partition(": ")
        findings.append(Finding(where, rule, kind, tuple(found)))
    return Report(tuple(findings), document["gateway"]["url"], document["gateway"]["reason"])


def rules() -> list[tuple[str, str]]:
    """Return service (or `all`) and text of each rule."""
    return [(line.service, line.rule) for line in INVARIANTS] + [("all", line.rule) for line in COMPARISONS]


def _verdict_of(report: Report) -> str:
    counts = {kind: sum(finding.kind == kind for finding in report.findings) for kind in KINDS}
    if report.verdict == "clean":
        return "[bold green]The ledgers are clean.[/]"
    if report.verdict == "open":
        return f"[bold yellow]No rule is broken; {counts['open']} open, {counts['waiting']} waiting.[/]"
    return f"[bold red]{counts['broken']} rules are broken[/]; {counts['open']} open, {counts['waiting']} waiting."


def is_with_gateway(rule: str) -> bool:
    """Return whether the rule compares with the payment gateway."""
    return any(comparison.rule == rule and comparison.needs_gateway for comparison in COMPARISONS)


async def check_once(databases: Connections, gateway: Gateway) -> Report:
    """Check every rule once."""
    async with statement_of(gateway) as statement:
        return await Check(databases, statement, gateway).run()


class Check:
    """The rules of an audit, and what each of them found last. A rule that agreed is not checked again."""

    def __init__(self, databases: Connections, statement: Statement, gateway: Gateway) -> None:
        self._databases = databases
        self._statement = statement
        self._gateway = gateway
        self._invariants: dict[Invariant, list[Offence]] = {}
        self._comparisons: dict[str, list[Offence]] = {}
        self._not_compared: str | None = None

    async def run(self) -> Report:
        """Check the rules that have not agreed yet."""
        for line in INVARIANTS:
            if not _agreed(self._invariants.get(line)):
                self._invariants[line] = await _offences(self._databases, line)
        await self._compare([rule for rule in COMPARISONS if not _agreed(self._comparisons.get(rule.rule))])
        return self._report()

    async def _compare(self, comparisons: list[Comparison]) -> None:
        offending: dict[str, list[Offence]] = {}
        try:
            self._not_compared = None
            if any(comparison.needs_gateway for comparison in comparisons):
                await self._statement.refresh()
        except GatewayNotCompared as error:
            self._not_compared = str(error)
        for comparison in comparisons:
            if comparison.needs_gateway and self._not_compared is not None:
                continue
            try:
                found = await comparison.offences(self._databases, self._statement, self._gateway)
                offending[comparison.rule] = found
            except GatewayNotCompared as error:
                self._not_compared = str(error)
        # Read after the comparisons: an event that they missed is pending or processed by now.
        concerned = await events_under_way(self._databases) if any(offending.values()) else {}
        for comparison in comparisons:
            self._comparisons.pop(comparison.rule, None)
            if (found_now := offending.get(comparison.rule)) is not None:
                self._comparisons[comparison.rule] = [
                    _with_kind(offence, comparison, concerned) for offence in found_now
                ]

    def _report(self) -> Report:
        findings: list[Finding] = []
        for line in INVARIANTS:
            findings += grouped(line.service, line.rule, self._invariants[line], ROWS_MAX)
        for comparison in COMPARISONS:
            findings += grouped("all", comparison.rule, self._comparisons.get(comparison.rule, []), ROWS_MAX)
        return Report(tuple(findings), self._gateway.url, self._not_compared)


def _agreed(offences: list[Offence] | None) -> bool:
    """Return whether a rule was checked, and only decisions of staff are left."""
    return offences is not None and all(offence.kind == "open" for offence in offences)


def _with_kind(offence: Offence, comparison: Comparison, unprocessed: Mapping[str, Mapping[str, Kind]]) -> Offence:
    to_come = (unprocessed.get(consumer, {}) for consumer in comparison.resolved_by)
    kinds = {events[subject] for events in to_come for subject in offence.ids if subject in events}
    return offence.of_kind("open" if "open" in kinds else "waiting") if kinds else offence


async def _offences(databases: Connections, line: Invariant) -> list[Offence]:
    # Materialized: a limit inside the query makes the planner expect few rows, and compare all payouts with all
    # postings.
    query = f"WITH offending AS MATERIALIZED ({line.offending}) SELECT * FROM offending LIMIT {ROWS_MAX}"
    rows = await databases[line.service].fetch(query)
    undecided = set()
    if rows and line.undecided:
        undecided = {row[0] for row in await databases[line.service].fetch(line.undecided)}
    return [
        Offence(str(row[0]), line.rule, str(dict(row)), "open" if row[0] in undecided else line.kind) for row in rows
    ]


@asynccontextmanager
async def _connections(secrets: Mapping[str, str]) -> AsyncIterator[Connections]:
    async with AsyncExitStack() as stack:
        databases = {}
        for service in AUDITED:
            settings = {"default_transaction_read_only": "on", "application_name": "campus-audit"}
            servers = DatabaseServers.of(database_url(secrets, service))
            databases[service] = await servers.connect(settings=settings)
            stack.push_async_callback(databases[service].close)
        yield databases


def database_url(secrets: Mapping[str, str], service: str) -> str:
    """Return the auditor's address of a service's database: of its own server, else of the server of all."""
    own = secrets.get(database_variable(service))
    return own or urlunsplit(urlsplit(secrets["AUDIT_DATABASE_URL"])._replace(path=f"/campus_{service}"))
