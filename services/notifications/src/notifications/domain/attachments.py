"""Pictures of tickets by name. Their store is a folder of its own, which no public door reads."""

from typing import Final
from uuid import UUID

FOLDER: Final = "support"


def image_name(attachment_id: UUID) -> str:
    return f"{attachment_id}.webp"


def files_of(attachment_id: UUID) -> tuple[str, ...]:
    """All that the store holds of one picture."""
    return (image_name(attachment_id),)
