"""Conversations with the assistant, and the part of one that a language model receives (contract section 12)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal
from uuid import UUID

Role = Literal["user", "assistant", "tool"]
Ending = Literal["complete", "cut", "filtered"]
Provider = Literal["built-in", "openai-compatible"]

# A hundred turns; longer topics start a new conversation.
MESSAGES_MAX: Final = 200
# Older messages rarely matter for the current question.
HISTORY_MESSAGES_MAX: Final = 20
TITLE_CHARACTERS_MAX: Final = 80
HIDDEN: Final = "[hidden]"

_SECRET_NUMBER: Final = re.compile(
    r"\b(pin|otp|cvv|code|passcode|password)\b([^\d\n]{0,40}?)(?<!\d)\d(?:[ -]?\d){3,7}(?!\d)", re.IGNORECASE | re.ASCII
)
_CARD_NUMBER: Final = re.compile(r"(?<!\d)\d(?:[ -]?\d){12,18}(?!\d)", re.ASCII)
# Ids and numbers for people consist of digits too and are not secret.
_ID: Final = re.compile(
    r"(\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b|\b(?:CM|PO|CT|CP)-[0-9a-z]{4}-[0-9a-z]{4}\b)",
    re.IGNORECASE | re.ASCII,
)
_TOKEN: Final = re.compile(r"eyJ[\w-]{4,}\.[\w-]+\.[\w-]*|\bBearer\s+\S+", re.IGNORECASE | re.ASCII)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call of a model. `arguments` is unvalidated text."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message for a model. `call_id` names the call of a tool's message."""

    role: Role
    text: str
    calls: tuple[ToolCall, ...] = ()
    call_id: str = ""


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Token counts as the provider reports them."""

    prompt_tokens: int = 0
    completion_tokens: int = 0

    def plus(self, more: "TokenUsage | None") -> "TokenUsage":
        if more is None:
            return self
        return TokenUsage(self.prompt_tokens + more.prompt_tokens, self.completion_tokens + more.completion_tokens)


@dataclass(frozen=True, slots=True)
class Completion:
    """The end of a model's message. With `calls` it expects their results; `ending` is other than `complete` when the
    length limit cut it or the provider's content filter stopped it."""

    calls: tuple[ToolCall, ...] = ()
    usage: TokenUsage | None = None
    ending: Ending = "complete"


@dataclass(frozen=True, slots=True)
class Requester:
    """The user on whose behalf a tool reads. The token is sent to our own catalog and orders only."""

    user_id: UUID
    vendor_id: UUID | None
    token: str

    def __repr__(self) -> str:
        return f"Asker({self.user_id})"


def without_secrets(message: str) -> str:
    """Hide secrets in a message: numbers after "PIN", "code" or the like, card numbers and tokens.

    The message is stored and may be sent to an external provider.
    """
    parts = _ID.split(_TOKEN.sub(HIDDEN, message))
    return "".join(part if _ID.fullmatch(part) else _without_numbers(part) for part in parts)


def _without_numbers(text: str) -> str:
    text = _SECRET_NUMBER.sub(lambda found: f"{found[1]}{found[2]}{HIDDEN}", text)
    return _CARD_NUMBER.sub(HIDDEN, text)


def recent(history: Sequence[ChatMessage], characters_max: int) -> list[ChatMessage]:
    """Return the newest messages that fit, oldest first, starting with a user's message."""
    fitting: list[ChatMessage] = []
    remaining = characters_max
    for message in reversed(history[-HISTORY_MESSAGES_MAX:]):
        remaining -= len(message.text)
        if remaining < 0:
            break
        fitting.append(message)
    while fitting and fitting[-1].role != "user":
        fitting.pop()
    return fitting[::-1]


def title_of(message: str) -> str:
    """Return the title of a conversation: the beginning of its first message."""
    first = " ".join(message.split())
    return (
        first
        if len(first) <= TITLE_CHARACTERS_MAX
        else first[: TITLE_CHARACTERS_MAX - 1].rstrip() + "\N{HORIZONTAL ELLIPSIS}"
    )
