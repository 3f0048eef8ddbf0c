"""Metrics of backups and certificates as a file, which the textfile collector of Prometheus' node exporter serves.

No process of the services knows the repository, and these metrics must exist while the services are down.
"""

import asyncio
import os
import ssl
import time
from collections.abc import Sequence
from dataclasses import astuple
from pathlib import Path
from typing import Final

from cryptography import x509

from operations.backup.backing_up import list_backups
from operations.backup.cluster import read_archiving, read_health
from operations.backup.errors import BackupFailed
from operations.backup.settings import BackupSettings

BACKUP_AT: Final = "campus_backup_timestamp_seconds"
ARCHIVED_AT: Final = "campus_backup_archived_timestamp_seconds"
ARCHIVING_FAILS: Final = "campus_backup_archiving_failing"
CHECKED_AT: Final = "campus_backup_checked_timestamp_seconds"
CERTIFICATE_ENDS_AT: Final = "campus_certificate_expiration_timestamp_seconds"
_HANDSHAKE_SECONDS_MAX: Final = 5.0
_HEALTH: Final = {
    "campus_database_transaction_seconds": "Age of the oldest transaction of a client.",
    "campus_database_idle_in_transaction_seconds": "Longest time for which a transaction has been idle.",
    "campus_database_lock_wait_seconds": "Longest wait of a statement for a lock.",
    "campus_database_transaction_id_age": "Age of the oldest unfrozen transaction id, of two billion.",
}


async def write_metrics(settings: BackupSettings) -> None:
    """Write the file of BACKUP_METRICS_FILE, where it is set. Raises BackupFailed where the folder is not writable.

    A part without a backup has the timestamp 0. Where the database is unreachable, the file stays as it is, and its age
    is that of CHECKED_AT. A host that is unreachable has no line: the alerts of the edge cover it.
    """
    if settings.metrics_file is None:
        return
    try:
        archiving = await read_archiving(settings.database_url)
        health = await read_health(settings.database_url)
    except BackupFailed:
        return
    times = {"database": 0.0, "images": 0.0, "secrets": 0.0}
    try:
        stored = await list_backups(settings)
    except BackupFailed:
        pass
    else:
        times = {
            "database": stored.databases[-1].finished_at.timestamp(),
            "images": max((at.timestamp() for at in stored.images), default=0.0),
            "secrets": max((at.timestamp() for at in stored.secrets), default=0.0),
        }
    ends = await _certificate_ends(settings.certificate_hosts)
    archived_at = archiving.last_archived_at.timestamp() if archiving.last_archived_at else 0.0
    lines = [
        *_head(BACKUP_AT, "When the last backup of a part ended, Unix time; 0 without one."),
        *(f'{BACKUP_AT}{{part="{part}"}} {at:.0f}' for part, at in times.items()),
        *_head(ARCHIVED_AT, "When the last segment of WAL was archived, Unix time; 0 without one."),
        f"{ARCHIVED_AT} {archived_at:.0f}",
        *_head(ARCHIVING_FAILS, "1 while the last attempt to archive a segment failed."),
        f"{ARCHIVING_FAILS} {int(archiving.is_failing)}",
        *(
            line
            for (name, meaning), value in zip(_HEALTH.items(), astuple(health), strict=True)
            for line in (*_head(name, meaning), f"{name} {value:.0f}")
        ),
        *_head(CERTIFICATE_ENDS_AT, "When the certificate of a host ends, Unix time."),
        *(f'{CERTIFICATE_ENDS_AT}{{name="{host}"}} {at:.0f}' for host, at in ends.items()),
        *_head(CHECKED_AT, "When this file was written, Unix time."),
        f"{CHECKED_AT} {time.time():.0f}",
    ]
    _replace(settings.metrics_file, "\n".join(lines) + "\n")


async def _certificate_ends(hosts: Sequence[str]) -> dict[str, float]:
    """Return the end of each host's certificate, Unix time, also where it has expired or is not trusted."""
    read = await asyncio.gather(*(asyncio.to_thread(_certificate_end, host) for host in hosts))
    return {host: at for host, at in zip(hosts, read, strict=True) if at is not None}


def _certificate_end(host: str) -> float | None:
    name, _, port = host.partition(":")
    try:
        text = ssl.get_server_certificate((name, int(port or 443)), timeout=_HANDSHAKE_SECONDS_MAX)
    except OSError:
        return None
    return x509.load_pem_x509_certificate(text.encode()).not_valid_after_utc.timestamp()


def _head(name: str, meaning: str) -> tuple[str, str]:
    return f"# HELP {name} {meaning}", f"# TYPE {name} gauge"


def _replace(path: Path, text: str) -> None:
    """Replace the file at once: the collector never reads a part of it."""
    # The collector reads names that end with .prom only.
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_text(text)
        draft.chmod(0o644)
        draft.replace(path)
    except OSError as error:
        advice = "Create the folder of BACKUP_METRICS_FILE, which the node exporter reads."
        raise BackupFailed(f"{path} cannot be written: {error.strerror}.", advice) from None
