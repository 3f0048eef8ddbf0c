"""The parts of responses that all operations share."""

from datetime import datetime
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from common.web.schemas import ResponseShape


class Meta(ResponseShape):
    """The context of a response."""

    timestamp: datetime
    version: Literal["v1"]
    request_id: str


class CursorMeta(Meta):
    next_cursor: Annotated[str | None, Field(alias="next_cursor")]
    has_more: Annotated[bool, Field(alias="has_more")]
    limit: int


class OffsetMeta(Meta):
    page: int
    limit: int
    total: int
    total_pages: Annotated[int, Field(alias="total_pages")]


NOT_MODIFIED: Final[dict[int | str, dict[str, Any]]] = {
    304: {"description": "The content of this ETag (`If-None-Match`) is still current; there is no body."}
}
