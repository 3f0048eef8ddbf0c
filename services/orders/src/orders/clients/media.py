"""Where pictures are kept: a folder that the processes of the service share, or a bucket that speaks S3.

A name stands for one content for ever, so that writing it twice writes the same. Files are written before the row that names them: a
process that dies between the two leaves a file that nobody names.
"""

import asyncio
import os
from contextlib import suppress
from pathlib import Path
from typing import Final, Protocol

import httpx

from common.clock import Clock
from common.ids import new_id
from common.problems import Unavailable
from orders.clients.s3_signature import Key, signed_headers

TYPE: Final = "image/webp"
# One picture of some hundred kilobytes; whoever waits longer has lost the bucket.
BUCKET_SECONDS_MAX: Final = 10.0


class MediaAway(Unavailable):
    detail = "The store of pictures is not available for the moment. Try again."


class MediaStore(Protocol):
    """Keeps pictures by name. Raises MediaAway (503)."""

    async def put(self, name: str, content: bytes) -> None:
        """Keeps the content under its name; once more is no harm."""

    async def get(self, name: str) -> bytes | None:
        """The content, or None."""


class Folder:
    """Pictures as files. A reader never sees half a file: each appears under its name when it is whole."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def put(self, name: str, content: bytes) -> None:
        await asyncio.to_thread(self._write, name, content)

    async def get(self, name: str) -> bytes | None:
        return await asyncio.to_thread(self._read, name)

    def _write(self, name: str, content: bytes) -> None:
        unfinished = self._folder / f".{name}.{new_id()}"
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with unfinished.open("xb") as file:
                file.write(content)
                file.flush()
                # The row that names the file is kept through a power failure, so the file must be too.
                os.fsync(file.fileno())
            unfinished.replace(self._folder / name)
        except OSError as error:
            with suppress(OSError):
                unfinished.unlink()
            raise MediaAway from error

    def _read(self, name: str) -> bytes | None:
        try:
            return (self._folder / name).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise MediaAway from error


class Bucket:
    """Pictures as objects of a bucket, addressed by path: what every store that speaks S3 understands."""

    def __init__(self, http: httpx.AsyncClient, endpoint: str, bucket: str, key: Key, clock: Clock) -> None:
        self._http, self._key, self._clock = http, key, clock
        self._url = f"{endpoint.rstrip('/')}/{bucket}"

    async def put(self, name: str, content: bytes) -> None:
        answer = await self._ask("PUT", name, content, {"content-type": TYPE})
        if answer.status_code != 200:
            raise MediaAway from ValueError(f"the bucket answered {answer.status_code} to a PUT")

    async def get(self, name: str) -> bytes | None:
        answer = await self._ask("GET", name, b"", {})
        if answer.status_code == 404:
            return None
        if answer.status_code != 200:
            raise MediaAway from ValueError(f"the bucket answered {answer.status_code} to a GET")
        return answer.content

    async def _ask(self, method: str, name: str, content: bytes, headers: dict[str, str]) -> httpx.Response:
        url = f"{self._url}/{name}"
        headers = signed_headers(self._key, method, url, headers, content, self._clock.now())
        try:
            return await self._http.request(method, url, headers=headers, content=content, timeout=BUCKET_SECONDS_MAX)
        except httpx.HTTPError as error:
            raise MediaAway from error
