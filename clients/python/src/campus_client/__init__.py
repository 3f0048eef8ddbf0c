"""A typed client of the Campus Marketplace API. `errors` and `models` hold what it raises and what it says."""

from campus_client import errors, models
from campus_client.answers import Page, each
from campus_client.campus import Campus
from campus_client.connection import Tokens
from campus_client.events import ServerSentEvent
from campus_client.refused import Refused

__all__ = ["Campus", "Page", "Refused", "ServerSentEvent", "Tokens", "each", "errors", "models"]
