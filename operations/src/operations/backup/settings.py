"""The one settings file of backup and restore."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from operations.backup.age import check_recipient
from operations.backup.errors import BackupFailed
from operations.doctor.settings_files import read_settings
from operations.secrets import read_secrets

_HOST: Final = re.compile(r"[A-Za-z0-9.-]+(:[0-9]{1,5})?")
STANZA: Final = "campus"
"""The name of the cluster in the repository."""

_DEFAULTS: Final[Mapping[str, str]] = {
    "BACKUP_FOLDER": "/var/lib/campus-backup",
    "BACKUP_KEEP_DAYS": "14",
    "BACKUP_FULL_DAYS": "7",
    "BACKUP_ARCHIVE_SECONDS": "60",
    "BACKUP_POSTGRES_USER": "postgres",
    "BACKUP_S3_REGION": "us-east-1",
    "BACKUP_S3_ADDRESSING": "path",
    "MEDIA_S3_REGION": "us-east-1",
    "MEDIA_S3_ADDRESSING": "path",
}
BACKUP_SETTINGS: Final = frozenset(_DEFAULTS) | {
    "BACKUP_REPOSITORY",
    "BACKUP_RECOVERY_KEY",
    "BACKUP_SECRET_FILES",
    "BACKUP_METRICS_FILE",
    "BACKUP_CERTIFICATE_HOSTS",
    "BACKUP_S3_ENDPOINT",
    "BACKUP_S3_ACCESS_KEY",
    "BACKUP_S3_SECRET_KEY",
    "BACKUP_S3_CA_FILE",
    "DATABASE_URL",
    "MEDIA_FOLDER",
    "MEDIA_S3_ENDPOINT",
    "MEDIA_S3_BUCKET",
    "MEDIA_S3_ACCESS_KEY",
    "MEDIA_S3_SECRET_KEY",
    "TICKETS_S3_BUCKET",
}
"""Names of the settings file."""


@dataclass(frozen=True, slots=True)
class BucketSettings:
    """A bucket of an S3 store, and the prefix of its objects; `ca_file` is the store's own certificate authority."""

    endpoint: str
    bucket: str
    prefix: str
    region: str
    access_key: str
    secret_key: str
    addressing: str
    ca_file: str = ""


@dataclass(frozen=True, slots=True)
class BackupSettings:
    """The settings of one system.

    `repository` and each of `images` are a folder or a bucket. `folder` holds pgBackRest's own files and the passphrase
    of the repository. `archive_seconds` bounds the age of changes that are not archived.
    """

    repository: Path | BucketSettings
    recovery_key: str
    folder: Path
    secret_files: tuple[Path, ...]
    images: Mapping[str, Path | BucketSettings]
    database_url: str
    postgres_user: str
    keep_days: int
    full_days: int
    archive_seconds: int
    metrics_file: Path | None = None
    certificate_hosts: tuple[str, ...] = ()
    """The hosts, each with an optional port, whose certificates are part of the metrics."""

    @property
    def configuration(self) -> Path:
        """The configuration of pgBackRest, written by `backup init`."""
        return self.folder / "pgbackrest.conf"

    @property
    def passphrase_file(self) -> Path:
        return self.folder / "passphrase"

    @property
    def archive_command(self) -> str:
        """The `archive_command` of PostgreSQL."""
        return f"pgbackrest --config={self.configuration} --stanza={STANZA} archive-push %p"


