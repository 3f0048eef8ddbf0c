"""A typed client of the Campus Marketplace API: `Campus` (blocking) and `AsyncCampus`."""

from typing import TYPE_CHECKING

from campus_client import errors, models
from campus_client.errors import ApiError, CampusError, TransportError
from campus_client.events import Event
from campus_client.session import Response
from campus_client.tokens import Tokens, TokenStore
from campus_client.webhooks import WebhookEvent, verify_webhook

if TYPE_CHECKING:
    from campus_client.async_campus import AsyncCampus
    from campus_client.campus import Campus

__all__ = [
    "ApiError",
    "AsyncCampus",
    "Campus",
    "CampusError",
    "Event",
    "Response",
    "TokenStore",
    "Tokens",
    "TransportError",
    "WebhookEvent",
    "errors",
    "models",
    "verify_webhook",
]


def __getattr__(name: str) -> object:
    """Return a program imports one of the two clients: the other one's resources are not loaded."""
    if name == "Campus":
        from campus_client.campus import Campus

        return Campus
    if name == "AsyncCampus":
        from campus_client.async_campus import AsyncCampus

        return AsyncCampus
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
