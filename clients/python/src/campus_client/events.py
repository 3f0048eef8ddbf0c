"""Server-sent events, read line by line."""

from collections.abc import AsyncIterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ServerSentEvent:
    """One event of a stream; `id` is what `last_event_id` resumes after."""

    event: str
    text: str
    id: str = ""


async def events_of(lines: AsyncIterator[str]) -> AsyncIterator[ServerSentEvent]:
    """The events of a stream; comments, which keep a connection alive, are passed over."""
    kind, last, said = "message", "", list[str]()
    async for line in lines:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if not line:
            if said:
                yield ServerSentEvent(kind, "\n".join(said), last)
            kind, said = "message", []
        elif name == "event":
            kind = value
        elif name == "data":
            said.append(value)
        elif name == "id":
            last = value
