"""Install or repair the system on this machine: every step first compares, so that a repetition changes nothing."""

import asyncio
import grp
import json
import os
import subprocess
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final

import asyncpg

from common.messaging.declaring import DeclarationFailed, declare_broker
from operations.backup.backing_up import initialise
from operations.backup.cluster import read_archiving
from operations.backup.errors import ArchivesAfterRestart, BackupFailed
from operations.backup.settings import read_backup_settings
from operations.installation.errors import InstallationFailed
from operations.installation.files import PlannedFile, changed
from operations.installation.host import Host, check_readable, wait_ready
from operations.installation.plan import (
    ADMINISTRATOR,
    BROKER_ADMINISTRATOR,
    PACKAGES,
    PostgresqlCluster,
    environments_of,
    planned_files,
    release_folder,
    secrets_of,
)
from operations.installation.settings import PORT_BASE, STATE_DIR, InstallationSettings
from operations.installation.units import GROUP, INSTALLED, RELEASE, TARGET, TIMERS, ServerUnits, unit_name
from operations.provision import ProvisioningFailed, provision_broker, provision_databases
from operations.services import SERVICES

_PROCESSES: Final = {unit_name(plan): plan for plan in INSTALLED.processes}


def install(settings: InstallationSettings, host: Host) -> None:
    """Bring the machine to the state that the settings describe. Raises InstallationFailed; a repetition continues."""
    require_root()
    release = release_folder()
    check_readable(release)
    if missing := host.missing_packages(PACKAGES):
        host.install_packages(missing)
    cluster = found_cluster()
    STATE_DIR.mkdir(mode=0o711, parents=True, exist_ok=True)
    secrets = secrets_of(settings)
    late = write_files(planned_files(settings, secrets, cluster), host)
    _prepare_folders(host)
    is_new_release = link_release(release, host)
    servers = ServerUnits(cluster.unit)
    _start_servers(cluster, servers, late, host)
    provision(settings, secrets, host)
    migrate(settings, secrets, release)
    if settings.has_backup:
        _set_up_backup(cluster, host)
    host.enable(TARGET, *_PROCESSES, *TIMERS)
    for timer in TIMERS:
        host.ensure_running(timer, restart=False)
    restart_processes(host, set(_PROCESSES) if is_new_release else late)
    host.ensure_running(servers.edge, restart=servers.edge in late)


def require_root() -> None:
    if os.geteuid() != 0:
        raise InstallationFailed("The installation writes below /etc.", "Repeat it as root (sudo)")


def found_cluster() -> PostgresqlCluster:
    cluster = PostgresqlCluster.found()
    if cluster is None:
        advice = "Create it: pg_createcluster VERSION main -- --data-checksums"
        raise InstallationFailed("There is no cluster of PostgreSQL below /etc/postgresql.", advice)
    return cluster


def write_files(files: list[PlannedFile], host: Host) -> set[str]:
    """Write the files that differ, and return the units that must be restarted to read them."""
    late: set[str] = set()
    for file in changed(files):
        file.write()
        late.update(file.restarts)
        host.change(f"written: {file.path}")
    if late:
        host.run("systemd-sysusers")
        host.run("systemctl", "daemon-reload")
    if "systemd-journald.service" in late:
        host.restart("systemd-journald.service")
    return late


def _prepare_folders(host: Host) -> None:
    media = STATE_DIR / "media"
    group = grp.getgrnam(GROUP).gr_gid
    if not media.exists():
        media.mkdir()
        host.change(f"created: {media}")
    # Images of one service are deleted by the other one's retention: both write as the group.
    os.chown(media, 0, group)
    media.chmod(0o2770)


def link_release(release: Path, host: Host) -> bool:
    """Let the link name the release, and return whether it named another one."""
    if RELEASE.is_symlink() and RELEASE.resolve() == release:
        return False
    RELEASE.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    draft = RELEASE.with_name("current.new")
    draft.unlink(missing_ok=True)
    draft.symlink_to(release)
    draft.replace(RELEASE)
    host.change(f"release: {release}")
    return True


def _start_servers(cluster: PostgresqlCluster, servers: ServerUnits, late: Collection[str], host: Host) -> None:
    if not _has_checksums(cluster, host):
        host.run("systemctl", "stop", cluster.unit)
        host.run("runuser", "-u", "postgres", "--", str(cluster.programs / "pg_checksums"), "--enable",
                 "-D", str(cluster.data))  # fmt: skip
        host.change("PostgreSQL: data checksums enabled")
    for unit in servers.names[:3]:
        host.ensure_running(unit, restart=unit in late)
    host.enable(*servers.names)


