"""Notifications of the feed."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

FEED_START: Final = UUID(int=0)
"""The id before the first notification of every feed: a stream may resume after it."""


@dataclass(frozen=True, slots=True)
class FeedEntry:
    """The title and body that the app shows; they contain no secret."""

    title: str
    body: str


class FeedItem(NamedTuple):
    """A notification of a user's feed. `position` counts the user's notifications from 1.

    `subject` is in its public form; None for a notification of an earlier version.
    """

    id: UUID
    template: str
    title: str
    body: str
    created_at: datetime
    read_at: datetime | None
    position: int
    subject: Mapping[str, str] | None
