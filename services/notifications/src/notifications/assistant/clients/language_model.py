"""Any OpenAI-compatible language model: `POST {AI_BASE_URL}/chat/completions`, streamed and untrusted.

Every response is read within bounds: endless lines, missing line breaks, compressed bodies, JSON of any shape. The key
is sent in one header and appears in no error or log. The log shows code, type and message of an error object.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final

import httpx
import msgspec

from common.primitives.json_records import Json, JsonObject, decode_json
from notifications.assistant.domain.conversations import ChatMessage, Completion, Ending, Provider, TokenUsage, ToolCall
from notifications.assistant.domain.errors import AssistantUnavailable
from notifications.assistant.domain.model_errors import fault_in_stream, fault_of_status, read_model_error

# An event holds some words, or at most the arguments of one tool call.
LINE_BYTES_MAX: Final = 64 * 1024
# Some thousand tokens in events of some hundred bytes.
RESPONSE_BYTES_MAX: Final = 4 * 1024 * 1024
CALLS_MAX: Final = 8
ARGUMENTS_CHARACTERS_MAX: Final = 8_000
RETRY_AFTER_SECONDS_MAX: Final = 300
CONNECT_SECONDS_MAX: Final = 5.0
# An error object has some hundred bytes.
ERROR_BYTES_MAX: Final = 64 * 1024

_CLOSED: Final = "The assistant is out of order; this has to be mended by its operators."
_UNUSABLE: Final = "The assistant did not find an answer. Ask again, or in other words."

OnText = Callable[[str], Awaitable[None]]


class LanguageModel:
    """One model of one provider. `silence_seconds` limits the time between two pieces."""

    provider: Provider = "openai-compatible"

    def __init__(
        self,
        http: httpx.AsyncClient,
        base_url: str,
        key: str,
        model: str,
        *,
        tokens: Mapping[str, int],
        silence_seconds: float,
    ) -> None:
        """`tokens` is the length limit under the parameter's name, which differs between providers."""
        self._http, self._url = http, f"{base_url.rstrip('/')}/chat/completions"
        self._key, self._model, self._tokens = key, model, tokens
        # A compressed body could expand without bound.
        self._headers = {"Accept": "text/event-stream", "Accept-Encoding": "identity"}
        if key:
            self._headers["Authorization"] = f"Bearer {key}"
        self._timeout = httpx.Timeout(silence_seconds, connect=CONNECT_SECONDS_MAX, pool=CONNECT_SECONDS_MAX)

    async def complete(
        self, instructions: str, messages: Sequence[ChatMessage], tools: Sequence[JsonObject], on_text: OnText
    ) -> Completion:
        """Query the model and pass each piece of text to `on_text`. Raises AssistantUnavailable.

        Cancellation and a slow `on_text` reach the model.
        """
        body: JsonObject = {
            "model": self._model,
            "messages": [{"role": "system", "content": instructions}, *map(_message, messages)],
            **self._tokens,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if tools:
            body |= {"tools": list(tools), "tool_choice": "auto"}
        try:
            async with self._http.stream(
                "POST", self._url, json=body, headers=self._headers, timeout=self._timeout, follow_redirects=False
            ) as response:
                await _check(response, self._key)
                return await _read(response, _CompletionReader(on_text, self._key))
        except httpx.InvalidURL as error:
            raise AssistantUnavailable(type(error).__name__, _CLOSED, is_outage=True) from None
        except httpx.HTTPError as error:
            raise AssistantUnavailable(type(error).__name__, is_outage=True) from None


def _message(message: ChatMessage) -> JsonObject:
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.call_id, "content": message.text}
    body: JsonObject = {"role": message.role, "content": message.text}
    if message.calls:
        body["content"] = message.text or None
        body["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.calls
        ]
    return body


async def _check(response: httpx.Response, key: str) -> None:
    if response.status_code != httpx.codes.OK:
        error = read_model_error(await _error_body(response))
        raise fault_of_status(response.status_code, error, key, _retry_after_seconds(response))
    if not _is_plain(response):
        raise AssistantUnavailable("the answer is packed", _UNUSABLE)


async def _error_body(response: httpx.Response) -> Json:
    """Read the JSON of an error; None for a compressed, long or broken one."""
    if not _is_plain(response):
        return None
    parts, total = [], 0
    try:
        async for piece in response.aiter_raw():
            parts.append(piece)
            total += len(piece)
            if total > ERROR_BYTES_MAX:
                return None
    except httpx.HTTPError:
        return None
    return decode_json(b"".join(parts))


def _is_plain(response: httpx.Response) -> bool:
    encoding: str = response.headers.get("content-encoding", "identity")
    return encoding == "identity"


def _retry_after_seconds(response: httpx.Response) -> int:
    """Return the provider's Retry-After within limits."""
    given = response.headers.get("retry-after", "")
    return (
        max(1, min(int(given), RETRY_AFTER_SECONDS_MAX))
        if given.isascii() and given.isdigit() and len(given) < 9
        else 10
    )


