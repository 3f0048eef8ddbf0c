"""Delay of logins before the password check."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

# Each delayed login holds a request and one of the gateway's 256 connections. Beyond this bound, logins are not
# delayed; password hashing (60 a second) limits the rate.
WAITING_MAX: Final = 128


class LoginThrottle:
    """Delay logins, a bounded number at a time. Tests pass their own `pause`, a function of seconds."""

    def __init__(self, pause: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self.pause = pause
        self._waiting = 0

    async def wait(self, seconds: float) -> None:
        """Wait so many seconds; return at once when too many logins are delayed already."""
        if seconds <= 0 or self._waiting >= WAITING_MAX:
            return
        self._waiting += 1
        try:
            await self.pause(seconds)
        finally:
            self._waiting -= 1
