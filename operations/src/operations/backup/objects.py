"""Named objects in a folder or a bucket: the repository's part beside pgBackRest, and the image stores."""

import asyncio
import os
import ssl
import xml.etree.ElementTree as ET
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, Literal, Protocol, cast
from urllib.parse import quote

import httpx
from botocore.credentials import Credentials

from common.media.s3 import NO_SUCH_KEY, S3Client, S3Error, S3Location
from common.primitives.tls import client_tls
from operations.backup.errors import BackupFailed
from operations.backup.settings import BucketSettings

_XML: Final = "{http://s3.amazonaws.com/doc/2006-03-01/}"


class Objects(Protocol):
    """Objects by name, with `/` between folders. Each method raises BackupFailed when the store is unreachable."""

    async def names(self, under: str = "") -> frozenset[str]:
        """Return the names of all objects below a folder, without that folder."""

    async def read(self, name: str) -> bytes:
        """Return the content. Raises BackupFailed also where there is no such object."""

    async def write(self, name: str, content: bytes) -> None:
        """Store the content at once or not at all."""

    async def remove(self, name: str) -> None:
        """Remove the object; a repetition has no effect."""


class FolderObjects:
    """Objects as files, readable by their owner only."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def names(self, under: str = "") -> frozenset[str]:
        return await asyncio.to_thread(self._names, self._folder / under)

    async def read(self, name: str) -> bytes:
        try:
            return await asyncio.to_thread((self._folder / name).read_bytes)
        except OSError as error:
            raise _folder_failed(self._folder / name, error) from None

    async def write(self, name: str, content: bytes) -> None:
        await asyncio.to_thread(self._write, self._folder / name, content)

    async def remove(self, name: str) -> None:
        try:
            await asyncio.to_thread((self._folder / name).unlink, missing_ok=True)
        except OSError as error:
            raise _folder_failed(self._folder / name, error) from None

    @staticmethod
    def _names(folder: Path) -> frozenset[str]:
        try:
            # Names that start with a point are unfinished writes.
            return frozenset(
                str(path.relative_to(folder))
                for path in folder.rglob("*")
                if path.is_file() and not path.name.startswith(".")
            )
        except OSError as error:
            raise _folder_failed(folder, error) from None

    @staticmethod
    def _write(path: Path, content: bytes) -> None:
        draft = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            draft.unlink(missing_ok=True)
            with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(path)
        except OSError as error:
            raise _folder_failed(path, error) from None


class BucketObjects:
    """Objects of a bucket below a prefix."""

    def __init__(self, client: S3Client, prefix: str) -> None:
        self._client = client
        self._prefix = f"{prefix}/" if prefix else ""

    async def names(self, under: str = "") -> frozenset[str]:
        prefix = f"{self._prefix}{under}/" if under else self._prefix
        found: set[str] = set()
        after = ""
        while True:
            query = f"list-type=2&prefix={quote(prefix, safe='')}" + (
                f"&start-after={quote(after, safe='')}" if after else ""
            )
            page = ET.fromstring((await self._request("GET", query=query)).content)
            keys = [key.text or "" for key in page.iter(f"{_XML}Key")]
            found |= {key.removeprefix(prefix) for key in keys}
            if page.findtext(f"{_XML}IsTruncated") != "true" or not keys:
                return frozenset(found)
            after = keys[-1]

    async def read(self, name: str) -> bytes:
        return (await self._request("GET", name)).content

    async def write(self, name: str, content: bytes) -> None:
        await self._request("PUT", name, content)

    async def remove(self, name: str) -> None:
        await self._request("DELETE", name)

    async def _request(self, method: str, name: str = "", content: bytes = b"", *, query: str = "") -> httpx.Response:
        bucket = self._client.location.bucket
        path = f"{self._prefix}{name}" if name else ""
        try:
            return await self._client.request(method, path, content, query=query)
        except S3Error as error:
            if error.code == NO_SUCH_KEY:
                raise BackupFailed(f"The bucket {bucket} has no {path}.") from None
            advice = (error.advice or "The store may be unavailable: repeat the command.").replace("MEDIA_", "BACKUP_")
            raise BackupFailed(
                f"The bucket {bucket} rejected {method}: {error}.", advice, is_unreachable=True
            ) from None
        except (httpx.HTTPError, ssl.SSLError) as error:
            host = httpx.URL(self._client.location.endpoint).host
            advice = "Check the address, the network and the certificate; then repeat the command."
            detail = f"The store {host} is unreachable: {type(error).__name__}."
            raise BackupFailed(detail, advice, is_unreachable=True) from None


@asynccontextmanager
async def open_objects(store: Path | BucketSettings) -> AsyncIterator[Objects]:
    """Yield the objects of a folder or bucket."""
    if isinstance(store, Path):
        yield FolderObjects(store)
        return
    tls = ssl.create_default_context(cafile=store.ca_file) if store.ca_file else client_tls()
    async with httpx.AsyncClient(verify=tls) as http:
        addressing = cast('Literal["path", "virtual"]', store.addressing)
        location = S3Location(store.endpoint, store.bucket, store.region, addressing)
        client = S3Client(http, location, Credentials(store.access_key, store.secret_key))
        yield BucketObjects(client, store.prefix)


def _folder_failed(path: Path, error: OSError) -> BackupFailed:
    advice = "Mount its disk, and run the command as a user who may read and write there."
    return BackupFailed(f"{path} failed: {error.strerror}.", advice, is_unreachable=True)