def read_backup_settings(path: Path, state_dir: Path) -> BackupSettings:
    """Read `NAME=value` lines. The secrets file, DATABASE_URL and images default to those of the state directory.

    Raises BackupFailed with the name of what is missing or malformed.
    """
    try:
        given = read_settings(path)
    except OSError as error:
        advice = "Write it as docs/backup.md shows, or name another one with --settings or BACKUP_SETTINGS."
        raise BackupFailed(f"The settings {path} are not readable: {error.strerror}.", advice) from None
    except ValueError as error:
        raise BackupFailed(f"The settings {path} are malformed: {error}.", "Write NAME=value lines.") from None
    if unknown := sorted(given.keys() - BACKUP_SETTINGS):
        raise BackupFailed(
            f"{path} has unknown settings: {', '.join(unknown)}.", f"Known: {', '.join(sorted(BACKUP_SETTINGS))}"
        )
    values = {**_DEFAULTS, **{name: text for name, text in given.items() if text}}
    secrets_file = state_dir / "secrets.env"
    known = read_secrets(secrets_file) if secrets_file.exists() else {}
    files = tuple(Path(name.strip()) for name in values.get("BACKUP_SECRET_FILES", str(secrets_file)).split(","))
    recovery_key = values.get("BACKUP_RECOVERY_KEY", "")
    if recovery_key:
        try:
            check_recipient(recovery_key)
        except ValueError as error:
            advice = "It is the public key (age1...) that `campusctl backup recovery-key` prints."
            raise BackupFailed(f"BACKUP_RECOVERY_KEY is no public key: {error}.", advice) from None
    return BackupSettings(
        repository=_repository(values),
        recovery_key=recovery_key,
        folder=_absolute("BACKUP_FOLDER", values["BACKUP_FOLDER"]),
        secret_files=files,
        images=_images(values, state_dir),
        database_url=values.get("DATABASE_URL") or known.get("DATABASE_URL", ""),
        postgres_user=values["BACKUP_POSTGRES_USER"],
        keep_days=_number(values, "BACKUP_KEEP_DAYS"),
        full_days=_number(values, "BACKUP_FULL_DAYS"),
        archive_seconds=_number(values, "BACKUP_ARCHIVE_SECONDS"),
        metrics_file=Path(values["BACKUP_METRICS_FILE"]) if "BACKUP_METRICS_FILE" in values else None,
        certificate_hosts=tuple(_hosts(values.get("BACKUP_CERTIFICATE_HOSTS", ""))),
    )


def _hosts(text: str) -> Iterator[str]:
    for host in filter(None, (part.strip() for part in text.split(","))):
        if not _HOST.fullmatch(host):
            raise BackupFailed(f"BACKUP_CERTIFICATE_HOSTS has no host name: {host}.", "Write HOST or HOST:PORT.")
        yield host


def _repository(values: Mapping[str, str]) -> Path | BucketSettings:
    address = values.get("BACKUP_REPOSITORY", "")
    if not address:
        raise BackupFailed("BACKUP_REPOSITORY is not set.", "Set a folder on another disk, or s3://BUCKET/PREFIX.")
    if not address.startswith("s3://"):
        return _absolute("BACKUP_REPOSITORY", address)
    parts = urlsplit(address)
    endpoint = _required(values, "BACKUP_S3_ENDPOINT")
    if not endpoint.startswith("https://"):
        raise BackupFailed("BACKUP_S3_ENDPOINT is no https:// address.", "pgBackRest sends backups over TLS only.")
    return BucketSettings(
        endpoint,
        parts.netloc,
        parts.path.strip("/"),
        values["BACKUP_S3_REGION"],
        _required(values, "BACKUP_S3_ACCESS_KEY"),
        _required(values, "BACKUP_S3_SECRET_KEY"),
        values["BACKUP_S3_ADDRESSING"],
        values.get("BACKUP_S3_CA_FILE", ""),
    )


def _images(values: Mapping[str, str], state_dir: Path) -> dict[str, Path | BucketSettings]:
    """Return the image stores by name: a folder, or the bucket of images and that of tickets."""
    if not values.get("MEDIA_S3_ENDPOINT"):
        return {"media": Path(values.get("MEDIA_FOLDER") or state_dir / "media")}
    key = (_required(values, "MEDIA_S3_ACCESS_KEY"), _required(values, "MEDIA_S3_SECRET_KEY"))
    region, addressing = values["MEDIA_S3_REGION"], values["MEDIA_S3_ADDRESSING"]
    buckets = {"media": _required(values, "MEDIA_S3_BUCKET"), "tickets": values.get("TICKETS_S3_BUCKET", "")}
    return {
        name: BucketSettings(values["MEDIA_S3_ENDPOINT"], bucket, "", region, *key, addressing)
        for name, bucket in buckets.items()
        if bucket
    }


def _required(values: Mapping[str, str], name: str) -> str:
    if not values.get(name):
        raise BackupFailed(f"{name} is not set.", "Set it in the settings file of the backup; docs/backup.md.")
    return values[name]


def _absolute(name: str, text: str) -> Path:
    if not Path(text).is_absolute():
        raise BackupFailed(f"{name} is no absolute path: {text}.", "PostgreSQL runs in another directory.")
    return Path(text)


def _number(values: Mapping[str, str], name: str) -> int:
    if not values[name].isdecimal() or int(values[name]) < 1:
        raise BackupFailed(f"{name} is no number from 1 on: {values[name]}.")
    return int(values[name])
