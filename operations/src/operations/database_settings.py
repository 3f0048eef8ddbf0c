"""The settings of PostgreSQL: `campusctl install`, the manifests of its clusters and the container of Docker Compose
have them, `campusctl doctor` compares them.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from common.database.connecting import SERVER_SETTINGS

_MIB: Final = 1024**2
SHARED_BUFFERS_MIB_MIN: Final = 128
SHARED_BUFFERS_MIB_MAX: Final = 8192


@dataclass(frozen=True, slots=True)
class DatabaseSetting:
    """One setting with its reason. `by_memory`: the share of the machine's memory, in MiB, instead of a value."""

    name: str
    value: str
    reason: str
    by_memory: float = 0.0
    is_required: bool = True
    """Whether doctor reports another value as a fault; otherwise the operator may have reasons."""
    is_of_clusters: bool = False
    """Whether the clusters on Kubernetes have it, too; CloudNativePG sets the others."""

    def of_machine(self, memory_bytes: int) -> str:
        """Return the value for a machine of this memory, in PostgreSQL's notation."""
        if not self.by_memory:
            return self.value
        mebibytes = int(memory_bytes * self.by_memory / _MIB)
        return f"{min(max(mebibytes, SHARED_BUFFERS_MIB_MIN), SHARED_BUFFERS_MIB_MAX)}MB"


DATABASE_SETTINGS: Final = (
    DatabaseSetting("listen_addresses", "127.0.0.1", "only programs of this machine connect", is_required=False),
    DatabaseSetting("max_connections", "200", "seven processes with pools of at most ten connections each, migrations "
                    "and operators", is_required=False, is_of_clusters=True),
    DatabaseSetting("shared_buffers", "", "an eighth of the memory: the other servers and the services share it", 1 / 8,
                    is_required=False),
    DatabaseSetting("effective_cache_size", "", "what the operating system is likely to cache", 3 / 8,
                    is_required=False),
    DatabaseSetting("work_mem", "8MB", "sorts of lists and of the audit", is_required=False),
    DatabaseSetting("maintenance_work_mem", "64MB", "vacuum and new indexes beside the services", is_required=False),
    DatabaseSetting("fsync", "on", "a commit survives the loss of power"),
    DatabaseSetting("full_page_writes", "on", "a page that was written in part is repaired"),
    DatabaseSetting("synchronous_commit", "on", "units of work that may be lost choose it themselves"),
    DatabaseSetting("idle_in_transaction_session_timeout", "60s", "an idle transaction holds locks and stops vacuum",
                    is_of_clusters=True),
    DatabaseSetting("lock_timeout", "0", "processes set their own limit", is_required=False),
    DatabaseSetting("tcp_keepalives_idle", SERVER_SETTINGS["tcp_keepalives_idle"], "seconds until the server checks a "
                    "silent client", is_required=False),
    DatabaseSetting("tcp_keepalives_interval", SERVER_SETTINGS["tcp_keepalives_interval"], "seconds between two checks",
                    is_required=False),
    DatabaseSetting("tcp_keepalives_count", SERVER_SETTINGS["tcp_keepalives_count"], "checks without a response that "
                    "end the session", is_required=False),
    DatabaseSetting("log_min_duration_statement", "1s", "slow statements are logged with their duration",
                    is_of_clusters=True),
    DatabaseSetting("log_lock_waits", "on", "waits for a lock above a second are logged", is_of_clusters=True),
    DatabaseSetting("log_autovacuum_min_duration", "60s", "a vacuum that cannot keep up is logged",
                    is_required=False, is_of_clusters=True),
    DatabaseSetting("log_line_prefix", "%m [%p] %a %u@%d ", "the process and its login in each line",
                    is_required=False),
    DatabaseSetting("track_io_timing", "on", "time of reads in pg_stat_statements",
                    is_required=False, is_of_clusters=True),
    DatabaseSetting("shared_preload_libraries", "pg_stat_statements", "counts and times of each statement"),
    DatabaseSetting("timezone", "UTC", "times in logs as in the services", is_required=False),
)  # fmt: skip
"""Settings of the server; data checksums are a property of its files."""

_OF_CONTAINER: Final = (
    DatabaseSetting("listen_addresses", "*", "the network of the containers has only programs of this system"),
)
# The memory of a small machine: the container has no limit.
_CONTAINER_BYTES: Final = 2 * 1024 * _MIB

STATEMENT_TIMEOUT: Final = "60s"
"""The limit of a statement of the services' logins. Migrations, the audit and operators have none."""


def cluster_parameters() -> dict[str, str]:
    """Return the parameters of a cluster on Kubernetes: those of the table, and those that the poolers drop from the
    startup parameters of a process.
    """
    table = {setting.name: setting.value for setting in DATABASE_SETTINGS if setting.is_of_clusters}
    return dict(sorted((table | SERVER_SETTINGS).items()))


def container_file() -> str:
    """Return the content of the configuration file of the container of Docker Compose."""
    own = {setting.name: setting for setting in _OF_CONTAINER}
    settings = [own.get(setting.name, setting) for setting in DATABASE_SETTINGS]
    heading = "# Written by `make documents` from operations/src/operations/database_settings.py."
    return "\n".join([heading, *_lines(settings, _CONTAINER_BYTES)]) + "\n"


def _lines(settings: Iterable[DatabaseSetting], memory_bytes: int) -> Iterator[str]:
    for setting in settings:
        yield f"# {setting.reason}"
        yield f"{setting.name} = '{setting.of_machine(memory_bytes)}'"


def configuration_file(memory_bytes: int, *, archives: bool) -> str:
    """Return the content of PostgreSQL's configuration file. `archives`: WAL is kept for `campusctl backup`."""
    lines = [
        "# Written by `campusctl install`; own settings go into another file of this folder.",
        *_lines(DATABASE_SETTINGS, memory_bytes),
    ]
    if archives:
        lines += ["# `campusctl backup init` sets the command", "archive_mode = 'on'"]
    return "\n".join(lines) + "\n"
