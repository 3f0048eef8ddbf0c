"""pgBackRest: its configuration, and its commands as the user of PostgreSQL."""

import json
import os
import pwd
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from operations.backup.errors import BackupFailed
from operations.backup.settings import STANZA, BackupSettings, BucketSettings

_ERROR: Final = re.compile(r"(?:ERROR|WARN): \[?(\d*)\]?:? ?(.*)")
_SECONDS_MAX: Final = 6 * 3600
# A segment on a slow store; the default of pgBackRest is 60.
_ARCHIVED_SECONDS_MAX: Final = 120
_ADVICE: Final[Mapping[str, str]] = {
    "must be enabled": "Run `campusctl backup init`, then restart PostgreSQL.",
    "archive_command": "Run `campusctl backup init`: another program set PostgreSQL's archive_command.",
    "unable to find primary cluster": "Is PostgreSQL running, and does DATABASE_URL name this machine's server?",
    "does not exist": "Run `campusctl backup init`, and check that BACKUP_REPOSITORY is mounted.",
    "cipher": (
        "The passphrase differs from that of the repository: copy the `passphrase` of a restore to BACKUP_FOLDER."
    ),
    "was not archived": (
        "Archiving does not reach the repository: see PostgreSQL's log for the error of archive_command."
    ),
    "unable to get address": "Check BACKUP_S3_ENDPOINT and the name service.",
    "unable to connect": "Check BACKUP_S3_ENDPOINT and the network.",
    "Connection refused": "Check BACKUP_S3_ENDPOINT and the network.",
    "AccessDenied": "Permit the key s3:GetObject, s3:PutObject, s3:DeleteObject and s3:ListBucket.",
    "Permission denied": "Give BACKUP_REPOSITORY and BACKUP_FOLDER to the user of PostgreSQL.",
    "unable to acquire lock": "Another backup is running: wait for its end.",
    "version": "Install the pgBackRest and the PostgreSQL of the release that wrote the repository.",
}


@dataclass(frozen=True, slots=True)
class Account:
    """The user that PostgreSQL runs as."""

    name: str
    uid: int
    gid: int

    @classmethod
    def owner_of(cls, path: Path) -> "Account":
        try:
            found = path.stat()
        except OSError as error:
            advice = "Run the command on the machine of PostgreSQL, as root or as its user."
            raise BackupFailed(f"The data directory {path} is not readable: {error.strerror}.", advice) from None
        return cls(pwd.getpwuid(found.st_uid).pw_name, found.st_uid, found.st_gid)

    @classmethod
    def named(cls, name: str) -> "Account":
        """Return this program's own user, or, as root, the one of that name."""
        if os.geteuid() != 0:
            return cls(pwd.getpwuid(os.geteuid()).pw_name, os.geteuid(), os.getegid())
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            raise BackupFailed(
                f"There is no user {name}.", "Install PostgreSQL, or set BACKUP_POSTGRES_USER."
            ) from None
        return cls(name, entry.pw_uid, entry.pw_gid)

    def own(self, path: Path) -> None:
        """Give the file or folder to this user."""
        if os.geteuid() == 0:
            os.chown(path, self.uid, self.gid)
        elif path.stat().st_uid != self.uid:
            raise BackupFailed(f"{path} belongs to another user.", f"Run the command as root or as {self.name}.")

    def folder(self, path: Path) -> None:
        """Create a folder that only this user may read."""
        try:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            advice = "Mount its disk, and run the command as a user who may write there."
            raise BackupFailed(f"{path} cannot be created: {error.strerror}.", advice, is_unreachable=True) from None
        self.own(path)

    def write(self, path: Path, text: str) -> None:
        """Replace a file that only this user may read."""
        draft = path.with_name(f".{path.name}.new")
        draft.unlink(missing_ok=True)
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(text)
        self.own(draft)
        draft.replace(path)

    def options(self) -> dict[str, Any]:
        """Return the arguments of `subprocess.run` that start a program as this user."""
        if os.geteuid() == self.uid:
            return {}
        if os.geteuid() != 0:
            raise BackupFailed(f"PostgreSQL runs as {self.name}.", f"Run the command as root or as {self.name}.")
        return {"user": self.uid, "group": self.gid, "extra_groups": ()}


@dataclass(frozen=True, slots=True)
class Server:
    """The running cluster: its folders, and its state of archiving."""

    data_directory: Path
    socket_folder: str
    port: int
    version: int
    archive_mode: str
    archive_command: str

    @property
    def account(self) -> Account:
        return Account.owner_of(self.data_directory)


def find_program() -> str:
    """Return the path of pgBackRest. Raises BackupFailed with the command that installs it."""
    found = shutil.which("pgbackrest")
    if found is None:
        raise BackupFailed("pgBackRest is not installed.", "Install it: sudo apt-get install pgbackrest")
    return found


def configuration_of(settings: BackupSettings, passphrase: str, data_directory: Path, work: Path) -> str:
    """Return the text of pgBackRest's configuration. It holds the passphrase and the key of the store."""
    lines = [
        "# Written by `campusctl backup init`.",
        "[global]",
        "repo1-cipher-type=aes-256-cbc",
        f"repo1-cipher-pass={passphrase}",
        "repo1-retention-full-type=time",
        f"repo1-retention-full={settings.keep_days}",
        "repo1-bundle=y",
        "compress-type=gz",
        "compress-level=3",
        "start-fast=y",
        f"archive-timeout={_ARCHIVED_SECONDS_MAX}",
        "log-level-console=warn",
        "log-level-file=off",
        f"lock-path={work / 'lock'}",
        f"spool-path={work / 'spool'}",
        *_repository_lines(settings.repository),
        f"[{STANZA}]",
        f"pg1-path={data_directory}",
    ]
    return "\n".join(lines) + "\n"


