"""File names of ticket images. Their folder has no public endpoint."""

from typing import Final
from uuid import UUID

FOLDER: Final = "support"


def image_name(attachment_id: UUID) -> str:
    return f"{attachment_id}.webp"


def files_of(attachment_id: UUID) -> tuple[str, ...]:
    """Return every file that the media store holds for one image."""
    return (image_name(attachment_id),)
