"""The tokens of a session, and where they are stored."""

import base64
import json
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Tokens:
    """A session's tokens. A refresh token is valid once: store each new pair."""

    access_token: str
    refresh_token: str | None = None

    @property
    def user(self) -> str | None:
        """The user of the access token (`sub` of a JWT); None for another token. The server verifies it, the client
        does not.
        """
        try:
            payload = self.access_token.split(".")[1]
            return str(json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))["sub"])
        except (IndexError, KeyError, TypeError, ValueError):
            return None


class TokenStore(Protocol):
    """Stores the tokens of one session. It is read at each request, so that several processes can share a session."""

    def get(self) -> Tokens | None:
        """Return the last tokens; None without a session."""

    def set(self, tokens: Tokens | None) -> None:
        """Store new tokens. None: the session has ended."""


class MemoryTokenStore:
    """Keeps the tokens in memory."""

    def __init__(self, tokens: Tokens | None = None) -> None:
        self._tokens = tokens

    def get(self) -> Tokens | None:
        """Return the last tokens; None without a session."""
        return self._tokens

    def set(self, tokens: Tokens | None) -> None:
        """Store new tokens. None: the session has ended."""
        self._tokens = tokens
