"""Folder of temporary servers."""

import os
import shutil
import tempfile
from pathlib import Path

MEMORY = Path("/dev/shm")
ROOM = 2 * 1024**3
"""Required free bytes; two halves of the tests with their servers use a third."""


def throwaway_root() -> Path:
    """Return a folder for temporary data: in memory when there is room, where databases are created faster."""
    if MEMORY.is_dir() and os.access(MEMORY, os.W_OK | os.X_OK) and shutil.disk_usage(MEMORY).free >= ROOM:
        return MEMORY
    return Path(tempfile.gettempdir())
