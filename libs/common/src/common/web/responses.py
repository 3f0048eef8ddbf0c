"""The parts of responses that all operations share."""

from collections.abc import Sequence
from typing import Annotated, Final, Literal

import msgspec
from msgspec import field
from pydantic import Field

from common.web.response_models import ResponseModel, Timestamp

# What an envelope contains: a model, a list of models, or one of them in its encoded form.
Payload = ResponseModel | Sequence[ResponseModel] | msgspec.Raw
# The first member of an envelope. msgspec has no literal `true`.
Success = Annotated[bool, Field(json_schema_extra={"const": True})]


class Meta(ResponseModel):
    """The context of a response."""

    timestamp: Timestamp
    version: Literal["v1"]
    request_id: str


class CursorMeta(Meta):
    next_cursor: str | None = field(name="next_cursor")
    has_more: bool = field(name="has_more")
    limit: int


class OffsetMeta(Meta):
    page: int
    limit: int
    total: int
    total_pages: int = field(name="total_pages")


class WebhookReceipt(ResponseModel):
    """The webhook was accepted, whatever it contains."""

    received: bool


NOT_MODIFIED: Final[dict[int | str, dict[str, object]]] = {
    304: {"description": "The content of this ETag (`If-None-Match`) is still current; there is no body."}
}
