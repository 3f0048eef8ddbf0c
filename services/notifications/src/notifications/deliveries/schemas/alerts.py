"""Request models of alerts (contract section 12)."""

from typing import Annotated
from uuid import UUID

from pydantic import AfterValidator, Field

from common.web.schemas import RequestBody

NOTE_MAX = 2000


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be blank")
    return text.strip()


class AssignAlertRequest(RequestBody):
    """A member of staff who may acknowledge alerts, or null to remove the assignee."""

    assignee_id: UUID | None


class DiscardLostMessagesRequest(RequestBody):
    """Why the messages are not needed; it stays with the alert."""

    reason: Annotated[str, Field(min_length=1, max_length=NOTE_MAX), AfterValidator(_not_blank)]


class AddAlertNoteRequest(RequestBody):
    text: Annotated[str, Field(min_length=1, max_length=NOTE_MAX), AfterValidator(_not_blank)]
