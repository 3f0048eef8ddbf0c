"""Units of systemd: one for each process, the timers, and the limits of the servers."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from operations.installation.files import PlannedFile
from operations.installation.settings import SETTINGS_FILE, STATE_DIR
from operations.processes import ON_ONE_MACHINE, ProcessPlan, SystemPlan

RELEASE: Final = Path("/opt/campus/current")
"""A link to the release that runs."""
SYSTEMD: Final = Path("/etc/systemd/system")
ENVIRONMENTS: Final = Path("/etc/campus/services")
TARGET: Final = "campus.target"
TIMERS: Final = ("campus-backup.timer", "campus-backup-secrets.timer", "campus-audit.timer")
GROUP: Final = "campus"
_MIB: Final = 1024**2

INSTALLED: Final[SystemPlan] = replace(
    ON_ONE_MACHINE,
    processes=tuple(each for each in ON_ONE_MACHINE.processes if each.service != "sandbox"),
    demo_services=(),
)
"""The processes of an installation: one for each service, the gateway and the console."""

# Twice the memory (PSS) that a process has after the demo (decision 151), and room for exports and images.
PROCESS_MIB_MAX: Final = 320
REDIS_MIB: Final = 64
EDGE_MIB_MAX: Final = 192


@dataclass(frozen=True, slots=True)
class MemoryLimits:
    """Limits of the servers in MiB; they may sum up to more than the memory, of which half is in use."""

    postgresql: int
    rabbitmq: int

    @classmethod
    def of_machine(cls, memory_bytes: int) -> "MemoryLimits":
        mebibytes = memory_bytes // _MIB
        return cls(postgresql=max(640, mebibytes * 45 // 100), rabbitmq=max(384, mebibytes // 5))


@dataclass(frozen=True, slots=True)
class ServerUnits:
    """The names of the servers' units; PostgreSQL's contains its version."""

    postgresql: str
    rabbitmq: str = "rabbitmq-server.service"
    redis: str = "redis-server.service"
    edge: str = "caddy.service"

    @property
    def names(self) -> tuple[str, str, str, str]:
        return self.postgresql, self.rabbitmq, self.redis, self.edge


def unit_name(plan: ProcessPlan) -> str:
    return f"campus-{plan.name}.service"


def account(plan: ProcessPlan) -> str:
    """Return the user of a process: no service can read another one's environment."""
    return f"campus-{plan.service}"


def unit_files(servers: ServerUnits, limits: MemoryLimits) -> list[PlannedFile]:
    """Return the units of the processes, the timers and the servers' limits."""
    files = [
        PlannedFile(SYSTEMD / unit_name(plan), _process(plan, servers), restarts=(unit_name(plan),))
        for plan in INSTALLED.processes
    ]
    files += [
        PlannedFile(SYSTEMD / TARGET, _TARGET.format(units=" ".join(unit_name(plan) for plan in INSTALLED.processes))),
        PlannedFile(Path("/etc/sysusers.d/campus.conf"), _users()),
        PlannedFile(Path("/etc/systemd/journald.conf.d/campus.conf"), _JOURNAL, restarts=("systemd-journald.service",)),
        *_limits(servers, limits),
    ]
    for name, (command, calendar, meaning) in _JOBS.items():
        service = _JOB.format(meaning=meaning, command=command, settings=SETTINGS_FILE)
        files.append(PlannedFile(SYSTEMD / f"{name}.service", service))
        files.append(PlannedFile(SYSTEMD / f"{name}.timer", _TIMER.format(meaning=meaning, calendar=calendar)))
    return files


def _process(plan: ProcessPlan, servers: ServerUnits) -> str:
    writes = f"ReadWritePaths={STATE_DIR / 'media'}\n" if plan.service in ("orders", "notifications") else ""
    needs = "" if plan.service == "console" else f"Wants={servers.postgresql} {servers.rabbitmq} {servers.redis}\n"
    after = " ".join(("network-online.target", *servers.names[:3]))
    return _PROCESS.format(
        name=plan.name,
        needs=needs,
        after=after,
        user=account(plan),
        group=GROUP,
        environment=ENVIRONMENTS / f"{plan.name}.env",
        python=RELEASE / ".venv/bin/python",
        module=" ".join(plan.module),
        memory=PROCESS_MIB_MAX,
        writes=writes,
        target=TARGET,
    )


