"""Logins that wait before their password is looked at."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

# Each holds a request and a connection of the gateway, which has 256 for us. Beyond it nobody waits, and nobody is refused:
# then hashing, sixty a second for everybody together, is the brake.
WAITING_MAX: Final = 128


class LoginThrottle:
    """Waits, but never with too many at once. Tests put their own `pause`, which takes seconds."""

    def __init__(self, pause: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self.pause = pause
        self._waiting = 0

    async def wait(self, seconds: float) -> None:
        """Comes back after so many seconds, or at once when there is no room to wait."""
        if seconds <= 0 or self._waiting >= WAITING_MAX:
            return
        self._waiting += 1
        try:
            await self.pause(seconds)
        finally:
            self._waiting -= 1
