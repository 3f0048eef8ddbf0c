"""The directory in which a running system keeps what outlives a step: it belongs to one system at a time, and files in it are whole."""

import fcntl
import json
import os
from pathlib import Path
from typing import IO

from campus_tools.children import end_recorded_process
from campus_tools.launcher.failures import StartFailed

PRIVATE_FOLDERS = ("logs", "processes", "sandbox", "servers")
"""Logs, what the sandbox received, and the servers' data are for the owner alone; the directory itself may be anywhere."""


class StateDirectory:
    """Taken with a lock that ends with the process that holds it, however it ends."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path).resolve()
        self._lock_file: IO[str] | None = None

    def acquire(self) -> None:
        """From now on no other system starts here.

        Raises:
            StartFailed: another one runs here; the message names its process.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        self._lock_file = (self.path / "lock").open("a+")
        try:
            fcntl.flock(self._lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._lock_file.seek(0)
            holder = self._lock_file.read().strip()
            self._lock_file.close()
            raise StartFailed(
                f"{self.path} is used by a running system (process {holder}). Stop that one, or set STATE_DIR and "
                "PORT_BASE to start a second."
            ) from None
        self._lock_file.truncate(0)
        self._lock_file.write(str(os.getpid()))
        self._lock_file.flush()
        for name in PRIVATE_FOLDERS:
            folder = self.path / name
            folder.mkdir(exist_ok=True)
            # Also those that an earlier version made.
            folder.chmod(0o700)

    def release(self) -> None:
        """Another system may start here. May be called again."""
        if self._lock_file is not None:
            self._lock_file.close()

    def end_leftovers(self, folder: str) -> list[str]:
        """End what an earlier run has left running, by the process ids it wrote into `folder`; answers their names."""
        records = sorted((self.path / folder).glob("*.pid"))
        return [record.stem for record in records if end_recorded_process(record)]

    def write(self, name: str, content: object) -> None:
        """A JSON file. Whoever reads it sees all of it, or what it was before."""
        path = self.path / name
        draft = path.with_suffix(".json.new")
        draft.write_text(json.dumps(content, indent=2) + "\n")
        draft.replace(path)