def _limits(servers: ServerUnits, limits: MemoryLimits) -> list[PlannedFile]:
    memory: Mapping[str, int] = {
        servers.postgresql: limits.postgresql,
        servers.rabbitmq: limits.rabbitmq,
        servers.redis: REDIS_MIB * 2,
        servers.edge: EDGE_MIB_MAX,
    }
    files = []
    for unit, mebibytes in memory.items():
        text = f"[Service]\nMemoryMax={mebibytes}M\nRestart=on-failure\nRestartSec=5\n"
        if unit == servers.redis:
            # Counts of quotas only: nothing is stored on disk.
            text += "ExecStart=\nExecStart=/usr/bin/redis-server /etc/redis/redis.conf --supervised systemd "
            text += f'--daemonize no --bind 127.0.0.1 --save "" --maxmemory {REDIS_MIB}mb '
            text += "--maxmemory-policy volatile-ttl\n"
        files.append(PlannedFile(SYSTEMD / f"{unit}.d" / "campus.conf", text, restarts=(unit,)))
    return files


def _users() -> str:
    lines = ["# Written by `campusctl install`.", f"g {GROUP} -"]
    for plan in INSTALLED.processes:
        lines += [f'u {account(plan)} - "Campus marketplace" /nonexistent', f"m {account(plan)} {GROUP}"]
    return "\n".join(lines) + "\n"


_PROCESS: Final = """\
# Written by `campusctl install`.
[Unit]
Description=Campus marketplace: {name}
Documentation=file:/opt/campus/current/docs/operating.md
Wants=network-online.target
{needs}After={after}
PartOf={target}
StartLimitIntervalSec=0

[Service]
User={user}
Group={group}
UMask=0007
EnvironmentFile={environment}
ExecStart={python} -m {module}
Restart=always
RestartSec=2
TimeoutStopSec=20
MemoryMax={memory}M
TasksMax=128
NoNewPrivileges=yes
CapabilityBoundingSet=
ProtectSystem=strict
ProtectHome=yes
ProtectProc=invisible
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectControlGroups=yes
PrivateTmp=yes
PrivateDevices=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
RestrictNamespaces=yes
LockPersonality=yes
SystemCallArchitectures=native
{writes}
[Install]
WantedBy={target}
"""
_TARGET: Final = """\
# Written by `campusctl install`.
[Unit]
Description=Campus marketplace
Wants={units}

[Install]
WantedBy=multi-user.target
"""
_JOB: Final = """\
# Written by `campusctl install`.
[Unit]
Description=Campus marketplace: {meaning}
ConditionPathExists={settings}

[Service]
Type=oneshot
ExecStart={command}
MemoryMax=500M
"""
_TIMER: Final = """\
# Written by `campusctl install`.
[Unit]
Description=Campus marketplace: {meaning}

[Timer]
OnCalendar={calendar}
Persistent=yes

[Install]
WantedBy=timers.target
"""
_JOBS: Final[Mapping[str, tuple[str, str, str]]] = {
    "campus-backup": (
        "/usr/local/bin/campusctl backup run --json", "*-*-* 02:10:00", "backup of databases, images and secrets",
    ),
    "campus-backup-secrets": (
        "/usr/local/bin/campusctl backup run --only secrets --json", "*:0/5", "backup of changed secrets",
    ),
    "campus-audit": ("/usr/local/bin/campusctl audit --json", "*-*-* 03:30:00", "audit of all money invariants"),
}  # fmt: skip
_JOURNAL: Final = "[Journal]\nStorage=persistent\nSystemMaxUse=1G\nSystemKeepFree=2G\nMaxRetentionSec=30day\n"
