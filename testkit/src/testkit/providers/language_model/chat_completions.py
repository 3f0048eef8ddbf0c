"""Create a chat completion: the request, the whole response, the pieces of a stream, and the error."""

from typing import Final

from testkit.providers.api import Api
from testkit.providers.operations import Operation
from testkit.providers.schemas import ANYTHING, FLAG, OBJECT, TEXT, WHOLE, choice, nullable, record, rows

FINISH_REASONS: Final = ("stop", "length", "tool_calls", "content_filter", "function_call")
FUNCTION: Final = record({"name arguments": TEXT})
CALL: Final = record({"id": TEXT, "type": choice("function"), "function": FUNCTION})
TOOL: Final = record(
    {"type": choice("function"), "function": record({"name description?": TEXT, "parameters": OBJECT})}, closed=True
)
REQUEST_MESSAGE: Final = {
    "anyOf": [
        record({"role": choice("system", "developer", "user"), "content": TEXT}, closed=True),
        record(
            {"role": choice("assistant"), "content?": nullable(TEXT), "tool_calls?": {**rows(CALL), "minItems": 1}},
            closed=True,
        ),
        record({"role": choice("tool"), "content tool_call_id": TEXT}, closed=True),
    ]
}
REQUEST: Final = {
    **record(
        {
            "model": TEXT,
            "messages": {**rows(REQUEST_MESSAGE), "minItems": 1},
            "max_completion_tokens? max_tokens?": WHOLE,
            "stream?": FLAG,
            "stream_options?": record({"include_usage": FLAG}, closed=True),
            "tools?": rows(TOOL),
            "tool_choice?": choice("none", "auto", "required"),
        },
        closed=True,
    ),
    # `max_tokens` is the older name of the same limit.
    "not": {"required": ["max_tokens", "max_completion_tokens"]},
}
USAGE: Final = record({"prompt_tokens completion_tokens total_tokens": WHOLE})
MESSAGE: Final = record(
    {
        "role": choice("assistant"),
        "content refusal": nullable(TEXT),
        "tool_calls?": rows(CALL),
        "annotations?": rows(ANYTHING),
    }
)
COMPLETION: Final = record(
    {
        "id model": TEXT,
        "object": choice("chat.completion"),
        "created": WHOLE,
        "choices": rows(
            record(
                {
                    "index": WHOLE,
                    "message": MESSAGE,
                    "finish_reason": choice(*FINISH_REASONS),
                    "logprobs": nullable(OBJECT),
                }
            )
        ),
        "usage?": USAGE,
        "service_tier?": nullable(TEXT),
    }
)
CALL_PIECE: Final = record(
    {"index": WHOLE, "id?": TEXT, "type?": choice("function"), "function?": record({"name? arguments?": TEXT})}
)
DELTA: Final = record(
    {
        "role?": choice("developer", "system", "user", "assistant", "tool"),
        "content? refusal?": nullable(TEXT),
        "tool_calls?": rows(CALL_PIECE),
    }
)
CHUNK: Final = record(
    {
        "id model obfuscation?": TEXT,
        "object": choice("chat.completion.chunk"),
        "created": WHOLE,
        "choices": rows(
            record(
                {
                    "index": WHOLE,
                    "delta": DELTA,
                    "finish_reason": nullable(choice(*FINISH_REASONS)),
                    "logprobs?": ANYTHING,
                }
            )
        ),
        # Null in every chunk but the last, whose choices are empty.
        "usage?": nullable(USAGE),
    }
)
FAULT: Final = record({"error": record({"code param": nullable(TEXT), "message type": TEXT})})
API: Final = Api(
    "github.com/openai/openai-openapi, openapi.yaml: createChatCompletion",
    (Operation("POST", "/chat/completions", {200: COMPLETION}, body=REQUEST),),
    FAULT,
)
