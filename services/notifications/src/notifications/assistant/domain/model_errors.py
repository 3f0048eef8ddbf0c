"""Errors of an OpenAI-compatible provider, by what they mean for the questions of users (decision 43).

An error object has `code`, `type`, `message` and `param`; any of them may be missing or null.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import msgspec

from common.primitives.json_records import Json, read_record
from notifications.assistant.domain.errors import AssistantUnavailable

_BUSY: Final = "The assistant has too many questions at the moment. Try again later."
_CLOSED: Final = "The assistant is out of order; this has to be mended by its operators."
_UNUSABLE: Final = "The assistant did not find an answer. Ask again, or in other words."
_TOO_LONG: Final = "The conversation is too long for the assistant. Start a new one."
_DECLINED: Final = "The assistant's provider does not answer this question. Ask in other words."

# Every request fails until an operator changes the account or a setting.
_ACCOUNT: Final = frozenset(
    {"insufficient_quota", "invalid_api_key", "billing_hard_limit_reached", "billing_not_active", "model_not_found"}
    | {"unsupported_parameter", "unsupported_value", "unknown_parameter", "account_deactivated", "access_terminated"}
)
_FILTERED: Final = frozenset({"content_filter", "content_policy_violation"})
_WORD_CHARACTERS_MAX: Final = 60
_TEXT_CHARACTERS_MAX: Final = 200
_SUMMARIES: Final[Mapping[int, str]] = {
    400: "the provider refused the request (400)",
    401: "the provider refused our key (401)",
    403: "the provider refused our key (403)",
    404: "the provider knows no such model or path",
    413: "the provider refused the request (413)",
    422: "the provider refused the request (422)",
    429: "the provider has no capacity for us (429)",
}


@dataclass(frozen=True, slots=True)
class ModelError:
    """The members of an error object; empty texts for missing ones."""

    code: str = ""
    type: str = ""
    message: str = ""
    param: str = ""

    @property
    def names(self) -> frozenset[str]:
        return frozenset({self.code, self.type})

    @property
    def is_account_fault(self) -> bool:
        return bool(self.names & _ACCOUNT)


class ReportedError(msgspec.Struct, frozen=True):
    code: int | str = ""
    type: int | str = ""
    message: int | str = ""
    param: int | str = ""


class ErrorResponse(msgspec.Struct, frozen=True):
    error: ReportedError = ReportedError()


def read_model_error(payload: Json) -> ModelError:
    """Read the `error` of a response of any shape. A plain text in its place is not read: it may quote the question."""
    error = read_record(payload, ErrorResponse).error
    code, kind, param = (_short(given, _WORD_CHARACTERS_MAX) for given in (error.code, error.type, error.param))
    return ModelError(code, kind, _short(error.message, _TEXT_CHARACTERS_MAX), param)


def fault_of_status(status: int, error: ModelError, key: str, retry_after_seconds: int) -> AssistantUnavailable:
    """Return the fault of a response without success. Its reason is for the log and contains no key."""
    # Some providers reject a single question by its content, and may quote it.
    is_about_question = status in (400, 413, 422) and not error.is_account_fault
    summary = _SUMMARIES.get(status, f"the provider answered {status}")
    reason = _reason(summary, error, key, with_message=not is_about_question)
    if is_about_question:
        return AssistantUnavailable(reason, _detail(error))
    if error.is_account_fault or status in (401, 403, 404):
        return AssistantUnavailable(reason, _CLOSED, retry_after_seconds=60, is_outage=True)
    detail = _BUSY if status == 429 else None
    return AssistantUnavailable(reason, detail, retry_after_seconds=retry_after_seconds, is_outage=True)


def fault_in_stream(error: ModelError, key: str) -> AssistantUnavailable:
    """Return the fault of an error object inside a response that had started."""
    reason = _reason("the provider broke the answer off", error, key, with_message=error.is_account_fault)
    if error.is_account_fault:
        return AssistantUnavailable(reason, _CLOSED, retry_after_seconds=60, is_outage=True)
    return AssistantUnavailable(reason, _detail(error))


def _detail(error: ModelError) -> str:
    if error.names & _FILTERED:
        return _DECLINED
    return _TOO_LONG if "context_length_exceeded" in error.names else _UNUSABLE


def _reason(summary: str, error: ModelError, key: str, *, with_message: bool) -> str:
    kind = error.type if error.type != error.code else ""
    words = " ".join(filter(None, (error.code, kind, error.param, error.message if with_message else "")))
    text = f"{summary}: {words}" if words else summary
    return text.replace(key, "***") if key else text


def _short(given: int | str, characters_max: int) -> str:
    return " ".join(str(given).split())[:characters_max]
