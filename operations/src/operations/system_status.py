"""The state of a system on one machine, for an operator: each line says what was found, also where a part is down."""

import asyncio
import json
import os
import shutil
import ssl
import subprocess
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import httpx

from common.primitives.database_servers import DatabaseServers
from common.primitives.tls import client_tls
from operations.backup.backing_up import list_backups, stored_digest
from operations.backup.errors import BackupFailed
from operations.backup.secret_bundles import digest_of, secret_files
from operations.backup.settings import BackupSettings
from operations.doctor.findings import CheckFailed, Finding, fault, ok, warning
from operations.services import SERVICES, Service, service_named

SECONDS_MAX: Final = 10.0
"""The whole of one check: a part that does not respond delays no other."""
_OUTBOX_SECONDS_MAX: Final = 60.0
_QUEUE_MESSAGES_MAX: Final = 1_000
_BACKUP_HOURS_MAX: Final = 26.0
_AUDIT_HOURS_MAX: Final = 26.0
_DISK_FAULT_PERCENT: Final = 5.0
_DISK_WARNING_PERCENT: Final = 15.0
_CERTIFICATE_DAYS_FAULT: Final = 3
_CERTIFICATE_DAYS_WARNING: Final = 14
_GIB: Final = 1024**3
_OWNERS: Final = tuple(f"{service.name}." for service in SERVICES)
"""The queues of services, which have a consumer while the system runs."""
_QUEUES_NAMED_MAX: Final = 3

_OUTBOX: Final = """
SELECT count(*) AS waiting, coalesce(extract(epoch FROM now() - min(created_at)), 0)::float8 AS age_seconds,
       (SELECT count(*) FROM dead_letters WHERE resolved_at IS NULL) AS dead_letters
FROM outbox WHERE published_at IS NULL
"""
_SERVER: Final = """
SELECT pg_is_in_recovery() AS in_recovery, current_setting('archive_mode') AS archive_mode,
       last_archived_time, last_failed_time,
       coalesce(last_failed_time > coalesce(last_archived_time, '-infinity'), false) AS is_failing,
       (SELECT sum(pg_database_size(oid)) FROM pg_database)::bigint AS bytes,
       (SELECT count(*) FROM pg_stat_activity WHERE datname IS NOT NULL) AS sessions,
       current_setting('max_connections')::int AS sessions_max
FROM pg_stat_archiver
"""
_AUDIT: Final = "SELECT finished_at, verdict, gateway_reason FROM audits ORDER BY started_at DESC LIMIT 1"
_ALERTS: Final = "SELECT severity, title FROM alerts WHERE closed_at IS NULL ORDER BY severity, raised_at"


@dataclass(frozen=True, slots=True)
class Machine:
    """The addresses of a system; an empty one is not known here.

    `backup` is None without a settings file; `backup_error` says what is wrong with one.
    """

    base_url: str
    state_dir: Path
    database_url: str = ""
    management_url: str = ""
    backup: BackupSettings | None = None
    backup_error: str = ""
    folders: Mapping[str, Path] = field(default_factory=dict)
    units: tuple[str, ...] = ()
    """The units of systemd of an installation; without them the processes are those of `make run`."""


async def examine_machine(machine: Machine) -> list[Finding]:
    """Return the findings of all checks, in the order of an operator's reading. No check raises."""
    checks: list[tuple[str, Callable[[Machine], Awaitable[list[Finding]]]]] = [
        ("services", _services),
        ("processes", _processes),
        ("PostgreSQL", _server),
        ("outboxes", _outboxes),
        ("RabbitMQ", _queues),
        ("alerts", _alerts),
        ("audit", _audit),
        ("backup", _backup),
        ("disk", _disk),
        ("certificate", _certificate),
    ]
    found = await asyncio.gather(*(_bounded(subject, check(machine)) for subject, check in checks))
    return [finding for findings in found for finding in findings]


async def _bounded(subject: str, check: Awaitable[list[Finding]]) -> list[Finding]:
    try:
        return await asyncio.wait_for(check, SECONDS_MAX)
    except CheckFailed as error:
        return [error.finding]
    except BackupFailed as error:
        return [fault(subject, error.detail, error.advice or "see docs/backup.md")]
    except (TimeoutError, OSError, asyncpg.PostgresError, httpx.HTTPError, ValueError, KeyError) as error:
        # No text of the error: an address in it may hold a password.
        return [fault(subject, f"is not readable: {type(error).__name__}", "is the part running? see its log")]


