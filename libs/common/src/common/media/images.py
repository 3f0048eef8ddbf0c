"""Pictures as they are shown, made from what people send. Nothing of the sent file is kept but what is seen.

Decoding and encoding release the interpreter's lock, so threads do the work; few, because each holds a whole picture.
"""

import asyncio
import io
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from PIL import Image, ImageOps

from common.primitives.problems import InvalidParam, Unavailable, ValidationFailed

FORMATS: Final = ("JPEG", "PNG", "WEBP")
# A camera's 24 million pixels pass; as four bytes each they are 100 MB while the picture is made smaller.
PIXELS_MAX: Final = 25_000_000
# A progressive JPEG is drawn in ten scans, by odd programs in a few more. Each walks over every pixel, and forty bytes are one: a
# file within all other bounds would keep a thread for hours.
SCANS_MAX: Final = 40
SIDE_MAX: Final = 1_600
THUMBNAIL_SIDE_MAX: Final = 320
QUALITY: Final = 82
# Two at work, because the machine has two cores; what waits holds 5 MiB each.
THREADS: Final = 2
WAITING_MAX: Final = 8

# Pillow would warn of large pictures and refuse very large ones at bounds of its own; ours is lower, and is judged before a pixel is read.
Image.MAX_IMAGE_PIXELS = None


@dataclass(frozen=True, slots=True)
class Renditions:
    """The two forms of a picture, as WebP."""

    image: bytes
    thumbnail: bytes


_JPEG: Final = b"\xff\xd8"
# What stands between two markers holds no such byte pair: a 0xFF of the picture itself is followed by 0, restarts are no segments.
_MARKER: Final = re.compile(rb"\xff([^\x00\x01\xd0-\xd8\xff])")
_SCAN, _END = b"\xda", b"\xd9"


class NotAnImage(ValidationFailed):
    """What was sent is no whole JPEG, PNG or WebP picture, whatever its name says."""

    def __init__(self, reason: str = "must be a JPEG, PNG or WebP picture") -> None:
        super().__init__(f"file: {reason}", invalid_params=[InvalidParam("file", reason)])


class ImageProcessorBusy(Unavailable):
    detail = "Too many pictures are being made at this moment. Try again."


class ImageProcessor:
    """Makes pictures on threads of its own."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="pictures")
        self._under_way = 0

    async def render(self, content: bytes) -> Renditions:
        """Raises NotAPicture (422), and StudioBusy (503) when too many wait already."""
        if self._under_way >= THREADS + WAITING_MAX:
            raise ImageProcessorBusy
        self._under_way += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, render, content)
        finally:
            self._under_way -= 1

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


def render(content: bytes) -> Renditions:
    """Reads a JPEG, PNG or WebP by its content, and draws it anew, upright and small enough. Raises NotAPicture."""
    try:
        with Image.open(io.BytesIO(content), formats=FORMATS) as sent:
            width, height = sent.size
            if width * height > PIXELS_MAX:
                raise NotAnImage(f"has more than {PIXELS_MAX // 1_000_000} million pixels")
            if scans_of(content) > SCANS_MAX:
                raise NotAnImage(f"has more than {SCANS_MAX} scans")
            # A JPEG is decoded at the half or quarter that is enough.
            sent.draft("RGB", (SIDE_MAX, SIDE_MAX))
            image = ImageOps.exif_transpose(sent)
            image = image.convert("RGBA" if image.has_transparency_data else "RGB")
    except NotAnImage:
        raise
    except Exception as error:
        # Whatever the decoders stumble over, in whatever of their many ways, is the file's fault.
        raise NotAnImage("is not a whole JPEG, PNG or WebP picture") from error
    image.thumbnail((SIDE_MAX, SIDE_MAX))
    whole = _webp(image)
    image.thumbnail((THUMBNAIL_SIDE_MAX, THUMBNAIL_SIDE_MAX))
    return Renditions(whole, _webp(image))


def scans_of(content: bytes) -> int:
    """How often a decoder would walk over the picture: the scans of a JPEG, up to its end; 0 for what is none.

    Read as decoders read it: what a segment says to be its content is skipped, with the small pictures that cameras put there.
    """
    scans = 0
    marker = _MARKER.search(content, len(_JPEG)) if content.startswith(_JPEG) else None
    while marker is not None and marker[1] != _END and scans <= SCANS_MAX:
        scans += marker[1] == _SCAN
        length = int.from_bytes(content[marker.end() : marker.end() + 2])
        marker = _MARKER.search(content, marker.end() + length)
    return scans


def _webp(image: Image.Image) -> bytes:
    # Metadata is written only when it is asked for; what came with the picture hangs on `info`, which is not carried over.
    drawn = Image.new(image.mode, image.size)
    drawn.paste(image)
    out = io.BytesIO()
    drawn.save(out, "WEBP", quality=QUALITY, method=4)
    return out.getvalue()
