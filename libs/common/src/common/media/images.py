"""Renditions of uploaded images. Only the visible content of the uploaded file is stored.

Decoding and encoding release the interpreter's lock, so threads do the work; few, because each holds a whole image.
"""

import asyncio
import io
import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from PIL import Image, ImageCms, ImageOps

from common.primitives.problems import InvalidParam, Unavailable, ValidationFailed

FORMATS: Final = ("JPEG", "PNG", "WEBP")
# A camera's 24 million pixels are accepted; at four bytes each they need 100 MB during the reduction.
PIXELS_MAX: Final = 25_000_000
# A progressive JPEG has ten scans, rarely a few more. A scan of forty bytes visits every pixel, so that a file within
# all other limits could occupy a thread for hours.
SCANS_MAX: Final = 40
# Profiles of phones have 500 bytes to 4 KiB, those of printers up to 2 MiB.
PROFILE_BYTES_MAX: Final = 2 * 1_048_576
SIDE_MAX: Final = 1_600
THUMBNAIL_SIDE_MAX: Final = 320
QUALITY: Final = 82
# Two threads for two cores; each waiting upload holds 5 MiB.
THREADS: Final = 2
WAITING_MAX: Final = 8

# Pillow has its own limits for large images; ours is lower and checked before any pixel is decoded.
Image.MAX_IMAGE_PIXELS = None


@dataclass(frozen=True, slots=True)
class Renditions:
    """The two renditions of an image, as WebP."""

    image: bytes
    thumbnail: bytes


_JPEG: Final = b"\xff\xd8"
# Image data holds no such byte pair: its 0xFF bytes are followed by 0, and restart markers are not segments.
_MARKER: Final = re.compile(rb"\xff([^\x00\x01\xd0-\xd8\xff])")
_SCAN, _END = b"\xda", b"\xd9"


class NotAnImage(ValidationFailed):
    """The content is not a complete JPEG, PNG or WebP image, whatever the file's name is."""

    def __init__(self, reason: str = "must be a JPEG, PNG or WebP image") -> None:
        super().__init__(f"file: {reason}", invalid_params=[InvalidParam("file", reason)])


class ImageProcessorBusy(Unavailable):
    detail = "Too many images are being processed. Try again."


class ImageProcessor:
    """Renders images on its own threads; at most `waiting_max` uploads wait for one."""

    def __init__(self, waiting_max: int = WAITING_MAX) -> None:
        self._under_way_max = THREADS + waiting_max
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="images")
        self._under_way = 0

    async def render(self, content: bytes) -> Renditions:
        """Raise NotAnImage (422), and ImageProcessorBusy (503) when too many uploads wait."""
        if self._under_way >= self._under_way_max:
            raise ImageProcessorBusy
        self._under_way += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, render, content)
        finally:
            self._under_way -= 1

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


def render(content: bytes) -> Renditions:
    """Decode a JPEG, PNG or WebP by its content, and renders it upright and within the size limits. Raises
    NotAnImage.
    """
    try:
        with Image.open(io.BytesIO(content), formats=FORMATS) as sent:
            width, height = sent.size
            if width * height > PIXELS_MAX:
                raise NotAnImage(f"has more than {PIXELS_MAX // 1_000_000} million pixels")
            if scans_of(content) > SCANS_MAX:
                raise NotAnImage(f"has more than {SCANS_MAX} scans")
            # A JPEG is decoded at the half or quarter that is enough.
            sent.draft("RGB", (SIDE_MAX, SIDE_MAX))
            image = _in_8_bits(ImageOps.exif_transpose(sent))
            # Reduced before the conversion, which then visits few pixels.
            image.thumbnail((SIDE_MAX, SIDE_MAX))
            image = _in_srgb(image, sent.info.get("icc_profile", b""))
    except NotAnImage:
        raise
    except Exception as error:
        # The decoders raise many kinds of exceptions; all of them mean a broken file.
        raise NotAnImage("is not a complete JPEG, PNG or WebP image") from error
    whole = _webp(image)
    image.thumbnail((THUMBNAIL_SIDE_MAX, THUMBNAIL_SIDE_MAX))
    return Renditions(whole, _webp(image))


def _in_8_bits(image: Image.Image) -> Image.Image:
    """Return the image in 8 bits a channel, without a palette. A gray PNG may have 16 bits, which would be cut off as
    white.
    """
    if image.mode.startswith(("I", "F")):
        return image.convert("I").point(lambda value: value * (1 / 256)).convert("L")
    if image.has_transparency_data:
        return image.convert("RGBA")
    return image if image.mode in ("L", "RGB", "CMYK") else image.convert("RGB")


def _in_srgb(image: Image.Image, profile: bytes) -> Image.Image:
    """Return the image in the colors that a browser assumes without a profile: renditions have none.

    A profile that is huge, unreadable or of another kind of color than the image is ignored.
    """
    mode = "RGBA" if image.mode == "RGBA" else "RGB"
    if 0 < len(profile) <= PROFILE_BYTES_MAX:
        with suppress(ImageCms.PyCMSError, OSError):
            source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
            converted = ImageCms.profileToProfile(image, source, ImageCms.createProfile("sRGB"), outputMode=mode)
            if converted is not None:
                return converted
    return image.convert(mode)


def scans_of(content: bytes) -> int:
    """Return the number of scans of a JPEG, up to its end; 0 for other formats.

    Segments are skipped by their length, as decoders do, together with the thumbnails that cameras embed.
    """
    scans = 0
    marker = _MARKER.search(content, len(_JPEG)) if content.startswith(_JPEG) else None
    while marker is not None and marker[1] != _END and scans <= SCANS_MAX:
        scans += marker[1] == _SCAN
        length = int.from_bytes(content[marker.end() : marker.end() + 2])
        marker = _MARKER.search(content, marker.end() + length)
    return scans


def _webp(image: Image.Image) -> bytes:
    # A new image has no metadata: that of the upload is in `info`, which is not copied.
    drawn = Image.new(image.mode, image.size)
    drawn.paste(image)
    out = io.BytesIO()
    drawn.save(out, "WEBP", quality=QUALITY, method=4)
    return out.getvalue()