async def _services(machine: Machine) -> list[Finding]:
    async with _http() as http:
        response = await http.get(f"{machine.base_url}/health/readiness")
    if not response.is_success:
        advice = "see the log of the gateway and of the services"
        return [fault("services", f"the gateway responds {response.status_code}", advice)]
    services = response.json()["data"]["services"]
    down = sorted(f"{name} {state['status']}" for name, state in services.items() if state["status"] != "ready")
    if down:
        name = down[0].partition(" ")[0]
        file = machine.state_dir / "logs" / f"{name}.log"
        log_of = str(file) if file.exists() else f"docker compose logs --since 15m {name}"
        if machine.units:
            log_of = f"journalctl -u campus-{name} -n 50"
        return [fault("services", f"not ready: {', '.join(down)}", f"{log_of}, then docs/runbooks/service-down.md")]
    return [ok("services", f"{len(services)} ready behind the gateway {machine.base_url}")]


async def _processes(machine: Machine) -> list[Finding]:
    if machine.units:
        return await asyncio.to_thread(_units, machine.units)
    path = machine.state_dir / "processes.json"
    if not path.exists():
        return [warning("processes", f"{path} does not exist", "with containers: docker compose ps")]
    rows = json.loads(path.read_text())
    dead = sorted(row["name"] for row in rows if not _is_running(row["pid"]))
    if dead:
        return [fault("processes", f"not running: {', '.join(dead)}", f"see {machine.state_dir / 'logs'}")]
    return [ok("processes", f"{len(rows)} running")]


def _units(units: tuple[str, ...]) -> list[Finding]:
    down = [
        name for name in units if subprocess.run(["systemctl", "is-active", "--quiet", name], check=False).returncode
    ]
    if down:
        return [fault("processes", f"not running: {', '.join(down)}", f"journalctl -u {down[0]} -n 50")]
    return [ok("processes", f"{len(units)} units active")]


async def _server(machine: Machine) -> list[Finding]:
    (row,) = await _rows(machine, "PostgreSQL", "postgres", _SERVER)
    found = [
        ok("PostgreSQL", f"{row['bytes'] / _GIB:.2f} GiB, {row['sessions']} of {row['sessions_max']} sessions in use")
    ]
    if row["in_recovery"]:
        found = [fault("PostgreSQL", "is in recovery and accepts no writes", "wait for its end, or promote it")]
    if row["archive_mode"] == "off":
        return [*found, warning("archiving", "is off", "campusctl backup init")]
    last = _ago(row["last_archived_time"]) if row["last_archived_time"] else "never"
    if row["is_failing"]:
        advice = "see PostgreSQL's log and docs/runbooks/archiving-failed.md"
        return [*found, fault("archiving", f"fails since {_ago(row['last_failed_time'])}; last success {last}", advice)]
    return [*found, ok("archiving", f"last segment {last}")]


async def _outboxes(machine: Machine) -> list[Finding]:
    async def one(service: Service) -> tuple[str, asyncpg.Record]:
        return service.name, (await _rows(machine, "outboxes", service.database, _OUTBOX))[0]

    # The gateway publishes nothing.
    rows = dict(await asyncio.gather(*(one(service) for service in SERVICES if service.name != "api-gateway")))
    late = [
        f"{name} {row['age_seconds']:.0f} s" for name, row in rows.items() if row["age_seconds"] > _OUTBOX_SECONDS_MAX
    ]
    dead = [f"{name} {row['dead_letters']}" for name, row in rows.items() if row["dead_letters"]]
    oldest = max(row["age_seconds"] for row in rows.values())
    waiting = sum(row["waiting"] for row in rows.values())
    found = [ok("outboxes", f"{waiting} messages wait, the oldest for {oldest:.0f} s")]
    if late:
        found = [fault("outboxes", f"messages wait too long: {', '.join(late)}", "docs/runbooks/outbox-age.md")]
    if dead:
        found.append(warning("dead letters", f"unresolved: {', '.join(dead)}", "campusctl dead-letters list SERVICE"))
    return found


