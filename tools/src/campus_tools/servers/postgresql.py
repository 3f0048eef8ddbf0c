"""A private PostgreSQL with its own data directory and port; durable unless its data is temporary."""

import contextlib
import os
import pwd
import re
import secrets
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import psutil

from campus_tools.children import (
    end_recorded_process,
    kill_child,
    open_log,
    record_process,
    spawn,
    stop_child,
    wait_until,
)
from campus_tools.servers.errors import ServerUnavailable
from campus_tools.servers.install import install
from campus_tools.servers.memory import MEMORY
from campus_tools.servers.passwords import server_password
from campus_tools.servers.private import PrivateServer

MINIMUM_VERSION = 15
START_SECONDS_MAX = 300.0
"""Seconds of a start with crash recovery; an ordinary start takes half a second."""

_DATA_ROOTS = (Path("/var/tmp"), MEMORY)
_SETTINGS = """\
# Written at each start.
listen_addresses = '127.0.0.1'
port = {port}
unix_socket_directories = ''
max_connections = 300
shared_buffers = 128MB
fsync = {durable}
synchronous_commit = {durable}
full_page_writes = {durable}
logging_collector = off
log_destination = 'stderr'
log_line_prefix = '%m [%p] %d '
timezone = 'UTC'
"""


class PrivatePostgresql(PrivateServer):
    """PostgreSQL from local binaries; as root, under an unprivileged user."""

    name = "postgresql"

    def __init__(self, state_dir: Path, port: int, *, report: Callable[[str], None], durable: bool = True) -> None:
        super().__init__()
        self._durable = "on" if durable else "off"
        self._home = state_dir / "servers"
        self._home.mkdir(parents=True, exist_ok=True)
        self._port = port
        self._report = report
        self._password = server_password(state_dir, "postgresql")
        self.settings: dict[str, str] = {}
        """Further settings, written at each start: archiving, or where a restore ends."""
        self.environment: dict[str, str] = {}
        """Further variables of the process."""

    @property
    def directory(self) -> Path:
        """Return the data directory, created when missing."""
        return data_directory(self._home, _unprivileged_account())

    @property
    def url(self) -> str:
        return f"postgresql://postgres:{quote(self._password)}@127.0.0.1:{self._port}/postgres"

    def start(self) -> None:
        if self.is_running:
            return
        binaries = find_binaries(self._report)
        account = _unprivileged_account()
        directory = data_directory(self._home, account)
        end_recorded_process(self._home / "postgresql.pid", first=signal.SIGINT)
        if not (directory / "PG_VERSION").exists():
            self._initialise(binaries, directory, account)
        more = "".join(f"{name} = '{setting}'\n" for name, setting in self.settings.items())
        text = _SETTINGS.format(port=self._port, durable=self._durable) + more
        written = directory / "postgresql.auto.conf"
        # Written only when it changed: a start on a full disk would leave an empty file.
        if not written.exists() or written.read_text() != text:
            written.write_text(text)
            _give_to(written, account)
        self._clear_unclean_end(directory)
        log = self._home / "postgresql.log"
        with open_log(log) as output:
            # SIGQUIT ends PostgreSQL at once; it recovers at the next start.
            self._child = spawn(
                [str(binaries / "postgres"), "-D", str(directory)],
                environment=_quiet_environment(directory) | self.environment,
                output=output,
                death_signal="QUIT",
                user=account,
                directory=directory,
            )
        record_process(self._home / "postgresql.pid", self._child.pid)
        ready = [str(binaries / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self._port)]
        if not wait_until(
            lambda: subprocess.run(ready, check=False).returncode == 0, within=START_SECONDS_MAX, child=self._child
        ):
            self.stop()
            raise ServerUnavailable(f"PostgreSQL did not start on port {self._port}:\n{_tail(log)}")

    def kill(self) -> None:
        if (child := self._released()) is not None:
            # Each backend has its own session, so a signal to the group does not reach it.
            backends = psutil.Process(child.pid).children(recursive=True) if child.poll() is None else []
            kill_child(child)
            for backend in backends:
                with contextlib.suppress(psutil.NoSuchProcess):
                    backend.kill()
            psutil.wait_procs(backends, timeout=5)

    def stop(self) -> None:
        if (child := self._released()) is not None:
            # SIGINT is PostgreSQL's fast shutdown: connections are cut, everything committed is on disk.
            stop_child(child, first=signal.SIGINT)
        (self._home / "postgresql.pid").unlink(missing_ok=True)

    def copy_to(self, directory: Path) -> None:
        """Copy the running server's data with `pg_basebackup`: a backup, or the start of a replica.

        Raises:
            ServerUnavailable: the copy failed; the message is its output.
        """
        binary = find_binaries(self._report) / "pg_basebackup"
        command = [str(binary), "-d", self.url, "-D", str(directory), "-c", "fast", "-X", "stream"]
        made = subprocess.run(command, capture_output=True, text=True, check=False)
        if made.returncode != 0:
            raise ServerUnavailable(f"pg_basebackup failed: {made.stderr}")

    def use_data_in(self, folder: Path) -> None:
        """Use the data directory `folder/postgresql` from the next start on, as a restore wrote it."""
        if _unprivileged_account() is None:
            inside = self._home / "postgresql"
            inside.rmdir()
            inside.symlink_to(folder / "postgresql")
        else:
            (self._home / "postgresql.directory").write_text(f"{folder}\n")

    def give(self, path: Path) -> None:
        """Give the server access to files that were put there from outside."""
        account = _unprivileged_account()
        for found in (path, *path.rglob("*")):
            _give_to(found, account)

    def _initialise(self, binaries: Path, directory: Path, account: tuple[int, int] | None) -> None:
        """Run initdb in a draft folder and rename it: an interrupted initdb leaves an incomplete cluster."""
        draft = directory.with_name("postgresql.new")
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(mode=0o700)
        _give_to(draft, account)
        with tempfile.NamedTemporaryFile("w", dir=directory.parent, prefix="campus-password-") as password:
            password.write(self._password)
            password.flush()
            _give_to(Path(password.name), account)
            drop = (
                ["setpriv", "--reuid", str(account[0]), "--regid", str(account[1]), "--clear-groups", "--"]
                if account
                else []
            )
            made = subprocess.run(
                [
                    *drop,
                    str(binaries / "initdb"),
                    "--no-locale",
                    "--encoding=UTF8",
                    "--username=postgres",
                    "--auth=scram-sha-256",
                    f"--pwfile={password.name}",
                    f"--pgdata={draft}",
                ],
                env=_quiet_environment(draft),
                cwd=draft,
                capture_output=True,
                text=True,
                check=False,
            )
        if made.returncode != 0:
            raise ServerUnavailable(f"initdb failed in {draft}:\n{made.stdout}{made.stderr}")
        draft.replace(directory)

    def _clear_unclean_end(self, directory: Path) -> None:
        """End the backends of a killed postmaster, which still hold the shared memory.

        PostgreSQL does not start while they live. They are found by their working directory, the data directory.
        """
        pid_file = directory / "postmaster.pid"
        if not pid_file.exists():
            return
        for process in psutil.process_iter(["name", "cwd"]):
            if process.info["cwd"] == str(directory) and str(process.info["name"]).startswith("postgres"):
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.kill()
                    process.wait(5)
        pid_file.unlink(missing_ok=True)


