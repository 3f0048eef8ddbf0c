"""File names of images. The id of a product image is a digest of the product and the uploaded file, so a name never
changes its content.

**Images are re-encoded.** JPEG, PNG and WebP below 25 million pixels are decoded on two threads with a bounded queue
and stored as WebP without metadata. Files are written before the row that refers to them. A worker removes files that
no product, dispute or message refers to: a minute after a detachment, a day after an upload. Evidence of a dispute is
stored under `evidence-<id>` and the image of a message under `message-<id>`, names that no public endpoint serves.
"""

import hashlib
from uuid import UUID


def image_id_of(product_id: UUID, content: bytes) -> UUID:
    """Return the id of an uploaded file. The same file has one id for one product, and another id for another
    product.
    """
    digest = bytearray(hashlib.sha256(product_id.bytes + content).digest()[:16])
    # UUID version 8: an application-specific digest.
    digest[6] = digest[6] & 0x0F | 0x80
    digest[8] = digest[8] & 0x3F | 0x80
    return UUID(bytes=bytes(digest))


def image_name(image_id: UUID) -> str:
    return f"{image_id}.webp"


def thumbnail_name(image_id: UUID) -> str:
    return f"{image_id}-thumbnail.webp"


def evidence_name(evidence_id: UUID) -> str:
    """Return the file of an image about a dispute. No public endpoint serves a name with this prefix."""
    return f"evidence-{evidence_id}.webp"


def message_image_name(image_id: UUID) -> str:
    """Return the file of an image in a conversation. No public endpoint serves a name with this prefix."""
    return f"message-{image_id}.webp"


def files_of(image_id: UUID) -> tuple[str, ...]:
    """Every file that the store may hold under this id, of a product, a dispute or a message."""
    return image_name(image_id), thumbnail_name(image_id), evidence_name(image_id), message_image_name(image_id)
