"""References to images of products, disputes and messages, for the image cleanup (`common.media.cleanup`)."""

from typing import Final

from common.media.cleanup import MediaReferences
from orders.domain.images import files_of

# Orders show no images. A removed product keeps its images as evidence for disputes.
MEDIA: Final = MediaReferences(
    named=(
        "(EXISTS (SELECT FROM products WHERE products.id = leaving.owner_id AND products.images ? "
        "leaving.picture_id::text) "
        "OR EXISTS (SELECT FROM dispute_evidence WHERE dispute_evidence.id = leaving.picture_id) "
        "OR EXISTS (SELECT FROM conversation_images AS image WHERE image.id = leaving.picture_id "
        "AND image.message_id IS NOT NULL))"
    ),
    files=files_of,
)
