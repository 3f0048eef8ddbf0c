"""The state directory of a running system: one system at a time, and files are written atomically."""

import fcntl
import json
import os
from pathlib import Path
from typing import IO

from campus_tools.children import end_recorded_process
from campus_tools.launcher.failures import StartFailed

PRIVATE_FOLDERS = ("logs", "processes", "sandbox", "servers")
"""Private folders: logs, messages of the sandbox, and the servers' data."""


class StateDirectory:
    """Acquired with a lock that ends with its process."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path).resolve()
        self._lock_file: IO[str] | None = None

    def acquire(self) -> None:
        """Lock the directory against other systems.

        Raises:
            StartFailed: another system runs here; the message names its process.
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
                f"{self.path} is used by a running system (process {holder}). Stop it, or set STATE_DIR and "
                "PORT_BASE to start a second."
            ) from None
        self._lock_file.truncate(0)
        self._lock_file.write(str(os.getpid()))
        self._lock_file.flush()
        for name in PRIVATE_FOLDERS:
            folder = self.path / name
            folder.mkdir(exist_ok=True)
            # Also folders that an earlier version created.
            folder.chmod(0o700)

    def release(self) -> None:
        """Unlock the directory. Idempotent."""
        if self._lock_file is not None:
            self._lock_file.close()

    def end_leftovers(self, folder: str) -> list[str]:
        """End leftover processes of an earlier run by the process ids in `folder`. Return their names."""
        records = sorted((self.path / folder).glob("*.pid"))
        return [record.stem for record in records if end_recorded_process(record)]

    def write(self, name: str, content: object) -> None:
        """Write a JSON file atomically."""
        path = self.path / name
        draft = path.with_suffix(".json.new")
        draft.write_text(json.dumps(content, indent=2) + "\n")
        draft.replace(path)
