"""The servers of one machine, compared with what the system needs: versions, settings, migrations, memory, policies."""

import asyncio
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import httpx

from common.migrations.runner import migrations_folder
from common.primitives.database_servers import DatabaseServers
from common.primitives.tls import client_tls
from operations.broker_accounts import SUBSCRIBER_POLICY, SUBSCRIBER_POLICY_NAME
from operations.database_settings import DATABASE_SETTINGS, STATEMENT_TIMEOUT
from operations.doctor.findings import Finding, fault, ok, warning
from operations.services import LOGINS, SERVICES, login_of
from operations.system_status import Machine, examine_machine

POSTGRESQL_VERSIONS: Final = range(15, 18)
RABBITMQ_VERSIONS: Final = ((3, 10), (4, 3))
"""The supported versions; docs/releases.md names them for readers."""
MEMORY_FILE: Final = Path("/proc/meminfo")
_MEMORY_FREE_PERCENT_MIN: Final = 10
_SECONDS_MAX: Final = 10.0
_OF_STATUS: Final = frozenset({"PostgreSQL", "archiving", "audit", "RabbitMQ"})
_SETTINGS: Final = "SELECT name, current_setting(name) AS value FROM pg_settings WHERE name = ANY($1)"
_LOGINS: Final = "SELECT rolname, rolconfig FROM pg_roles WHERE rolname = ANY($1)"


async def check_servers(machine: Machine, settings: Mapping[str, str]) -> list[Finding]:
    """Return the findings of the servers, and those of `status` about data: archiving, disks, backup and audit."""
    shown = [
        finding
        for finding in await examine_machine(machine)
        if finding.subject in _OF_STATUS or finding.subject.startswith(("backup", "disk"))
    ]
    return [*shown, *await _database(machine), *await _broker(machine), _memory(), *_clock(settings)]


async def _database(machine: Machine) -> list[Finding]:
    subject = "PostgreSQL settings"
    try:
        connection = await DatabaseServers.of(machine.database_url).connect(timeout=_SECONDS_MAX)
    except (OSError, asyncpg.PostgresError, ValueError) as error:
        return [fault(subject, f"are not readable: {type(error).__name__}", "start PostgreSQL, or see its log")]
    try:
        version = connection.get_server_version().major
        names = [*(setting.name for setting in DATABASE_SETTINGS), "data_checksums"]
        values = {row["name"]: row["value"] for row in await connection.fetch(_SETTINGS, names)}
        logins = [login_of(role, end) for service in SERVICES for role in service.running_roles for end in LOGINS]
        rows = await connection.fetch(_LOGINS, logins)
    finally:
        await connection.close(timeout=1)
    unbounded = sorted(
        row["rolname"] for row in rows if f"statement_timeout={STATEMENT_TIMEOUT}" not in (row["rolconfig"] or [])
    )
    return [
        _version(version),
        *_differences(values),
        *([fault("statement_timeout", f"is not set for {', '.join(unbounded)}", _PROVISION)] if unbounded else []),
        *await asyncio.gather(*(_migrations(machine, name, folder) for name, folder in _folders())),
    ]


_PROVISION: Final = "start the system, or run campusctl install: both provision the accounts"


def _version(version: int) -> Finding:
    if version not in POSTGRESQL_VERSIONS:
        supported = f"{POSTGRESQL_VERSIONS.start} to {POSTGRESQL_VERSIONS.stop - 1}"
        return fault("version of PostgreSQL", f"is {version}; supported: {supported}", "docs/releases.md")
    return ok("version of PostgreSQL", str(version))


def _differences(values: Mapping[str, str]) -> list[Finding]:
    advice = "campusctl install, or docs/reference/database-settings.md"
    found = []
    if values.get("data_checksums") != "on":
        action = "stop PostgreSQL, run pg_checksums --enable -D DATA_DIRECTORY as its user, start it again"
        found.append(fault("data_checksums", "are off: a damaged page would be served", action))
    for setting in DATABASE_SETTINGS:
        seen = values.get(setting.name, "unknown")
        if setting.is_required and not _is_equal(setting.name, setting.value, seen):
            found.append(fault(setting.name, f"is {seen or 'empty'}, not {setting.value}: {setting.reason}", advice))
    return found or [ok("PostgreSQL settings", "as docs/reference/database-settings.md")]


def _is_equal(name: str, expected: str, seen: str) -> bool:
    if name == "shared_preload_libraries":
        return expected in [library.strip() for library in seen.split(",")]
    units = {"ms": 1, "s": 1000, "min": 60_000}
    both = [re.fullmatch(r"(\d+)(ms|s|min)", text) for text in (expected, seen)]
    if all(both):
        first, second = (int(found[1]) * units[found[2]] for found in both if found)
        return first == second
    return expected == seen


