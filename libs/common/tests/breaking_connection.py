"""A connection that breaks at its end, in the way that asyncpg reports as an internal error of its own."""

from typing import Any

import asyncpg


class BreakingConnection(asyncpg.Connection):  # type: ignore[misc]
    """Its server closes at the moment of ROLLBACK, or of the end of the session."""

    async def execute(self, query: str, *values: Any, timeout: float | None = None) -> str:
        if query == "ROLLBACK":
            raise asyncpg.InternalClientError("got result for unknown protocol state 3")
        status: str = await super().execute(query, *values, timeout=timeout)
        return status

    async def close(self, *, timeout: float | None = None) -> None:
        self.terminate()
        raise asyncpg.InternalClientError("got result for unknown protocol state 3")
