"""Disks of the servers that are full, or fail."""

import asyncio
import contextlib
import os
import shutil
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import asyncpg

from campus_tools.servers.postgresql import PrivatePostgresql
from campus_tools.servers.rabbitmq import PrivateRabbitmq
from lab.drills.world.shim import ALWAYS, Shim

_POSTGRESQL_BYTES: Final = 768 * 1024**2
_RABBITMQ_BYTES: Final = 512 * 1024**2
# A process may write between the measurement and the remount, which refuses a size below what is used.
_REMOUNTS_MAX: Final = 20
# No segment of the WAL is used again: the next one needs room.
_POSTGRESQL_SETTINGS: Final = {"wal_recycle": "off", "max_wal_size": "128MB", "restart_after_crash": "on"}


@dataclass(frozen=True, slots=True)
class Disk:
    """A tmpfs that holds the data of one server, which preloads a shim."""

    folder: Path
    size: int
    shim: Shim

    @asynccontextmanager
    async def full(self) -> AsyncIterator[None]:
        """Leave no free block, as a ballast file would, which here would cost memory."""
        for _ in range(_REMOUNTS_MAX):
            found = os.statvfs(self.folder)
            used = (found.f_blocks - found.f_bfree) * found.f_frsize
            if (error := _remount(self.folder, used)) is None:
                break
        else:
            raise ChildProcessError(f"{self.folder} was not filled: {error}")
        try:
            yield
        finally:
            _remount(self.folder, self.size)

    @asynccontextmanager
    async def failing(self, *, syncs: int = ALWAYS, writes: int = ALWAYS) -> AsyncIterator[None]:
        """Answer so many calls of fsync and write with EIO."""
        self.shim.set(syncs=syncs, writes=writes)
        try:
            yield
        finally:
            self.shim.set()


@contextmanager
def postgresql_disk(server: PrivatePostgresql) -> Iterator[Disk]:
    """Move the data of a server that was never started to a tmpfs, and preload the shim.

    Raises:
        ChildProcessError: this program may not mount, or there is no C compiler.
    """
    server.settings |= _POSTGRESQL_SETTINGS
    # initdb renames its folder, which may not be a mount.
    server.start()
    server.stop()
    folder = server.directory
    filled = folder.with_name("filled")
    folder.rename(filled)
    folder.mkdir(mode=0o700)
    with _mounted(folder, _POSTGRESQL_BYTES, Shim.build(folder.parent, folder)) as disk:
        shutil.copytree(filled, folder, dirs_exist_ok=True, symlinks=True)
        shutil.rmtree(filled)
        server.give(folder)
        server.environment |= disk.shim.environment
        yield disk


@contextmanager
def rabbitmq_disk(server: PrivateRabbitmq) -> Iterator[Disk]:
    """Let a server that was never started write to a tmpfs, and preload the shim. Raises ChildProcessError."""
    server.data.mkdir(parents=True)
    with _mounted(server.data, _RABBITMQ_BYTES, Shim.build(server.data.parent, server.data)) as disk:
        server.environment |= disk.shim.environment
        yield disk


async def switch_wal(url: str) -> None:
    """Let PostgreSQL need a new segment of its WAL; with a full disk it ends all its processes, and recovers."""
    with contextlib.suppress(asyncpg.PostgresError, asyncpg.InterfaceError, OSError):
        connection = await asyncpg.connect(url, timeout=5)
        try:
            await asyncio.wait_for(connection.execute("SELECT pg_switch_wal()"), 10)
            await asyncio.wait_for(connection.execute("CHECKPOINT"), 10)
        finally:
            connection.terminate()


@contextmanager
def _mounted(folder: Path, size: int, shim: Shim) -> Iterator[Disk]:
    _mount("-t", "tmpfs", "-o", f"size={size},mode=0700", "tmpfs", str(folder))
    try:
        yield Disk(folder, size, shim)
    finally:
        # Lazily: a process that still ends has files open.
        subprocess.run(["umount", "--lazy", str(folder)], check=False)


def _remount(folder: Path, size: int) -> str | None:
    """Return the error, None after a success."""
    try:
        _mount("-o", f"remount,size={size}", str(folder))
    except ChildProcessError as error:
        return str(error)
    return None


def _mount(*arguments: str) -> None:
    mounted = subprocess.run(["mount", *arguments], capture_output=True, text=True, check=False)
    if mounted.returncode:
        raise ChildProcessError(f"mount {' '.join(arguments)} (it needs root): {mounted.stderr.strip()}")
