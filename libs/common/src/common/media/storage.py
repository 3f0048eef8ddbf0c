"""The store of images: a folder that the processes of a service share, or an S3 bucket.

A name belongs to one content for ever, so a repeated write is harmless. Files are written before the row that
references them. `common.media.cleanup` removes files without a reference.
"""

import asyncio
import os
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Final, Protocol, Self

import httpx
from pydantic import Field, model_validator

from common.media.s3_signature import Key, signed_headers
from common.primitives.clock import Clock
from common.primitives.ids import new_id
from common.primitives.problems import Unavailable
from common.primitives.tls import client_tls
from common.process.settings import ServiceSettings

TYPE: Final = "image/webp"
# For one image of some hundred kilobytes.
BUCKET_SECONDS_MAX: Final = 10.0


class MediaUnavailable(Unavailable):
    detail = "The image store is temporarily unavailable. Try again."


class MediaStore(Protocol):
    """Stores images by name. Every method raises MediaUnavailable (503)."""

    async def put(self, name: str, content: bytes) -> None:
        """Stores the content; a repetition has no effect."""

    async def get(self, name: str) -> bytes | None:
        """Returns the content, or None."""

    async def remove(self, name: str) -> None:
        """Removes the content; a repetition has no effect."""


class Folder:
    """Images as files. A file gets its name only when it is complete."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def put(self, name: str, content: bytes) -> None:
        await asyncio.to_thread(self._write, name, content)

    async def get(self, name: str) -> bytes | None:
        return await asyncio.to_thread(self._read, name)

    async def remove(self, name: str) -> None:
        await asyncio.to_thread(self._remove, name)

    def _write(self, name: str, content: bytes) -> None:
        unfinished = self._folder / f".{name}.{new_id()}"
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with unfinished.open("xb") as file:
                file.write(content)
                file.flush()
                # The row that references the file survives a power failure, so the file must, too.
                os.fsync(file.fileno())
            unfinished.replace(self._folder / name)
        except OSError as error:
            with suppress(OSError):
                unfinished.unlink()
            raise MediaUnavailable from error

    def _remove(self, name: str) -> None:
        try:
            # Also removes unfinished files of the same name that a crash left.
            for path in (self._folder / name, *self._folder.glob(f".{name}.*")):
                path.unlink(missing_ok=True)
        except OSError as error:
            raise MediaUnavailable from error

    def _read(self, name: str) -> bytes | None:
        try:
            return (self._folder / name).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise MediaUnavailable from error


class Bucket:
    """Images as objects of a bucket, addressed by path, which every S3 store supports."""

    def __init__(self, http: httpx.AsyncClient, endpoint: str, bucket: str, key: Key, clock: Clock) -> None:
        self._http, self._key, self._clock = http, key, clock
        self._url = f"{endpoint.rstrip('/')}/{bucket}"

    async def put(self, name: str, content: bytes) -> None:
        response = await self._request("PUT", name, content, {"content-type": TYPE})
        if response.status_code != 200:
            raise MediaUnavailable from ValueError(f"the bucket answered {response.status_code} to a PUT")

    async def get(self, name: str) -> bytes | None:
        response = await self._request("GET", name, b"", {})
        if response.status_code == 404:
            return None
        if response.status_code != 200:
            raise MediaUnavailable from ValueError(f"the bucket answered {response.status_code} to a GET")
        return response.content

    async def remove(self, name: str) -> None:
        response = await self._request("DELETE", name, b"", {})
        if response.status_code not in (200, 204, 404):
            raise MediaUnavailable from ValueError(f"the bucket answered {response.status_code} to a DELETE")

    async def _request(self, method: str, name: str, content: bytes, headers: dict[str, str]) -> httpx.Response:
        url = f"{self._url}/{name}"
        headers = signed_headers(self._key, method, url, headers, content, self._clock.now())
        try:
            return await self._http.request(method, url, headers=headers, content=content, timeout=BUCKET_SECONDS_MAX)
        except httpx.HTTPError as error:
            raise MediaUnavailable from error


class MediaSettings(ServiceSettings):
    """The image store of a service: a folder that all its processes share, or a bucket when an endpoint is set."""

    media_folder: Path = Field(
        default=Path(".state/media"),
        description="Folder of the images, shared by all processes of the service; unused with MEDIA_S3_ENDPOINT",
        examples=["/var/lib/campus/media"],
    )
    media_s3_endpoint: str = Field(
        default="", description="Address of an S3 store; empty: MEDIA_FOLDER is used", examples=["https://s3.example"]
    )
    media_s3_bucket: str = Field(default="", description="Bucket of the images", examples=["campus-media"])
    media_s3_region: str = Field(default="us-east-1", description="Region of the bucket", examples=["af-south-1"])
    media_s3_access_key: str = Field(
        default="", description="Id of the access key for the bucket", examples=["AKIAIOSFODNN7EXAMPLE"]
    )
    media_s3_secret_key: str = Field(
        default="", description="Secret of the access key", examples=["wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"]
    )

    @model_validator(mode="after")
    def whole_bucket(self) -> Self:
        if self.media_s3_endpoint and not (
            self.media_s3_bucket and self.media_s3_access_key and self.media_s3_secret_key
        ):
            raise ValueError("MEDIA_S3_ENDPOINT needs MEDIA_S3_BUCKET, MEDIA_S3_ACCESS_KEY and MEDIA_S3_SECRET_KEY")
        return self


async def open_media_store(
    settings: MediaSettings, clock: Clock, stack: AsyncExitStack, *, under: str = ""
) -> MediaStore:
    """The bucket when one is set, else the folder. `under` is a separate subfolder for private files."""
    if not settings.media_s3_endpoint:
        return Folder(settings.media_folder / under)
    key = Key(settings.media_s3_access_key, settings.media_s3_secret_key, settings.media_s3_region)
    http = await stack.enter_async_context(httpx.AsyncClient(verify=client_tls()))
    return Bucket(http, settings.media_s3_endpoint, f"{settings.media_s3_bucket}/{under}".rstrip("/"), key, clock)
