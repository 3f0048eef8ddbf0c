"""The files that an installation writes: units, environments, and the configuration of the servers."""

import os
import re
import secrets as random
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from operations.backup.settings import BACKUP_SETTINGS
from operations.campusctl.own_commands import RunningServers
from operations.database_settings import configuration_file
from operations.environment import Environments
from operations.installation.files import PlannedFile, environment_file
from operations.installation.settings import PORT_BASE, SETTINGS_FILE, STATE_DIR, InstallationSettings
from operations.installation.units import (
    ENVIRONMENTS,
    INSTALLED,
    RELEASE,
    MemoryLimits,
    ServerUnits,
    unit_files,
    unit_name,
)
from operations.processes import CONSOLE_PORT
from operations.provision import audit_database_url, subscriber_broker_url
from operations.secrets import load_secrets, write_secrets
from operations.services import SERVICES

ADMINISTRATOR: Final = "postgres"
"""The superuser of PostgreSQL. It has a password for TCP; by the socket its system user needs none, as pgBackRest."""
BROKER_ADMINISTRATOR: Final = "campus"
REDIS_URL: Final = "redis://127.0.0.1:6379/0"
PACKAGES: Final = ("postgresql", "rabbitmq-server", "redis-server", "caddy", "pgbackrest")


@dataclass(frozen=True, slots=True)
class PostgresqlCluster:
    """Debian's cluster `main` of the newest installed version."""

    version: int

    @property
    def unit(self) -> str:
        return f"postgresql@{self.version}-main.service"

    @property
    def configuration(self) -> Path:
        return Path(f"/etc/postgresql/{self.version}/main")

    @property
    def data(self) -> Path:
        """The folder that Debian's `postgresql.conf` names; a restore names its own."""
        text = (self.configuration / "postgresql.conf").read_text()
        named = re.search(r"^data_directory\s*=\s*'([^']+)'", text, re.MULTILINE)
        return Path(named[1] if named else f"/var/lib/postgresql/{self.version}/main")

    @property
    def programs(self) -> Path:
        return Path(f"/usr/lib/postgresql/{self.version}/bin")

    @classmethod
    def found(cls) -> "PostgresqlCluster | None":
        """Return the newest cluster, or None before PostgreSQL is installed."""
        versions = [int(path.parent.name) for path in Path("/etc/postgresql").glob("[0-9]*/main")]
        return cls(max(versions)) if versions else None


def secrets_of(settings: InstallationSettings) -> dict[str, str]:
    """Load the secrets of the machine, and create missing ones and the accounts of the servers."""
    known = load_secrets(STATE_DIR, settings.values, plays_providers=not settings.is_production)
    values = _with_servers(known)
    if values != known:
        write_secrets(STATE_DIR / "secrets.env", values)
    return values


def preview_secrets(settings: InstallationSettings) -> dict[str, str]:
    """Return the secrets as `secrets_of` would, without writing: new ones differ at each call."""
    with tempfile.TemporaryDirectory(prefix="campus-preview-") as folder:
        stored = STATE_DIR / "secrets.env"
        if stored.exists():
            shutil.copy2(stored, folder)
        return _with_servers(load_secrets(Path(folder), settings.values, plays_providers=not settings.is_production))


def _with_servers(known: Mapping[str, str]) -> dict[str, str]:
    passwords = {name: known.get(name) or random.token_hex(24) for name in ("POSTGRES_PASSWORD", "RABBITMQ_PASSWORD")}
    database, broker = passwords["POSTGRES_PASSWORD"], passwords["RABBITMQ_PASSWORD"]
    administrator = f"postgresql://{ADMINISTRATOR}:{database}@127.0.0.1:5432/postgres"
    broker_url = f"amqp://{BROKER_ADMINISTRATOR}:{broker}@127.0.0.1:5672/"
    return {
        **known,
        **passwords,
        "DATABASE_URL": administrator,
        "AUDIT_DATABASE_URL": audit_database_url(administrator, known),
        "BROKER_URL": broker_url,
        "BROKER_MANAGEMENT_URL": f"http://{BROKER_ADMINISTRATOR}:{broker}@127.0.0.1:15672",
        "SUBSCRIBER_BROKER_URL": subscriber_broker_url(broker_url, known),
    }


def environments_of(settings: InstallationSettings, secrets: Mapping[str, str]) -> Environments:
    servers = RunningServers(secrets["DATABASE_URL"], secrets["BROKER_URL"], REDIS_URL)
    return Environments(settings.values, port_base=PORT_BASE, state_dir=STATE_DIR, servers=servers, secrets=secrets)


