"""The memory that a start needs."""

from pathlib import Path

import psutil

from campus_tools.launcher.failures import StartFailed

REQUIRED_MIB = 900
"""Seven processes use 530 MiB, PostgreSQL and RabbitMQ some 300 (docs/performance.md)."""
CGROUP = Path("/sys/fs/cgroup")


def check_memory(cgroup: Path = CGROUP) -> None:
    """Reject a start for which the memory does not suffice, swap included, within the limit of a container.

    Raises:
        StartFailed: too little is available.
    """
    available = psutil.virtual_memory().available + psutil.swap_memory().free
    limit = _number(cgroup / "memory.max")
    if limit is not None:
        available = min(available, limit - (_number(cgroup / "memory.current") or 0))
    mebibytes = available // 2**20
    if mebibytes < REQUIRED_MIB:
        raise StartFailed(
            f"{mebibytes} MiB of memory are available, and the system needs {REQUIRED_MIB}. Stop other programs, add "
            "swap, or raise the limit of the container, then start again."
        )


def _number(path: Path) -> int | None:
    """Return the number of a file, None without one: `max` is no limit."""
    text = path.read_text().strip() if path.exists() else ""
    return int(text) if text.isdigit() else None
