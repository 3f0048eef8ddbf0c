"""Pictures of products by name. An id is made of the product and of the file that was sent, so that a name has one content for ever."""

import hashlib
from uuid import UUID


def image_id_of(product_id: UUID, content: bytes) -> UUID:
    """The same file sent again to the same product is the same picture; no two products share one."""
    digest = bytearray(hashlib.sha256(product_id.bytes + content).digest()[:16])
    # A UUID of version 8: made by rules of our own.
    digest[6] = digest[6] & 0x0F | 0x80
    digest[8] = digest[8] & 0x3F | 0x80
    return UUID(bytes=bytes(digest))


def image_name(image_id: UUID) -> str:
    return f"{image_id}.webp"


def thumbnail_name(image_id: UUID) -> str:
    return f"{image_id}-thumbnail.webp"


def files_of(image_id: UUID) -> tuple[str, str]:
    """All that the store holds of one picture."""
    return image_name(image_id), thumbnail_name(image_id)
