"""Backup of the secrets: an archive of the secrets files and the repository's passphrase, for the recovery key.

`age --decrypt -i KEY FILE | tar x` opens it without this program.
"""

import hashlib
import io
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from operations.backup.age import WrongKey, decrypt, encrypt
from operations.backup.errors import BackupFailed
from operations.backup.images import around, instant_of, stamp
from operations.backup.objects import Objects

BUNDLES: Final = "secrets"
PASSPHRASE: Final = "passphrase"
_SUFFIX: Final = ".tar.age"


@dataclass(frozen=True, slots=True)
class Bundle:
    """The files of a bundle by name, and the instant of its backup."""

    at: datetime
    files: Mapping[str, bytes]


def secret_files(paths: tuple[Path, ...], passphrase: str) -> dict[str, bytes]:
    """Read the files of a bundle. Raises BackupFailed with the name of an unreadable one."""
    try:
        files = {path.name: path.read_bytes() for path in paths}
    except OSError as error:
        advice = "Set BACKUP_SECRET_FILES to the files that hold the secrets, and run the command as their owner."
        raise BackupFailed(f"{error.filename} is not readable: {error.strerror}.", advice) from None
    if len(files) != len(paths) or PASSPHRASE in files:
        raise BackupFailed("Two files of BACKUP_SECRET_FILES have the same name.", "Rename one of them.")
    return {**files, PASSPHRASE: passphrase.encode()}


def digest_of(files: Mapping[str, bytes]) -> str:
    """Return a hash of all files; two bundles differ when it does."""
    parts = (hashlib.sha256(name.encode()).digest() + hashlib.sha256(files[name]).digest() for name in sorted(files))
    return hashlib.sha256(b"".join(parts)).hexdigest()


async def back_up_secrets(
    files: Mapping[str, bytes], recovery_key: str, repository: Objects, now: datetime, keep: timedelta
) -> None:
    """Write a bundle, and remove those that no instant of the retention period needs."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode, entry.mtime = len(content), 0o600, int(now.timestamp())
            archive.addfile(entry, io.BytesIO(content))
    await repository.write(f"{BUNDLES}/{stamp(now)}{_SUFFIX}", encrypt(buffer.getvalue(), recovery_key))
    names = sorted(await repository.names(BUNDLES))
    for name in [name for name in names if instant_of(name) < now - keep][:-1]:
        await repository.remove(f"{BUNDLES}/{name}")


async def read_bundles(repository: Objects, at: datetime, identity: str) -> list[Bundle]:
    """Return the bundles around an instant: the last one before it, and the first one after it.

    Raises BackupFailed where there is none, or the private key does not open it.
    """
    chosen = around(await repository.names(BUNDLES), at)
    if not chosen:
        raise BackupFailed("The repository has no secrets.", "Check BACKUP_REPOSITORY; `backup run` writes them.")
    return [Bundle(instant_of(name), await _opened(repository, f"{BUNDLES}/{name}", identity)) for name in chosen]


async def _opened(repository: Objects, path: str, identity: str) -> dict[str, bytes]:
    document = await repository.read(path)
    try:
        content = decrypt(document, identity)
    except WrongKey:
        advice = "Take the private key whose public key was BACKUP_RECOVERY_KEY at that time."
        raise BackupFailed(f"The recovery key does not open {path}.", advice) from None
    except ValueError as error:
        raise BackupFailed(f"{path} cannot be opened: {error}.") from None
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        return {entry.name: _content(archive, entry) for entry in archive.getmembers()}


def _content(archive: tarfile.TarFile, entry: tarfile.TarInfo) -> bytes:
    file = archive.extractfile(entry)
    return b"" if file is None else file.read()


def private_key_in(path: Path) -> str:
    """Return the private key of a file as `backup recovery-key` and `age-keygen` write it. Raises BackupFailed."""
    try:
        lines = path.read_text().splitlines()
    except OSError as error:
        raise BackupFailed(f"The recovery key {path} is not readable: {error.strerror}.") from None
    found = [line.strip() for line in lines if line.strip().startswith("AGE-SECRET-KEY-1")]
    if not found:
        raise BackupFailed(f"{path} has no line AGE-SECRET-KEY-1....", "Name the file of `backup recovery-key`.")
    return found[0]
