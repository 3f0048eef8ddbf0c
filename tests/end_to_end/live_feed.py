"""A user's feed, followed live through the gateway."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from operations.journey import Marketplace, SignedInUser

# A log-out is effective everywhere within this time (contract section 5).
EVERYWHERE_SECONDS_MAX = 60


@asynccontextmanager
async def following(market: Marketplace, user: SignedInUser, last: str | None = None) -> AsyncIterator[Any]:
    """`await next_entry()` gives the next notification of the stream; StopAsyncIteration at its end."""
    headers = {**user.headers, **({"Last-Event-ID": last} if last else {})}
    async with market.http.stream("GET", "/api/notifications/stream", headers=headers) as response:
        assert response.status_code == 200
        assert response.headers["content-type"].startswith("text/event-stream")
        lines = response.aiter_lines()

        async def next_entry() -> Any:
            async with asyncio.timeout(EVERYWHERE_SECONDS_MAX):
                while True:
                    line = await anext(lines)
                    if line.startswith("data: "):
                        return json.loads(line.removeprefix("data: "))

        # The first line confirms that the stream has started: later notifications arrive on it.
        assert (await anext(lines)).startswith("retry:")
        yield next_entry
