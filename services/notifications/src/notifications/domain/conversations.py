"""Conversations with the assistant: what is said in them, and how much of it a language model is shown (contract section 12)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal
from uuid import UUID

Role = Literal["user", "assistant", "tool"]

# A hundred turns: whoever says more has another question, which is better asked without the old ones.
MESSAGES_MAX: Final = 200
# Older messages are seldom what a question is about, whatever their length.
HISTORY_MESSAGES_MAX: Final = 20
TITLE_CHARACTERS_MAX: Final = 80
HIDDEN: Final = "[hidden]"

_SECRET_NUMBER: Final = re.compile(
    r"\b(pin|otp|cvv|code|passcode|password)\b([^\d\n]{0,40}?)(?<!\d)\d(?:[ -]?\d){3,7}(?!\d)", re.IGNORECASE | re.ASCII
)
_CARD_NUMBER: Final = re.compile(r"(?<!\d)\d(?:[ -]?\d){12,18}(?!\d)", re.ASCII)
# Half of an id are digits, and it is no secret.
_ID: Final = re.compile(r"(\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b)", re.IGNORECASE | re.ASCII)
_TOKEN: Final = re.compile(r"eyJ[\w-]{4,}\.[\w-]+\.[\w-]*|\bBearer\s+\S+", re.IGNORECASE | re.ASCII)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """What a model wants to know: the arguments are its own text, JSON or not."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Line:
    """One line of what a model is shown. `call_id`: which call a tool's line answers."""

    role: Role
    text: str
    calls: tuple[ToolCall, ...] = ()
    call_id: str = ""


@dataclass(frozen=True, slots=True)
class Used:
    """Tokens, as the provider counts them."""

    prompt_tokens: int = 0
    completion_tokens: int = 0

    def plus(self, more: "Used | None") -> "Used":
        if more is None:
            return self
        return Used(self.prompt_tokens + more.prompt_tokens, self.completion_tokens + more.completion_tokens)


@dataclass(frozen=True, slots=True)
class Spoken:
    """How a model ended: with calls it waits for their results. `is_cut`: it had more to say than it may."""

    calls: tuple[ToolCall, ...] = ()
    used: Used | None = None
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class Asker:
    """On whose behalf something is looked up. The token goes to our own catalog and orders, and nowhere else."""

    user_id: UUID
    vendor_id: UUID | None
    token: str

    def __repr__(self) -> str:
        return f"Asker({self.user_id})"


def without_secrets(message: str) -> str:
    """The message without what nobody should have written: numbers beside "PIN", "code" or the like, card numbers, tokens.

    It is kept, and may be sent to a company outside.
    """
    parts = _ID.split(_TOKEN.sub(HIDDEN, message))
    return "".join(part if _ID.fullmatch(part) else _without_numbers(part) for part in parts)


def _without_numbers(text: str) -> str:
    text = _SECRET_NUMBER.sub(lambda found: f"{found[1]}{found[2]}{HIDDEN}", text)
    return _CARD_NUMBER.sub(HIDDEN, text)


def recent(history: Sequence[Line], characters_max: int) -> list[Line]:
    """The newest lines of a conversation that fit, oldest first; whole turns, so that no reply stands without its question."""
    kept: list[Line] = []
    left = characters_max
    for line in reversed(history[-HISTORY_MESSAGES_MAX:]):
        left -= len(line.text)
        if left < 0:
            break
        kept.append(line)
    while kept and kept[-1].role != "user":
        kept.pop()
    return kept[::-1]


def title_of(message: str) -> str:
    """What a conversation is called: how it began."""
    first = " ".join(message.split())
    return (
        first
        if len(first) <= TITLE_CHARACTERS_MAX
        else first[: TITLE_CHARACTERS_MAX - 1].rstrip() + "\N{HORIZONTAL ELLIPSIS}"
    )