def _has_checksums(cluster: PostgresqlCluster, host: Host) -> bool:
    shown = host.run(str(cluster.programs / "pg_controldata"), "-D", str(cluster.data))
    line = next(line for line in shown.splitlines() if line.startswith("Data page checksum version"))
    return line.rpartition(":")[2].strip() != "0"


def provision(settings: InstallationSettings, secrets: Mapping[str, str], host: Host) -> None:
    """Create the servers' accounts, the databases and the queues."""
    _administrate_database(secrets, host)
    _administrate_broker(secrets, host)
    try:
        asyncio.run(provision_databases(secrets["DATABASE_URL"], secrets))
        asyncio.run(provision_broker(secrets["BROKER_MANAGEMENT_URL"], secrets["BROKER_URL"], secrets))
        asyncio.run(declare_broker(secrets["BROKER_URL"], settings.values))
    except (ProvisioningFailed, DeclarationFailed) as error:
        raise InstallationFailed(str(error), "Correct it, and repeat the installation") from error


def _administrate_database(secrets: Mapping[str, str], host: Host) -> None:
    statements = f"""\
ALTER ROLE {ADMINISTRATOR} PASSWORD '{secrets["POSTGRES_PASSWORD"]}';
CREATE EXTENSION IF NOT EXISTS pg_stat_statements;
"""
    host.run("runuser", "-u", "postgres", "--", "psql", "-q", "-v", "ON_ERROR_STOP=1", stdin=statements)


def _administrate_broker(secrets: Mapping[str, str], host: Host) -> None:
    users = {row["user"] for row in json.loads(host.run("rabbitmqctl", "--quiet", "--formatter", "json", "list_users"))}
    if BROKER_ADMINISTRATOR not in users:
        host.run("rabbitmqctl", "--quiet", "add_user", BROKER_ADMINISTRATOR, stdin=secrets["RABBITMQ_PASSWORD"] + "\n")
        host.run("rabbitmqctl", "--quiet", "set_user_tags", BROKER_ADMINISTRATOR, "administrator")
        host.run("rabbitmqctl", "--quiet", "set_permissions", BROKER_ADMINISTRATOR, ".*", ".*", ".*")
        host.change("RabbitMQ: administrator created")
    if "guest" in users:
        host.run("rabbitmqctl", "--quiet", "delete_user", "guest")
        host.change("RabbitMQ: guest removed")


def migrate(settings: InstallationSettings, secrets: Mapping[str, str], release: Path) -> None:
    """Run the migrations of a release; the version before still serves. Raises InstallationFailed."""
    environments = environments_of(settings, secrets)
    for service in SERVICES:
        ended = subprocess.run(
            [str(release / ".venv/bin/python"), "-m", service.import_name, "migrate"],
            env=environments.for_migration(service),
            capture_output=True,
            text=True,
            check=False,
        )
        if ended.returncode != 0:
            words = (ended.stderr or ended.stdout).strip()[-2000:]
            raise InstallationFailed(f"The migration of {service.name} failed: {words}")


def _set_up_backup(cluster: PostgresqlCluster, host: Host) -> None:
    try:
        settings = read_backup_settings(STATE_DIR / "backup.env", STATE_DIR)
        if not settings.configuration.exists():
            try:
                asyncio.run(initialise(settings))
            except ArchivesAfterRestart:
                # A restored server does not archive.
                host.restart(cluster.unit)
                asyncio.run(initialise(settings))
            host.change("backup: repository created, PostgreSQL archives")
        elif asyncio.run(read_archiving(settings.database_url)).is_failing:
            raise InstallationFailed("PostgreSQL cannot archive.", "docs/runbooks/archiving-failed.md")
    except BackupFailed as error:
        raise InstallationFailed(error.detail, error.advice) from error
    except (OSError, asyncpg.PostgresError) as error:
        raise InstallationFailed(f"The backup was not set up: {type(error).__name__}.", "docs/backup.md") from error


def restart_processes(host: Host, late: Collection[str]) -> None:
    """Start the processes, and restart those in `late` one by one, each after the one before is ready."""
    for unit, plan in sorted(_PROCESSES.items(), key=lambda item: -item[1].stop_turn):
        if unit in late or not host.is_active(unit):
            host.restart(unit)
            wait_ready(unit, PORT_BASE + plan.health_offset)


def roll_processes(settings: InstallationSettings, host: Host, *, every: bool) -> None:
    """Give the processes the current secrets: those whose environment changed, or every one, one by one."""
    require_root()
    files = planned_files(settings, secrets_of(settings), found_cluster())
    late = write_files([file for file in files if file.is_secret], host)
    restart_processes(host, set(_PROCESSES) if every else late)
