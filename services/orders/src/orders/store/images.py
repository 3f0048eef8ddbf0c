"""Which pictures are shown: SQL for the list of those that leave (`common.media.cleanup`)."""

from typing import Final

from common.media.cleanup import MediaReferences
from orders.domain.images import files_of

# Orders show no picture, only the name of what was bought; a removed product keeps its own, which a dispute may ask for.
MEDIA: Final = MediaReferences(
    named="EXISTS (SELECT FROM products WHERE products.id = leaving.owner_id AND products.images ? leaving.picture_id::text)",
    files=files_of,
)