def find_binaries(report: Callable[[str], None]) -> Path:
    """Return the binaries of the newest PostgreSQL from `MINIMUM_VERSION` on; install it when missing."""
    found = _newest_binaries()
    if found is None:
        install(["postgresql"], why=f"PostgreSQL {MINIMUM_VERSION} or newer is not installed", report=report)
        found = _newest_binaries()
    if found is None:
        raise ServerUnavailable(
            f"This system's package manager offers no PostgreSQL {MINIMUM_VERSION} or newer: set DATABASE_URL."
        )
    return found


def _newest_binaries() -> Path | None:
    candidates = list(Path("/usr/lib/postgresql").glob("*/bin"))
    on_path = shutil.which("initdb")
    if on_path is not None:
        candidates.append(Path(on_path).resolve().parent)
    versions = {path: _version(path / "postgres") for path in candidates}
    fitting = [path for path, version in versions.items() if version >= MINIMUM_VERSION]
    return max(fitting, key=versions.__getitem__, default=None)


def _version(binary: Path) -> int:
    if not binary.exists():
        return 0
    output = subprocess.run([str(binary), "--version"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"\) (\d+)", output)
    return int(found[1]) if found else 0


def _unprivileged_account() -> tuple[int, int] | None:
    """Return the user for PostgreSQL, which does not run as root: `postgres` or `nobody`."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            entry = pwd.getpwnam(name)
            return entry.pw_uid, entry.pw_gid
    raise ServerUnavailable("Started as root, but there is neither a user postgres nor nobody to run PostgreSQL as.")


def data_directory(home: Path, account: tuple[int, int] | None) -> Path:
    """Return the data directory: below the state directory, or, as root, where the unprivileged user has access.

    A directory outside is recorded in `home/postgresql.directory` and holds a note with its owner, so that directories
    of deleted state directories can be removed.
    """
    if account is None:
        inside = home / "postgresql"
        inside.mkdir(mode=0o700, exist_ok=True)
        return inside
    remembered = home / "postgresql.directory"
    sweep_orphaned_directories()
    if remembered.exists():
        place = Path(remembered.read_text().strip())
    else:
        kept, temporary = _DATA_ROOTS
        root = temporary if home.is_relative_to(temporary) else kept
        place = root / f"campus-{secrets.token_hex(6)}"
        remembered.write_text(f"{place}\n")
    place.mkdir(mode=0o711, exist_ok=True)
    (place / "belongs-to").write_text(f"{remembered.resolve()}\n")
    inside = place / "postgresql"
    inside.mkdir(mode=0o700, exist_ok=True)
    _give_to(inside, account)
    return inside


def remove_data_directory(state_dir: Path) -> None:
    """Delete the data of a stopped server that lies outside its state directory."""
    remembered = state_dir / "servers" / "postgresql.directory"
    if remembered.exists():
        shutil.rmtree(remembered.read_text().strip(), ignore_errors=True)


def sweep_orphaned_directories() -> None:
    """Remove data directories that their state directory no longer names and whose server is dead."""
    for place in (found for root in _DATA_ROOTS for found in root.glob("campus-*")):
        with contextlib.suppress(OSError):
            note = place / "belongs-to"
            if not note.exists() or place.stat().st_uid != os.geteuid():
                continue
            remembered = Path(note.read_text().strip())
            if remembered.exists() and remembered.read_text().strip() == str(place):
                continue
            postmaster = place / "postgresql" / "postmaster.pid"
            alive = postmaster.exists() and Path(f"/proc/{postmaster.read_text().split()[0]}").exists()
            if not alive:
                shutil.rmtree(place, ignore_errors=True)


def _give_to(path: Path, account: tuple[int, int] | None) -> None:
    if account is not None:
        os.chown(path, *account)


def _quiet_environment(directory: Path) -> dict[str, str]:
    # The caller's PG* variables must not affect the private server.
    return {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(directory), "LC_ALL": "C", "TZ": "UTC"}


def _tail(log: Path, lines: int = 15) -> str:
    return "\n".join(log.read_text(errors="replace").splitlines()[-lines:])
