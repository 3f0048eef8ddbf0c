"""The assistant without a provider, in the place of a language model: it asks the same tools and is held to the same rules."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from notifications.domain import built_in
from notifications.domain.conversations import Line, Spoken


class BuiltIn:
    """Deterministic: the same question and the same answers of the tools make the same reply."""

    provider = "built-in"

    async def speak(
        self,
        instructions: str,
        lines: Sequence[Line],
        tools: Sequence[Mapping[str, Any]],
        hear: Callable[[str], Awaitable[None]],
    ) -> Spoken:
        """Says in the first reply of a conversation what it is, then looks up, then tells."""
        asked = max(place for place, line in enumerate(lines) if line.role == "user")
        since = lines[asked + 1 :]
        if not since:
            if not any(line.role == "assistant" for line in lines):
                await hear(built_in.INTRODUCTION + "\n\n")
            calls = built_in.requested_calls(lines[asked].text)
            if calls and tools:
                return Spoken(calls)
            await hear(built_in.ABILITIES)
            return Spoken()
        for line in built_in.told(since[0].calls, since[1:]).splitlines(keepends=True):
            await hear(line)
        return Spoken()