def _folders() -> list[tuple[str, Path]]:
    """Return the folders of migrations of the services that are installed here."""
    found = []
    for service in SERVICES:
        try:
            found.append((service.database, migrations_folder(service.import_name) / "versions"))
        except SystemExit:
            continue
    return found


async def _migrations(machine: Machine, database: str, folder: Path) -> Finding:
    subject = f"migrations of {database}"
    newest = max(path.name.partition("_")[0] for path in folder.glob("[0-9]*.py"))
    address = urlunsplit(urlsplit(machine.database_url)._replace(path=f"/{database}"))
    try:
        connection = await DatabaseServers.of(address).connect(timeout=_SECONDS_MAX)
    except (OSError, asyncpg.PostgresError) as error:
        return fault(subject, f"are not readable: {type(error).__name__}", "run the migrations: campusctl install")
    try:
        applied = await connection.fetchval("SELECT version_num FROM alembic_version")
    except asyncpg.UndefinedTableError:
        applied = None
    finally:
        await connection.close(timeout=1)
    if applied != newest:
        return fault(subject, f"{applied or 'none'} is applied, {newest} is the newest", "campusctl install or upgrade")
    return ok(subject, newest)


async def _broker(machine: Machine) -> list[Finding]:
    if not machine.management_url:
        return []
    try:
        async with httpx.AsyncClient(timeout=_SECONDS_MAX, trust_env=False, verify=client_tls()) as http:
            overview: dict[str, Any] = (await http.get(f"{machine.management_url}/api/overview")).json()
            policies = (await http.get(f"{machine.management_url}/api/policies")).json()
            queues = (await http.get(f"{machine.management_url}/api/queues?columns=name,type,durable")).json()
        version = tuple(int(part) for part in overview["rabbitmq_version"].split(".")[:2])
    except (httpx.HTTPError, ValueError, KeyError, TypeError, AttributeError) as error:
        return [fault("queue policies", f"are not readable: {type(error).__name__}", "start RabbitMQ, or see its log")]
    oldest, newest = RABBITMQ_VERSIONS
    found = [ok("version of RabbitMQ", overview["rabbitmq_version"])]
    if not oldest <= version <= newest:
        found = [fault("version of RabbitMQ", f"is {overview['rabbitmq_version']}", "docs/releases.md")]
    if difference := _policy_difference(policies):
        found.append(fault("queue policies", f"{SUBSCRIBER_POLICY_NAME} {difference}", _PROVISION))
    lossy = sorted(queue["name"] for queue in queues if not queue["durable"] or queue["type"] == "classic")
    lossy = [name for name in lossy if not name.startswith(("broadcast", "amq."))]
    if lossy:
        advice = "declare the queues on an empty broker (docs/operations.md)"
        found.append(warning("queue policies", f"queues that one node loses: {', '.join(lossy[:5])}", advice))
    return found if len(found) > 1 else [*found, ok("queue policies", f"of {len(queues)} queues as declared")]


def _policy_difference(policies: list[dict[str, Any]]) -> str:
    """Return what differs from the policy that is provisioned; empty where nothing does."""
    present = next((policy for policy in policies if policy["name"] == SUBSCRIBER_POLICY_NAME), None)
    if present is None:
        return "is missing"
    parts = [part for part, value in SUBSCRIBER_POLICY.items() if present.get(part) != value]
    return f"differs in {', '.join(parts)}" if parts else ""


def _memory() -> Finding:
    try:
        lines = MEMORY_FILE.read_text().splitlines()
    except OSError:
        return warning("memory", "is not readable", "this check needs Linux")
    amounts = {line.partition(":")[0]: int(line.split()[1]) for line in lines}
    free = 100 * amounts["MemAvailable"] // amounts["MemTotal"]
    text = f"{free} % of {amounts['MemTotal'] // 1024} MiB available"
    if free < _MEMORY_FREE_PERCENT_MIN:
        return fault("memory", text, "see systemd-cgtop; add memory, or move a server to another machine")
    return ok("memory", text)


def _clock(settings: Mapping[str, str]) -> list[Finding]:
    """Return whether the clock is synchronised, where systemd says so; the check `clock` compares it with others."""
    if settings.get("ENVIRONMENT", "development") == "development":
        return []
    try:
        shown = subprocess.run(
            ["timedatectl", "show", "--property=NTPSynchronized", "--value"],
            capture_output=True, text=True, timeout=_SECONDS_MAX, check=False,
        ).stdout.strip()  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        shown = ""
    if shown == "yes":
        return [ok("synchronised clock", "yes")]
    advice = "apt-get install chrony, or systemd-timesyncd"
    return [warning("synchronised clock", "not confirmed by timedatectl", advice)]