def _repository_lines(repository: Path | BucketSettings) -> list[str]:
    if isinstance(repository, Path):
        return [f"repo1-path={repository / 'database'}"]
    endpoint = urlsplit(repository.endpoint)
    lines = [
        "repo1-type=s3",
        f"repo1-path=/{repository.prefix}/database" if repository.prefix else "repo1-path=/database",
        f"repo1-s3-bucket={repository.bucket}",
        f"repo1-s3-endpoint={endpoint.hostname}",
        f"repo1-storage-port={endpoint.port or 443}",
        f"repo1-s3-region={repository.region}",
        f"repo1-s3-key={repository.access_key}",
        f"repo1-s3-key-secret={repository.secret_key}",
        f"repo1-s3-uri-style={'host' if repository.addressing == 'virtual' else 'path'}",
    ]
    return lines + ([f"repo1-storage-ca-file={repository.ca_file}"] if repository.ca_file else [])


@dataclass(frozen=True, slots=True)
class PgBackRest:
    """Commands with one configuration. `environment` holds the password of PostgreSQL."""

    configuration: Path
    account: Account
    options: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)

    @classmethod
    def of_server(cls, settings: BackupSettings, server: Server) -> "PgBackRest":
        """Return the commands for the running server, to which pgBackRest connects by its Unix socket."""
        if not settings.configuration.exists():
            raise BackupFailed(f"{settings.configuration} does not exist.", "Run `campusctl backup init` first.")
        address = urlsplit(settings.database_url)
        options = (
            f"--pg1-socket-path={server.socket_folder}",
            f"--pg1-port={server.port}",
            f"--pg1-user={address.username or 'postgres'}",
        )
        password = {"PGPASSWORD": address.password} if address.password else {}
        return cls(settings.configuration, server.account, options, password)

    def run(self, command: str, *arguments: str, with_server: bool = False) -> str:
        """Run a command and return its output. Raises BackupFailed with pgBackRest's own error."""
        more = (*self.options, *arguments) if with_server else arguments
        line = [find_program(), f"--config={self.configuration}", f"--stanza={STANZA}", *more, command]
        ended: subprocess.CompletedProcess[str] = subprocess.run(
            line,
            env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "TZ": "UTC", **self.environment},
            cwd="/",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_SECONDS_MAX,
            check=False,
            **self.account.options(),
        )
        if ended.returncode != 0:
            raise _failed(command, ended.stdout + ended.stderr)
        return ended.stdout

    def backups(self) -> "DatabaseBackups":
        """Return the backups of the repository. Raises BackupFailed also where it has none."""
        document = json.loads(self.run("info", "--output=json"))
        stanza = document[0] if document else {}
        status = stanza.get("status", {})
        if not stanza.get("backup"):
            message = status.get("message", "no backup")
            repositories = [repo.get("status", {}).get("message", "") for repo in stanza.get("repo", [])]
            detail = f"The repository has no backup of the databases: {', '.join([message, *repositories])}."
            advice = next((text for mark, text in _ADVICE.items() if mark in detail), "Run `campusctl backup run`.")
            raise BackupFailed(detail, advice)
        return DatabaseBackups(tuple(DatabaseBackup.of(row) for row in stanza["backup"]), _major(stanza))


@dataclass(frozen=True, slots=True)
class DatabaseBackup:
    """A base backup; `bytes` is the size of the cluster, `stored_bytes` of what this backup added."""

    label: str
    kind: str
    started_at: datetime
    finished_at: datetime
    bytes: int
    stored_bytes: int

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> "DatabaseBackup":
        times, size = row["timestamp"], row["info"]
        stored = size.get("repository", {})
        return cls(
            row["label"],
            row["type"],
            datetime.fromtimestamp(times["start"], UTC),
            datetime.fromtimestamp(times["stop"], UTC),
            int(size["size"]),
            int(stored.get("delta", stored.get("size", 0))),
        )


@dataclass(frozen=True, slots=True)
class DatabaseBackups:
    """All base backups, oldest first, and the major version of PostgreSQL that wrote them."""

    rows: tuple[DatabaseBackup, ...]
    postgresql: str

    @property
    def last(self) -> DatabaseBackup:
        return self.rows[-1]

    def last_full_at(self) -> datetime:
        return max(row.started_at for row in self.rows if row.kind == "full")


def _major(stanza: Mapping[str, Any]) -> str:
    return str(stanza["db"][-1]["version"])


def _failed(command: str, output: str) -> BackupFailed:
    found = [match[2].strip() for line in output.splitlines() if (match := _ERROR.search(line)) and match[2]]
    lines = output.splitlines()
    more = [line.strip() for line in lines if line.startswith("   ") and line.strip() and "HINT" in line]
    detail = "; ".join(dict.fromkeys([*found, *more])) or output.strip()[-500:] or "no output"
    advice = next((text for mark, text in _ADVICE.items() if mark in detail), "")
    return BackupFailed(f"pgbackrest {command} failed: {detail[:800]}", advice)