async def _queues(machine: Machine) -> list[Finding]:
    if not machine.management_url:
        advice = "set BROKER_MANAGEMENT_URL to http://user:password@host:port"
        return [warning("RabbitMQ", "its management API is not known", advice)]
    async with _http() as http:
        response = await http.get(f"{machine.management_url}/api/queues")
        if response.status_code != httpx.codes.OK:
            return [fault("RabbitMQ", f"its management API responds {response.status_code}", "check its account")]
        queues = response.json()
        nodes = (await http.get(f"{machine.management_url}/api/nodes")).json()
    found = []
    if alarms := [node["name"] for node in nodes if node.get("mem_alarm") or node.get("disk_free_alarm")]:
        found.append(fault("RabbitMQ", f"memory or disk alarm: {', '.join(alarms)}", "docs/runbooks/broker-alarm.md"))
    work = [queue for queue in queues if ".delay." not in queue["name"] and ".dead" not in queue["name"]]
    if long := [
        f"{queue['name']} {queue['messages']}" for queue in work if queue.get("messages", 0) > _QUEUE_MESSAGES_MAX
    ]:
        found.append(fault("RabbitMQ", f"long queues: {', '.join(long)}", "docs/runbooks/queue-length.md"))
    messages = sum(queue.get("messages", 0) for queue in queues)
    return [
        *(found or [ok("RabbitMQ", f"{len(queues)} queues, {messages} messages")]),
        *_without_consumers([queue for queue in queues if queue["name"].startswith(_OWNERS)]),
    ]


def _without_consumers(queues: list[dict[str, Any]]) -> list[Finding]:
    """Return a fault for the queues of services that no process consumes."""
    names = sorted(queue["name"] for queue in queues if queue.get("consumers") == 0)
    if not names:
        return []
    more = f", and {len(names) - _QUEUES_NAMED_MAX} more" if len(names) > _QUEUES_NAMED_MAX else ""
    return [
        fault(
            "consumers",
            f"no process consumes {', '.join(names[:_QUEUES_NAMED_MAX])}{more}",
            "start the service of that name, see its log: docs/runbooks/queue-without-consumer.md",
        )
    ]


async def _alerts(machine: Machine) -> list[Finding]:
    rows = await _rows(machine, "alerts", service_named("notifications").database, _ALERTS)
    if not rows:
        return [ok("alerts", "none is open")]
    first = f"{rows[0]['severity']} {rows[0]['title']}"
    more = f", and {len(rows) - 1} more" if len(rows) > 1 else ""
    make = fault if rows[0]["severity"] == "SEV-1" else warning
    return [make("alerts", f"open: {first}{more}", "campusctl alerts list")]


async def _audit(machine: Machine) -> list[Finding]:
    rows = await _rows(machine, "audit", service_named("payments").database, _AUDIT)
    if not rows:
        return [warning("audit", "none is recorded", "campusctl audit")]
    last = rows[0]
    found = f"{last['verdict']}, {_ago(last['finished_at'])}"
    if last["verdict"] == "broken":
        return [fault("audit", found, "docs/runbooks/audit-broken.md")]
    if last["gateway_reason"]:
        return [warning("audit", f"{found}, not compared with the gateway", "docs/runbooks/audit-overdue.md")]
    if _hours_since(last["finished_at"]) > _AUDIT_HOURS_MAX:
        return [fault("audit", found, "campusctl audit")]
    return [ok("audit", found)]


async def _backup(machine: Machine) -> list[Finding]:
    if machine.backup_error:
        return [fault("backup", machine.backup_error, "docs/backup.md")]
    if machine.backup is None:
        return [warning("backup", "is not set up on this machine", "docs/backup.md")]
    stored = await list_backups(machine.backup)
    last, images = stored.databases[-1].finished_at, max(stored.images, default=None)
    oldest = stored.databases[0].finished_at
    found = [ok("backup", f"databases {_ago(last)}; any instant since {oldest:%Y-%m-%d %H:%M} UTC")]
    if _hours_since(last) > _BACKUP_HOURS_MAX:
        found = [fault("backup", f"of the databases {_ago(last)}", "campusctl backup run")]
    if images is None or _hours_since(images) > _BACKUP_HOURS_MAX:
        age = "none" if images is None else _ago(images)
        found.append(fault("backup of images", age, "campusctl backup run --only images"))
    passphrase = machine.backup.passphrase_file.read_text().strip()
    current = digest_of(secret_files(machine.backup.secret_files, passphrase))
    if current != stored_digest(machine.backup):
        advice = "campusctl backup run --only secrets"
        found.append(fault("backup of secrets", "the secrets changed since their backup", advice))
    return found


