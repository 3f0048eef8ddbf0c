"""The base of request bodies (contract section 1): camelCase names, no unknown fields, no text that PostgreSQL cannot
store.
"""

import re
from datetime import UTC, datetime
from typing import Annotated

from pydantic import AfterValidator, AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel

from common.primitives.clock import OFFSET_REQUIRED, date_in_lagos
from common.primitives.money import AMOUNT_MINOR_MAX
from common.primitives.names import name_fault
from common.primitives.typed_text import compact

# The decision hash in a response (contract section 5.5).
DecisionHash = Annotated[str, Field(description="SHA-256, in hex, of the exact content; `/approve` must repeat it.")]
# Money in a request: an integer in kobo, never a text, a float or a boolean.
Kobo = Annotated[int, Field(strict=True, ge=0, le=AMOUNT_MINOR_MAX)]
PositiveKobo = Annotated[int, Field(strict=True, ge=1, le=AMOUNT_MINOR_MAX)]
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
# A longer text is no code.
_TYPED_CODE_MAX = 100
_DIGITS = re.compile(r"-?[0-9]+", re.ASCII)


def _written_out(value: object) -> str:
    """Rejects numbers, which pydantic would read as seconds since 1970."""
    if not isinstance(value, str) or _DATE.match(value) is None:
        raise ValueError("must be an ISO 8601 time such as 2026-01-31T12:00:00Z")
    return value


def _in_digits(value: object) -> object:
    """Rejects the forms ` 5`, `+5`, `1_0` and `5.0`, which pydantic would accept."""
    if not isinstance(value, str) or _DIGITS.fullmatch(value) is None:
        raise ValueError("must be a whole number in digits")
    return value


def _date_in_lagos(value: object) -> str:
    return date_in_lagos(_written_out(value))


def _in_utc(instant: datetime) -> datetime:
    if instant.tzinfo is None:
        raise ValueError(OFFSET_REQUIRED)
    try:
        return instant.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("is in no calendar of ours") from error


def _is_name(text: str) -> str:
    if fault := name_fault(text):
        raise ValueError(fault)
    return text


# For a name that others read, after its lengths: no control, no bidirectional override, something visible.
A_NAME = AfterValidator(_is_name)


def _compact_code(value: object) -> object:
    return compact(value) if isinstance(value, str) and len(value) <= _TYPED_CODE_MAX else value


# After its pattern: a code as it was pasted from a message, such as `123 456` or `123-456`, is read as `123456`.
A_CODE = BeforeValidator(_compact_code)
# A time in a body: ISO 8601 with an offset.
Instant = Annotated[AwareDatetime, BeforeValidator(_written_out)]
# A time in a query (contract section 1.8): ISO 8601 with an offset, or a date alone, which is its midnight in Lagos.
QueryInstant = Annotated[datetime, BeforeValidator(_date_in_lagos), AfterValidator(_in_utc)]
# For a number in a query, after its bounds: decimal digits only.
IN_DIGITS = BeforeValidator(_in_digits)
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
# Deep enough for every request body of the API.
_DEPTH_MAX = 32


class RequestBody(BaseModel):
    """A request body. Unknown fields are rejected with 422, which prevents mass assignment."""

    model_config = ConfigDict(
        extra="forbid", alias_generator=to_camel, validate_by_name=False, validate_by_alias=True, frozen=True
    )

    @model_validator(mode="before")
    @classmethod
    def refuse_unstorable_text(cls, body: object) -> object:
        """Rejects U+0000 and lone surrogates: valid JSON that PostgreSQL cannot store."""
        _check_text(body, 0)
        return body


class EmptyRequest(RequestBody):
    """An empty object, or no body: the path names everything."""


class DecisionApproval(RequestBody):
    """The body of an approval by the checker: the hash of the decision that they read."""

    hash: Annotated[
        str,
        Field(
            min_length=1,
            max_length=128,
            description=(
                "The `hash` that the prepared decision shows. The hash of any other content is rejected with 409."
            ),
        ),
    ]


def _check_text(value: object, depth: int) -> None:
    if depth > _DEPTH_MAX:
        raise ValueError("is nested too deeply")
    if isinstance(value, str):
        if _UNSTORABLE.search(value):
            raise ValueError("must not hold the character U+0000 or a lone surrogate")
    elif isinstance(value, dict):
        for name, inner in value.items():
            _check_text(name, depth + 1)
            _check_text(inner, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            _check_text(inner, depth + 1)