def planned_files(
    settings: InstallationSettings, secrets: Mapping[str, str], cluster: PostgresqlCluster
) -> list[PlannedFile]:
    """Return every file of the installation."""
    servers, limits = ServerUnits(cluster.unit), MemoryLimits.of_machine(settings.memory_bytes)
    environments, services = environments_of(settings, secrets), {service.name: service for service in SERVICES}
    files = unit_files(servers, limits)
    for plan in INSTALLED.processes:
        variables = environments.for_process(plan, services.get(plan.service))
        path, name = ENVIRONMENTS / f"{plan.name}.env", unit_name(plan)
        files.append(PlannedFile(path, environment_file(variables), 0o600, (name,), is_secret=True))
    broker = Path("/etc/rabbitmq")
    files += [
        PlannedFile(
            cluster.configuration / "conf.d" / "campus.conf",
            configuration_file(settings.memory_bytes, archives=settings.has_backup),
            restarts=(servers.postgresql,),
        ),
        PlannedFile(broker / "conf.d" / "campus.conf", _broker(limits), restarts=(servers.rabbitmq,)),
        PlannedFile(broker / "enabled_plugins", _PLUGINS, restarts=(servers.rabbitmq,)),
        PlannedFile(broker / "rabbitmq-env.conf", _BROKER_ENVIRONMENT, restarts=(servers.rabbitmq,)),
        PlannedFile(Path("/etc/caddy/Caddyfile"), _edge(settings), restarts=(servers.edge,)),
        PlannedFile(STATE_DIR / "backup.env", _backup(settings), 0o600, is_secret=True),
        PlannedFile(Path("/usr/local/bin/campusctl"), _CAMPUSCTL, 0o755),
    ]
    return files


def release_folder() -> Path:
    """Return the checkout that contains this program."""
    return Path(__file__).resolve().parents[4]


def _edge(settings: InstallationSettings) -> str:
    api, console = settings.hosts
    certificate, key = (settings.values.get(name) for name in ("TLS_CERTIFICATE_FILE", "TLS_KEY_FILE"))
    tls = f"\ttls {certificate} {key}\n" if certificate else ""
    email = f"{{\n\temail {settings.values['ACME_EMAIL']}\n}}\n\n" if not certificate else ""
    sites = "\n".join(
        f"{host} {{\n{tls}\treverse_proxy 127.0.0.1:{port}\n}}\n"
        for host, port in ((api, PORT_BASE), (console, PORT_BASE + CONSOLE_PORT))
    )
    return f"# Written by `campusctl install`.\n{email}{sites}"


def _backup(settings: InstallationSettings) -> str:
    values = {
        "BACKUP_CERTIFICATE_HOSTS": ",".join(settings.hosts),
        # A lost machine is installed again with its own settings.
        "BACKUP_SECRET_FILES": f"{STATE_DIR / 'secrets.env'},{SETTINGS_FILE}",
        **settings.values,
    }
    lines = [f"{name}={text}\n" for name, text in sorted(values.items()) if name in BACKUP_SETTINGS]
    return "# Written by `campusctl install`.\n" + "".join(lines)


def _broker(limits: MemoryLimits) -> str:
    return f"""\
# Written by `campusctl install`.
listeners.tcp.1 = 127.0.0.1:5672
management.tcp.ip = 127.0.0.1
management.tcp.port = 15672
prometheus.tcp.ip = 127.0.0.1
prometheus.tcp.port = 15692
# Below the limit of the unit: publishers wait before the broker is ended.
vm_memory_high_watermark.absolute = {limits.rabbitmq * 6 // 10}MiB
disk_free_limit.absolute = 1GiB
"""


_PLUGINS: Final = "[rabbitmq_management,rabbitmq_prometheus].\n"
# The node's name is a part of its data's path: it must not follow the name of the machine.
_BROKER_ENVIRONMENT: Final = """\
# Written by `campusctl install`.
NODENAME=rabbit@localhost
NODE_IP_ADDRESS=127.0.0.1
SERVER_ADDITIONAL_ERL_ARGS="-kernel inet_dist_use_interface {127,0,0,1}"
"""
_CAMPUSCTL: Final = f"""\
#!/bin/sh
# Written by `campusctl install`.
export CAMPUS_SETTINGS={SETTINGS_FILE} STATE_DIR={STATE_DIR} PORT_BASE={PORT_BASE}
exec {RELEASE}/.venv/bin/campusctl "$@"
"""


def memory_of_machine() -> int:
    """Return the bytes of memory."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
