"""The built-in assistant with the interface of a language model, with the same tools and limits."""

from collections.abc import Awaitable, Callable, Sequence

from common.primitives.json_records import JsonObject
from notifications.assistant.domain import built_in_assistant
from notifications.assistant.domain.conversations import ChatMessage, Completion, Provider


class BuiltIn:
    """Deterministic: the same question with the same tool results gives the same reply."""

    provider: Provider = "built-in"

    async def complete(
        self,
        instructions: str,
        messages: Sequence[ChatMessage],
        tools: Sequence[JsonObject],
        on_text: Callable[[str], Awaitable[None]],
    ) -> Completion:
        """Introduce itself in the first reply of a conversation, then request tool calls, then reply from their
        results.
        """
        question = max(index for index, message in enumerate(messages) if message.role == "user")
        later = messages[question + 1 :]
        if not later:
            if not any(message.role == "assistant" for message in messages):
                await on_text(built_in_assistant.INTRODUCTION + "\n\n")
            calls = built_in_assistant.requested_calls(messages[question].text)
            if calls and tools:
                return Completion(calls)
            await on_text(built_in_assistant.ABILITIES)
            return Completion()
        for line in built_in_assistant.compose_reply(later[0].calls, later[1:]).splitlines(keepends=True):
            await on_text(line)
        return Completion()
