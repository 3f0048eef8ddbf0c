"""A private PostgreSQL that pgBackRest backs up, and its start on a restored folder."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Final

from campus_tools.servers.errors import ServerUnavailable
from campus_tools.servers.install import install
from campus_tools.servers.point_in_time import wait_recovered
from campus_tools.servers.postgresql import PrivatePostgresql
from operations.backup.settings import BackupSettings

_RECOVERY: Final = re.compile(r"^(restore_command|hot_standby|recovery_target\w*) = '(.*)'$", re.MULTILINE)


def find_pgbackrest(report: Callable[[str], None]) -> None:
    """Install pgBackRest when it is missing. Raises ServerUnavailable."""
    if shutil.which("pgbackrest") is None:
        install(["pgbackrest"], why="pgBackRest is not installed", report=report)
    if shutil.which("pgbackrest") is None:
        raise ServerUnavailable("This system's package manager offers no pgBackRest.")


def open_socket(server: PrivatePostgresql, folder: Path) -> None:
    """Let the server listen on a Unix socket in a folder, from its next start on."""
    sockets = folder / "sockets"
    sockets.mkdir(exist_ok=True)
    server.give(sockets)
    server.settings["unix_socket_directories"] = str(sockets)


def archive_to(server: PrivatePostgresql, settings: BackupSettings) -> None:
    """Let the server archive from its next start on; its start replaces what ALTER SYSTEM wrote."""
    server.settings |= {
        "archive_mode": "on",
        "archive_command": settings.archive_command,
        "archive_timeout": str(settings.archive_seconds),
    }


async def start_restored(server: PrivatePostgresql, into: Path) -> None:
    """Start the server on the folder of `campusctl restore`, and wait until it accepts writes. Raises TimeoutError."""
    written = (into / "postgresql" / "postgresql.auto.conf").read_text()
    before = dict(server.settings)
    server.settings |= {name: text.replace("''", "'") for name, text in _RECOVERY.findall(written)}
    server.settings["archive_mode"] = "off"
    server.use_data_in(into)
    server.start()
    await wait_recovered(server)
    server.settings = before
