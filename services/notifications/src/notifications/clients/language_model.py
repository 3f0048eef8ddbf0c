"""Any OpenAI-compatible language model: `POST {AI_BASE_URL}/chat/completions`, read as it comes, and never believed.

Whatever the other side sends (endless lines, no line breaks, packed bodies, JSON of any shape), what is held of it is bounded.
The key goes into one header of this request; neither it nor a word of the answer stands in an error or in the log.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

import httpx
import msgspec

from notifications.domain.conversations import Line, Spoken, ToolCall, Used
from notifications.domain.errors import AssistantUnavailable

# One event of a stream holds some words; whole arguments of a tool come in one at most.
LINE_BYTES_MAX: Final = 64 * 1024
# Some thousand tokens, each in an event of some hundred bytes.
ANSWER_BYTES_MAX: Final = 4 * 1024 * 1024
CALLS_MAX: Final = 8
ARGUMENTS_CHARACTERS_MAX: Final = 8_000
RETRY_AFTER_SECONDS_MAX: Final = 300
CONNECT_SECONDS_MAX: Final = 5.0

_BUSY: Final = "The assistant has too many questions at the moment. Try again later."
_CLOSED: Final = "The assistant is out of order; this has to be mended by its operators."
_UNUSABLE: Final = "The assistant did not find an answer. Ask again, or in other words."

OnToken = Callable[[str], Awaitable[None]]


class LanguageModel:
    """One model of one company. `silence_seconds`: how long it may say nothing."""

    provider = "openai-compatible"

    def __init__(
        self, http: httpx.AsyncClient, base_url: str, key: str, model: str, *, tokens_max: int, silence_seconds: float
    ) -> None:
        self._http, self._url, self._model, self._tokens_max = (
            http,
            f"{base_url.rstrip('/')}/chat/completions",
            model,
            tokens_max,
        )
        # Packed bytes could unfold to any size.
        self._headers = {"Accept": "text/event-stream", "Accept-Encoding": "identity"}
        if key:
            self._headers["Authorization"] = f"Bearer {key}"
        self._timeout = httpx.Timeout(silence_seconds, connect=CONNECT_SECONDS_MAX, pool=CONNECT_SECONDS_MAX)

    async def speak(
        self, instructions: str, lines: Sequence[Line], tools: Sequence[Mapping[str, Any]], hear: OnToken
    ) -> Spoken:
        """Asks the model; `hear` is given each piece of text as it comes. Raises AssistantAway.

        Whoever cancels this, or is slow to hear, cancels or slows down the model.
        """
        body: dict[str, Any] = {
            "model": self._model,
            "messages": [{"role": "system", "content": instructions}, *map(_message, lines)],
            "max_tokens": self._tokens_max,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if tools:
            body |= {"tools": list(tools), "tool_choice": "auto"}
        try:
            async with self._http.stream(
                "POST", self._url, json=body, headers=self._headers, timeout=self._timeout, follow_redirects=False
            ) as answer:
                _check(answer)
                return await _read(answer, hear)
        except httpx.InvalidURL as error:
            raise AssistantUnavailable(type(error).__name__, _CLOSED, is_outage=True) from None
        except httpx.HTTPError as error:
            raise AssistantUnavailable(type(error).__name__, is_outage=True) from None


def _message(line: Line) -> dict[str, Any]:
    if line.role == "tool":
        return {"role": "tool", "tool_call_id": line.call_id, "content": line.text}
    message: dict[str, Any] = {"role": line.role, "content": line.text}
    if line.calls:
        message["content"] = line.text or None
        message["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in line.calls
        ]
    return message


def _check(answer: httpx.Response) -> None:
    status = answer.status_code
    if status in (401, 403):
        raise AssistantUnavailable(
            f"the provider refused our key ({status})", _CLOSED, retry_after_seconds=60, is_outage=True
        )
    if status == 429:
        raise AssistantUnavailable(
            "the provider has no capacity for us (429)", _BUSY, retry_after_seconds=_wait_of(answer), is_outage=True
        )
    if status == 404:
        raise AssistantUnavailable(
            "the provider knows no such model or path", _CLOSED, retry_after_seconds=60, is_outage=True
        )
    if status in (400, 413, 422):
        # Perhaps only this question: some providers refuse by its words.
        raise AssistantUnavailable(f"the provider refused the request ({status})", _UNUSABLE)
    if status != 200:
        raise AssistantUnavailable(
            f"the provider answered {status}", retry_after_seconds=_wait_of(answer), is_outage=True
        )
    if answer.headers.get("content-encoding", "identity") != "identity":
        raise AssistantUnavailable("the answer is packed", _UNUSABLE)


def _wait_of(answer: httpx.Response) -> int:
    """Its own Retry-After within reason."""
    told = answer.headers.get("retry-after", "")
    return (
        max(1, min(int(told), RETRY_AFTER_SECONDS_MAX)) if told.isascii() and told.isdigit() and len(told) < 9 else 10
    )


async def _read(answer: httpx.Response, hear: OnToken) -> Spoken:
    reading = _Reading(hear)
    if answer.headers.get("content-type", "").partition(";")[0].strip().lower() == "application/json":
        # It knows no streams, and said everything at once.
        await reading.read_whole(await _whole(answer))
        return reading.end()
    waiting, total = b"", 0
    async for piece in answer.aiter_raw():
        total += len(piece)
        if total > ANSWER_BYTES_MAX:
            raise AssistantUnavailable("the answer has no end", _UNUSABLE)
        *lines, waiting = (waiting + piece).split(b"\n")
        for line in lines:
            if await reading.read_line(line.rstrip(b"\r")):
                return reading.end()
        if len(waiting) > LINE_BYTES_MAX:
            raise AssistantUnavailable("a line has no end", _UNUSABLE)
    return reading.end()


async def _whole(answer: httpx.Response) -> bytes:
    parts, total = [], 0
    async for piece in answer.aiter_raw():
        parts.append(piece)
        total += len(piece)
        if total > ANSWER_BYTES_MAX:
            raise AssistantUnavailable("the answer has no end", _UNUSABLE)
    return b"".join(parts)


class _Reading:
    """What was read of one answer so far."""

    def __init__(self, hear: OnToken) -> None:
        self._hear = hear
        self._calls: dict[int, list[str]] = {}
        self._used: Used | None = None
        self._ended = ""

    async def read_line(self, line: bytes) -> bool:
        """Whether this line says that the answer is complete."""
        if len(line) > LINE_BYTES_MAX:
            raise AssistantUnavailable("a line is too long", _UNUSABLE)
        if not line.startswith(b"data:"):
            return False
        content = line[5:].strip()
        if content == b"[DONE]":
            self._ended = self._ended or "stop"
            return True
        if content:
            await self._take(_decoded(content), "delta")
        return False

    async def read_whole(self, body: bytes) -> None:
        """The body of an answer that is no stream."""
        await self._take(_decoded(body), "message")
        self._ended = self._ended or "stop"

    async def _take(self, chunk: Any, part: str) -> None:
        if not isinstance(chunk, dict) or chunk.get("error"):
            raise AssistantUnavailable("the provider broke the answer off", _UNUSABLE)
        usage = chunk.get("usage")
        if isinstance(usage, dict):
            self._used = Used(_count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens")))
        choices = chunk.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, dict):
            return
        said = choice.get(part)
        if isinstance(said, dict):
            if isinstance(text := said.get("content"), str) and text:
                await self._hear(text)
            self._read_calls(said.get("tool_calls"))
        if isinstance(reason := choice.get("finish_reason"), str):
            self._ended = reason

    def _read_calls(self, offered: Any) -> None:
        for place, part in enumerate(offered if isinstance(offered, list) else ()):
            if not isinstance(part, dict):
                raise AssistantUnavailable("a call is not an object", _UNUSABLE)
            index = part.get("index", place)
            if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < CALLS_MAX:
                raise AssistantUnavailable("too many calls at once", _UNUSABLE)
            call = self._calls.setdefault(index, ["", "", ""])
            function = part.get("function")
            named = function if isinstance(function, dict) else {}
            for slot, piece in enumerate((part.get("id"), named.get("name"), named.get("arguments"))):
                if not isinstance(piece, str):
                    continue
                # Id and name come once, though some repeat them with every piece; arguments come in pieces.
                call[slot] = call[slot] + piece if slot == 2 else call[slot] or piece
                if len(call[slot]) > (ARGUMENTS_CHARACTERS_MAX if slot == 2 else 200):
                    raise AssistantUnavailable("a call is too long", _UNUSABLE)

    def end(self) -> Spoken:
        """The answer; raises AssistantAway when the provider stopped in the middle of it."""
        if not self._ended:
            raise AssistantUnavailable("the provider broke the answer off", _UNUSABLE)
        calls = tuple(
            ToolCall(call_id or f"call-{index}", name, arguments)
            for index, (call_id, name, arguments) in sorted(self._calls.items())
        )
        return Spoken(calls, self._used, is_cut=self._ended == "length")


def _decoded(content: bytes) -> Any:
    try:
        return msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise AssistantUnavailable("the answer is not JSON", _UNUSABLE) from None


def _count(told: Any) -> int:
    return told if isinstance(told, int) and not isinstance(told, bool) and 0 <= told < 1_000_000_000 else 0
