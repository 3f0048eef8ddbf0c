"""The store of images: a folder that the processes of a service share, or an S3 bucket.

A name belongs to one content for ever, so a repeated write is harmless. Files are written before the row that
references them. `common.media.cleanup` removes files without a reference.
"""

import asyncio
import os
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Final, Literal, Protocol, Self

import httpx
from pydantic import Field, model_validator

from common.media.s3 import NO_SUCH_KEY, S3Client, S3Error, S3Location
from common.observability.logging import get_logger
from common.primitives.http_client import HttpClient
from common.primitives.ids import new_id
from common.primitives.problems import Unavailable
from common.primitives.tls import client_tls
from common.process.settings import ServiceSettings

log = get_logger(__name__)

TYPE: Final = "image/webp"


class MediaUnavailable(Unavailable):
    detail = "The image store is temporarily unavailable. Try again."


class MediaStore(Protocol):
    """Stores images by name. Every method raises MediaUnavailable (503)."""

    async def put(self, name: str, content: bytes) -> None:
        """Store the content; a repetition has no effect."""

    async def get(self, name: str) -> bytes | None:
        """Return the content, or None."""

    async def remove(self, name: str) -> None:
        """Remove the content; a repetition has no effect."""


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
    """Images as objects of a bucket, below an optional prefix."""

    def __init__(self, client: S3Client, under: str = "") -> None:
        self._client = client
        self._prefix = f"{under}/" if under else ""

    async def put(self, name: str, content: bytes) -> None:
        await self._request("PUT", name, content, media_type=TYPE)

    async def get(self, name: str) -> bytes | None:
        response = await self._request("GET", name)
        return None if response is None else response.content

    async def remove(self, name: str) -> None:
        await self._request("DELETE", name)

    async def _request(
        self, method: str, name: str, content: bytes = b"", *, media_type: str = ""
    ) -> httpx.Response | None:
        """Return the response, or None when there is no such object.

        Raises MediaUnavailable, and logs what an operator must correct: the user may retry in either case.
        """
        try:
            return await self._client.request(method, f"{self._prefix}{name}", content, media_type=media_type)
        except S3Error as error:
            if error.code == NO_SUCH_KEY:
                return None
            log.error("the image store rejected a request", method=method, error=str(error), advice=error.advice)
            raise MediaUnavailable from error
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
    media_s3_session_token: str = Field(
        default="",
        description="Session token of a temporary access key; empty: the key is permanent",
        examples=["FwoGZXIvYXdzEBYaDEXAMPLETOKEN"],
    )
    media_s3_addressing: Literal["path", "virtual"] = Field(
        default="path",
        description="Where the bucket is named: in the path, or in the host name (buckets of AWS made since 2020)",
        examples=["virtual"],
    )

    @model_validator(mode="after")
    def whole_bucket(self) -> Self:
        if self.media_s3_endpoint and not (
            self.media_s3_bucket and self.media_s3_access_key and self.media_s3_secret_key
        ):
            raise ValueError("MEDIA_S3_ENDPOINT needs MEDIA_S3_BUCKET, MEDIA_S3_ACCESS_KEY and MEDIA_S3_SECRET_KEY")
        return self


async def open_media_store(settings: MediaSettings, stack: AsyncExitStack, *, under: str = "") -> MediaStore:
    """Return the bucket when one is set, else the folder. `under` is a separate subfolder for private files."""
    if not settings.media_s3_endpoint:
        return Folder(settings.media_folder / under)
    http = await stack.enter_async_context(HttpClient(verify=client_tls()))
    return Bucket(s3_client(settings, http), under)


def s3_client(settings: MediaSettings, http: httpx.AsyncClient) -> S3Client:
    """Return the client of the bucket that the settings name."""
    from botocore.credentials import Credentials

    location = S3Location(
        settings.media_s3_endpoint,
        settings.media_s3_bucket,
        settings.media_s3_region,
        settings.media_s3_addressing,
    )
    token = settings.media_s3_session_token or None
    return S3Client(http, location, Credentials(settings.media_s3_access_key, settings.media_s3_secret_key, token))
