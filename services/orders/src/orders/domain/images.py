"""Names of product images. An id is a digest of the product and the uploaded file, so a name never changes its content."""

import hashlib
from uuid import UUID


def image_id_of(product_id: UUID, content: bytes) -> UUID:
    """The id of an uploaded file. The same file has one id for one product, and another id for another product."""
    digest = bytearray(hashlib.sha256(product_id.bytes + content).digest()[:16])
    # UUID version 8: an application-specific digest.
    digest[6] = digest[6] & 0x0F | 0x80
    digest[8] = digest[8] & 0x3F | 0x80
    return UUID(bytes=bytes(digest))


def image_name(image_id: UUID) -> str:
    return f"{image_id}.webp"


def thumbnail_name(image_id: UUID) -> str:
    return f"{image_id}-thumbnail.webp"


def files_of(image_id: UUID) -> tuple[str, str]:
    """All stored files of one image."""
    return image_name(image_id), thumbnail_name(image_id)