async def _disk(machine: Machine) -> list[Finding]:
    found: dict[int, Finding] = {}
    for name, folder in {"state": machine.state_dir, **machine.folders}.items():
        if not folder.exists():
            continue
        usage, device = shutil.disk_usage(folder), folder.stat().st_dev
        free = 100 * usage.free / usage.total
        text = f"{usage.free / _GIB:.1f} GiB ({free:.0f} %) free at {folder}"
        if device in found:
            continue
        if free < _DISK_FAULT_PERCENT:
            found[device] = fault(f"disk of {name}", text, "make room now: PostgreSQL and RabbitMQ stop on a full disk")
        elif free < _DISK_WARNING_PERCENT:
            found[device] = warning(f"disk of {name}", text, "make room, or enlarge the disk")
        else:
            found[device] = ok(f"disk of {name}", text)
    return list(found.values())


async def _certificate(machine: Machine) -> list[Finding]:
    address = urlsplit(machine.base_url)
    if address.scheme != "https":
        return [ok("certificate", f"none at {machine.base_url}")]
    host, port = address.hostname or "", address.port or 443
    try:
        _, writer = await asyncio.open_connection(host, port, ssl=client_tls())
    except ssl.SSLCertVerificationError as error:
        return [fault("certificate", f"of {host} is refused: {error.verify_message}", "renew it")]
    certificate: dict[str, Any] = writer.get_extra_info("peercert")
    writer.close()
    ends = datetime.fromtimestamp(ssl.cert_time_to_seconds(certificate["notAfter"]), UTC)
    days = (ends - datetime.now(UTC)) / timedelta(days=1)
    text = f"of {host} is valid for {days:.0f} more days"
    if days < _CERTIFICATE_DAYS_FAULT:
        return [fault("certificate", text, "docs/runbooks/certificate-expires.md")]
    if days < _CERTIFICATE_DAYS_WARNING:
        return [warning("certificate", text, "docs/runbooks/certificate-expires.md")]
    return [ok("certificate", text)]


async def _rows(machine: Machine, subject: str, database: str, statement: str) -> list[asyncpg.Record]:
    if not machine.database_url:
        advice = "set STATE_DIR to the folder of secrets.env"
        raise CheckFailed(warning(subject, "the address of the database is not known", advice))
    address = urlunsplit(urlsplit(machine.database_url)._replace(path=f"/{database}"))
    try:
        connection = await DatabaseServers.of(address).connect(timeout=SECONDS_MAX / 2)
    except asyncpg.InvalidCatalogNameError:
        advice = "start the services, which create their databases"
        raise CheckFailed(fault(subject, f"{database} does not exist", advice)) from None
    except (OSError, asyncpg.PostgresError, TimeoutError) as error:
        advice = "start PostgreSQL, or see its log"
        raise CheckFailed(fault(subject, f"{database} is unreachable: {type(error).__name__}", advice)) from None
    try:
        rows: list[asyncpg.Record] = await connection.fetch(statement, timeout=SECONDS_MAX / 2)
        return rows
    finally:
        await connection.close(timeout=1)


def _http() -> httpx.AsyncClient:
    return httpx.AsyncClient(timeout=SECONDS_MAX / 2, trust_env=False, verify=client_tls())


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _hours_since(at: datetime) -> float:
    return (time.time() - at.timestamp()) / 3600


def _ago(at: datetime) -> str:
    minutes = _hours_since(at) * 60
    if minutes < 120:
        return f"{minutes:.0f} minutes ago"
    return f"{minutes / 60:.0f} hours ago" if minutes < 48 * 60 else f"{minutes / 1440:.0f} days ago"
