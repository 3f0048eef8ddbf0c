"""Point-in-time recovery of a private PostgreSQL: WAL archive, base backup, restore to an instant."""

import shutil
import subprocess
import time
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit, urlunsplit

from campus_tools.servers.errors import ServerUnavailable
from campus_tools.servers.postgresql import PrivatePostgresql, find_binaries
from operations.connecting import connected

# Seconds to archive a segment of 16 MB on two shared cores.
_ARCHIVED_SECONDS_MAX = 60.0
_RECOVERED_SECONDS_MAX = 300.0


@dataclass(frozen=True, slots=True)
class PointInTime:
    """WAL archive and base backup of a server. Created before the server's first start."""

    server: PrivatePostgresql
    archive: Path
    backup: Path

    @classmethod
    def of_server(cls, server: PrivatePostgresql) -> Self:
        """Enable archiving from the server's next start on."""
        place = server.directory.parent
        archive = place / "archive"
        archive.mkdir(exist_ok=True)
        server.give(archive)
        # Never overwrite an archived file: it may belong to another timeline.
        copy = f"test ! -f {archive}/%f && cp %p {archive}/%f.part && mv {archive}/%f.part {archive}/%f"
        server.settings |= {"archive_mode": "on", "archive_command": copy, "archive_timeout": "10"}
        return cls(server, archive, place / "backup")

    def back_up(self) -> None:
        """Copy the running server. Raises ServerUnavailable with the output of `pg_basebackup`."""
        self.server.copy_to(self.backup)

    async def archive_all(self) -> None:
        """Wait until all changes up to now are archived. Raises TimeoutError."""
        async with connected(self.server.url) as connection:
            await connection.execute("CREATE TABLE IF NOT EXISTS drill_marks (at timestamptz NOT NULL)")
            await connection.execute("INSERT INTO drill_marks VALUES (clock_timestamp())")
            segment = await connection.fetchval("SELECT pg_walfile_name(pg_switch_wal())")
            deadline = time.monotonic() + _ARCHIVED_SECONDS_MAX
            while not (self.archive / segment).exists():
                if time.monotonic() > deadline:
                    raise TimeoutError(f"{segment} is not in the archive after {_ARCHIVED_SECONDS_MAX:.0f} s")
                await connection.fetchval("SELECT pg_sleep(0.2)")

    def destroy(self) -> None:
        """Kill the server and delete its directory; archive and backup remain."""
        directory = self.server.directory
        self.server.kill()
        shutil.rmtree(directory)

    async def restore(self, until: datetime) -> None:
        """Restore the backup and the archive up to that instant; then the server accepts writes again."""
        directory = self.server.directory
        shutil.copytree(self.backup, directory, dirs_exist_ok=True)
        (directory / "recovery.signal").touch()
        self.server.give(directory)
        directory.chmod(0o700)
        self.server.settings.clear()
        self.server.settings |= {
            "restore_command": f"cp {self.archive}/%f %p",
            "recovery_target_time": until.isoformat(),
            "recovery_target_action": "promote",
        }
        self.server.start()
        await wait_recovered(self.server)
        self.server.settings.clear()

    def dump(self, database: str) -> Path:
        """Run `pg_dump` on one database."""
        path = self.backup.with_name(f"{database}.dump")
        self._run("pg_dump", "-Fc", "-d", self._address(database), "-f", str(path))
        return path

    async def load(self, database: str, dump: Path) -> None:
        """Recreate the database from its dump, with its owner and grants."""
        async with connected(self.server.url) as connection:
            owner = await connection.fetchval(
                "SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = $1", database
            )
            rights = await connection.fetchval("SELECT datacl::text[] FROM pg_database WHERE datname = $1", database)
            await connection.execute(f"DROP DATABASE {database} WITH (FORCE)")
            await connection.execute(f"CREATE DATABASE {database} OWNER {owner} TEMPLATE template0")
            await connection.execute(f"REVOKE ALL ON DATABASE {database} FROM PUBLIC")
            for right in rights or ():
                role = right.partition("=")[0]
                if role:
                    await connection.execute(f"GRANT CONNECT ON DATABASE {database} TO {role}")
        self._run("pg_restore", "-d", self._address(database), str(dump))

    def _run(self, program: str, *arguments: str) -> None:
        binary = find_binaries(lambda _: None) / program
        ended = subprocess.run([str(binary), *arguments], capture_output=True, text=True, check=False)
        if ended.returncode != 0:
            raise ServerUnavailable(f"{program} failed: {ended.stderr}")

    def _address(self, database: str) -> str:
        return urlunsplit(urlsplit(self.server.url)._replace(path=f"/{database}"))


async def wait_recovered(server: PrivatePostgresql) -> None:
    """Wait until a restored server accepts writes. Raises TimeoutError."""
    deadline = time.monotonic() + _RECOVERED_SECONDS_MAX
    async with connected(server.url) as connection:
        while await connection.fetchval("SELECT pg_is_in_recovery()"):
            if time.monotonic() > deadline:
                raise TimeoutError(f"the restored server still recovers after {_RECOVERED_SECONDS_MAX:.0f} s")
            await connection.fetchval("SELECT pg_sleep(0.2)")
