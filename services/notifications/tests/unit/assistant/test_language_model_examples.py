"""The documented shapes of a chat completion, whole and streamed, with what the assistant reads of each."""

import json

import httpx
import pytest

from notifications.assistant.clients.language_model import LanguageModel
from notifications.assistant.domain.conversations import ChatMessage, Completion, TokenUsage, ToolCall
from notifications.assistant.domain.errors import AssistantUnavailable
from testkit.providers.language_model.chat_completions import API, CHUNK, COMPLETION, FAULT
from testkit.providers.schemas import conform

USAGE = {
    "prompt_tokens": 19,
    "completion_tokens": 10,
    "total_tokens": 29,
    "completion_tokens_details": {"reasoning_tokens": 0},
}
CALL = {"id": "call_1", "type": "function", "function": {"name": "search_products", "arguments": '{"query": "rice"}'}}


def whole(message, finish="stop"):
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": finish}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_741_569_952,
        "model": "gpt-4o-mini-2024-07-18",
        "choices": [choice],
        "usage": USAGE,
        "service_tier": "default",
        "system_fingerprint": "fp_1",
    }


def piece(delta, finish=None, **more):
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1_694_268_190,
        "model": "gpt-4o-mini",
        "system_fingerprint": "fp_1",
        "choices": [] if delta is None else [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}],
        "usage": None,
        "obfuscation": "a1b2",
        **more,
    }


async def read(*contents, status=200, stream=True):
    """Yield the completion and the text, read through the client; the call conforms."""
    texts = []

    async def on_text(text):
        texts.append(text)

    async def body():
        for one in contents:
            yield f"data: {json.dumps(one)}\n\n".encode() if stream else json.dumps(one).encode()
        yield b"data: [DONE]\n\n" if stream else b""

    def respond(request: httpx.Request) -> httpx.Response:
        API.check_request("POST", "/chat/completions", json.loads(request.content))
        media = "text/event-stream" if stream else "application/json"
        return httpx.Response(status, content=body(), headers={"content-type": media})

    async with httpx.AsyncClient(transport=httpx.MockTransport(respond)) as http:
        model = LanguageModel(
            http,
            "https://ai.example/v1",
            "sk-1",
            "gpt-4o-mini",
            tokens={"max_completion_tokens": 800},
            silence_seconds=5,
        )
        messages = [
            ChatMessage("user", "rice?"),
            ChatMessage("assistant", "", (ToolCall("call_0", "search_products", "{}"),)),
            ChatMessage("tool", "[]", call_id="call_0"),
        ]
        return await model.complete("Be brief.", messages, (), on_text), "".join(texts)


COUNTED = TokenUsage(19, 10)
WHOLE = {
    "text": ({"role": "assistant", "content": "Hello!", "refusal": None, "annotations": []}, "stop",
    Completion((), COUNTED), "Hello!"),
    "refusal": ({"role": "assistant", "content": None, "refusal": "I cannot."}, "stop", Completion((), COUNTED),
    "I cannot."),
    "calls": (
        {"role": "assistant", "content": None, "refusal": None, "tool_calls": [CALL]},
        "tool_calls",
        Completion((ToolCall("call_1", "search_products", '{"query": "rice"}'),), COUNTED),
        "",
    ),
    "length": ({"role": "assistant", "content": "Hel", "refusal": None}, "length", Completion((), COUNTED, "cut"),
    "Hel"),
    "filter": ({"role": "assistant", "content": None, "refusal": None}, "content_filter",
    Completion((), COUNTED, "filtered"), ""),
}  # fmt: skip


@pytest.mark.parametrize("name", WHOLE)
async def test_a_whole_completion_has_one_reading(name: str) -> None:
    message, finish, completion, text = WHOLE[name]
    body = whole(message, finish)
    conform(body, COMPLETION, name)
    assert await read(body, stream=False) == (completion, text)


FIRST_CALL = {**CALL, "index": 0, "function": {"name": "search_products", "arguments": ""}}
STREAMED = {
    "text": (
        [{"role": "assistant", "content": "", "refusal": None}, {"content": "Hel"}, {"content": "lo"}],
        "stop",
        Completion((), COUNTED),
        "Hello",
    ),
    "refusal": (
        [{"role": "assistant", "content": None, "refusal": ""}, {"refusal": "No"}, {"refusal": "."}],
        "stop",
        Completion((), COUNTED),
        "No.",
    ),
    "calls": (
        [
            {"role": "assistant", "content": None, "tool_calls": [FIRST_CALL]},
            {"tool_calls": [{"index": 0, "function": {"arguments": '{"query": '}}]},
            {"tool_calls": [{"index": 0, "function": {"arguments": '"rice"}'}}]},
        ],
        "tool_calls",
        Completion((ToolCall("call_1", "search_products", '{"query": "rice"}'),), COUNTED),
        "",
    ),
    "length": ([{"content": "Hel"}], "length", Completion((), COUNTED, "cut"), "Hel"),
    "filter": ([], "content_filter", Completion((), COUNTED, "filtered"), ""),
}


@pytest.mark.parametrize("name", STREAMED)
async def test_a_streamed_completion_has_one_reading(name: str) -> None:
    deltas, finish, completion, text = STREAMED[name]
    pieces = [*map(piece, deltas), piece({}, finish), piece(None, usage=USAGE)]
    for one in pieces:
        conform(one, CHUNK, name)
    assert await read(*pieces) == (completion, text)


ERRORS = {
    401: ("invalid_api_key", "invalid_request_error", "Incorrect API key provided: sk-1."),
    403: ("unsupported_country_region_territory", "request_forbidden", "Country, region, or territory not supported"),
    404: ("model_not_found", "invalid_request_error", "The model does not exist or you do not have access to it."),
    429: ("insufficient_quota", "insufficient_quota", "You exceeded your current quota."),
    500: (None, "server_error", "The server had an error while processing your request."),
    503: (None, "service_unavailable_error", "The engine is currently overloaded."),
}


@pytest.mark.parametrize("status", ERRORS)
async def test_an_error_names_its_code_and_type(status: int) -> None:
    code, kind, message = ERRORS[status]
    body = {"error": {"code": code, "type": kind, "message": message, "param": None}}
    conform(body, FAULT, str(status))
    with pytest.raises(AssistantUnavailable) as fault:
        await read(body, status=status, stream=False)
    assert fault.value.is_outage
    assert kind in fault.value.reason
    assert "sk-1" not in fault.value.reason


async def test_an_error_inside_a_stream_names_its_code() -> None:
    body = {"error": {"code": "rate_limit_exceeded", "type": "tokens", "message": "x", "param": None}}
    with pytest.raises(AssistantUnavailable) as fault:
        await read(piece({"content": "Hel"}), body)
    assert "rate_limit_exceeded tokens" in fault.value.reason