async def _read(response: httpx.Response, reader: "_CompletionReader") -> Completion:
    if response.headers.get("content-type", "").partition(";")[0].strip().lower() == "application/json":
        # The provider does not stream.
        await reader.read_whole(await _whole(response))
        return reader.finish()
    buffer, total = b"", 0
    async for piece in response.aiter_raw():
        total += len(piece)
        if total > RESPONSE_BYTES_MAX:
            raise AssistantUnavailable("the answer has no end", _UNUSABLE)
        *lines, buffer = (buffer + piece).split(b"\n")
        for line in lines:
            if await reader.read_line(line.rstrip(b"\r")):
                return reader.finish()
        if len(buffer) > LINE_BYTES_MAX:
            raise AssistantUnavailable("a line has no end", _UNUSABLE)
    return reader.finish()


async def _whole(response: httpx.Response) -> bytes:
    parts, total = [], 0
    async for piece in response.aiter_raw():
        parts.append(piece)
        total += len(piece)
        if total > RESPONSE_BYTES_MAX:
            raise AssistantUnavailable("the answer has no end", _UNUSABLE)
    return b"".join(parts)


class _CompletionReader:
    """The state of one response."""

    def __init__(self, on_text: OnText, key: str) -> None:
        self._on_text, self._key = on_text, key
        self._calls: dict[int, list[str]] = {}
        self._usage: TokenUsage | None = None
        self._finish_reason = ""

    async def read_line(self, line: bytes) -> bool:
        """Return whether this line completes the response."""
        if len(line) > LINE_BYTES_MAX:
            raise AssistantUnavailable("a line is too long", _UNUSABLE)
        if not line.startswith(b"data:"):
            return False
        content = line[5:].strip()
        if content == b"[DONE]":
            self._finish_reason = self._finish_reason or "stop"
            return True
        if content:
            await self._read_chunk(_decoded(content), "delta")
        return False

    async def read_whole(self, body: bytes) -> None:
        """Read the body of an unstreamed response."""
        await self._read_chunk(_decoded(body), "message")
        self._finish_reason = self._finish_reason or "stop"

    async def _read_chunk(self, chunk: Json, part: str) -> None:
        if not isinstance(chunk, dict) or chunk.get("error"):
            raise fault_in_stream(read_model_error(chunk), self._key)
        usage = chunk.get("usage")
        if isinstance(usage, dict):
            self._usage = TokenUsage(_count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens")))
        choices = chunk.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, dict):
            return
        content = choice.get(part)
        if isinstance(content, dict):
            # A model's refusal is its own text, in place of the content.
            for text in (*_texts(content.get("content")), *_texts(content.get("refusal"))):
                await self._on_text(text)
            self._read_calls(content.get("tool_calls"))
        if isinstance(reason := choice.get("finish_reason"), str):
            self._finish_reason = reason

    def _read_calls(self, given: Json) -> None:
        for number, part in enumerate(given if isinstance(given, list) else ()):
            if not isinstance(part, dict):
                raise AssistantUnavailable("a call is not an object", _UNUSABLE)
            index = number if part.get("index") is None else part["index"]
            if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < CALLS_MAX:
                raise AssistantUnavailable("too many calls at once", _UNUSABLE)
            call = self._calls.setdefault(index, ["", "", ""])
            function = part.get("function")
            named = function if isinstance(function, dict) else {}
            for slot, piece in enumerate((part.get("id"), named.get("name"), named.get("arguments"))):
                if not isinstance(piece, str):
                    continue
                # Some providers repeat id and name with every piece; arguments arrive in pieces.
                call[slot] = call[slot] + piece if slot == 2 else call[slot] or piece
                if len(call[slot]) > (ARGUMENTS_CHARACTERS_MAX if slot == 2 else 200):
                    raise AssistantUnavailable("a call is too long", _UNUSABLE)

    def finish(self) -> Completion:
        """Return the completion. Raises AssistantUnavailable for an incomplete response."""
        if not self._finish_reason:
            raise AssistantUnavailable("the provider broke the answer off", _UNUSABLE)
        calls = tuple(
            ToolCall(call_id or f"call-{index}", name, arguments)
            for index, (call_id, name, arguments) in sorted(self._calls.items())
        )
        ending = _ENDINGS.get(self._finish_reason, "complete")
        return Completion(calls, self._usage, ending)


_ENDINGS: Final[Mapping[str, Ending]] = {"length": "cut", "content_filter": "filtered"}


def _texts(content: Json) -> list[str]:
    """Return the texts of a message: its content is a text, null, or a list of parts, of which some are no text."""
    parts = content if isinstance(content, list) else [content]
    found = (part.get("text") or part.get("refusal") if isinstance(part, dict) else part for part in parts)
    return [text for text in found if isinstance(text, str) and text]


def _decoded(content: bytes) -> Json:
    try:
        value: Json = msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise AssistantUnavailable("the answer is not JSON", _UNUSABLE) from None
    return value


def _count(value: Json) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1_000_000_000 else 0
