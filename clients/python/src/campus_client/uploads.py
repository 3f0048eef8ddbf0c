"""Images as multipart bodies. Equal images have equal bodies, so that an idempotency key covers a repetition."""

import hashlib
from pathlib import Path
from typing import BinaryIO, Final

from campus_client.errors import UploadError

Upload = bytes | Path | BinaryIO
"""An image: its bytes, its file, or a file opened for reading bytes."""

IMAGE_BYTES_MAX: Final = 5 * 1024 * 1024
_WEBP_LENGTH: Final = 12


def multipart_of(upload: Upload) -> tuple[bytes, str]:
    """Return the body with the image as its field `file`, and the body's media type.

    Raises:
        UploadError: not a JPEG, PNG or WebP, or larger than 5 MiB.
    """
    image = _bytes_of(upload)
    if len(image) > IMAGE_BYTES_MAX:
        raise UploadError(f"The image has {len(image):,} bytes; the maximum is {IMAGE_BYTES_MAX:,} (5 MiB).")
    boundary = hashlib.sha256(image).hexdigest()[:40]
    head = (
        f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="image"\r\n'
        f"Content-Type: {_media_type(image)}\r\n\r\n"
    )
    return head.encode() + image + f"\r\n--{boundary}--\r\n".encode(), f"multipart/form-data; boundary={boundary}"


def _bytes_of(upload: Upload) -> bytes:
    if isinstance(upload, bytes):
        return upload
    return upload.read_bytes() if isinstance(upload, Path) else upload.read()


def _media_type(image: bytes) -> str:
    """Return the type by the content: a name can be wrong."""
    if image.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if image.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if len(image) >= _WEBP_LENGTH and image[:4] == b"RIFF" and image[8:_WEBP_LENGTH] == b"WEBP":
        return "image/webp"
    raise UploadError("The file is not an image in a form that the API accepts: JPEG, PNG or WebP.")
