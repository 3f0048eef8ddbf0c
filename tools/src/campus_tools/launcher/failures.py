"""Errors of a start."""

import re
from collections.abc import Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, wait

_REMEDIES = (
    (
        r"UnknownKey|no key with the id",
        "The databases were created with the secrets of another state folder. Set STATE_DIR to that folder, or start "
        "with empty databases: `make clean` removes private ones; drop the databases `campus_*` of your DATABASE_URL.",
    ),
    (r"No space left on device|DiskFull", "The disk is full: free 2 GB, then start again."),
    (
        r"MemoryError|Cannot allocate memory",
        "The memory is full: stop other programs or add swap, then start again.",
    ),
    (
        r"Can't locate revision identified by",
        "The databases were migrated by a newer version. Start that version, or an empty state folder (STATE_DIR).",
    ),
)


class StartFailed(Exception):
    """The system did not start; the message has the reason and the remedy."""


def with_remedy(text: str) -> str:
    """Return the output of a failed program, and below it what to do where the cause is a known one."""
    remedies = [remedy for cause, remedy in _REMEDIES if re.search(cause, text) and remedy not in text]
    return "\n".join([text, *remedies])


def all_or_first_failure(futures: Sequence[Future[None]]) -> None:
    """Wait for all. The first failure is raised at once, while the others still run."""
    done, _ = wait(futures, return_when=FIRST_EXCEPTION)
    for future in done:
        future.result()
