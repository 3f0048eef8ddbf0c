"""The documented success envelopes of the responses."""

from typing import Any

from pydantic import create_model

from common.web.responses import EnvelopeMeta, PageMeta
from common.web.schemas import ResponseShape


def response_of(name: str, data: Any, meta: type[EnvelopeMeta] = EnvelopeMeta) -> type[ResponseShape]:
    """The model `{success, data, meta}` of a response."""
    return create_model(name, __base__=ResponseShape, success=(bool, ...), data=(data, ...), meta=(meta, ...))


def page_response_of(name: str, row: Any, meta: type[EnvelopeMeta] = PageMeta) -> type[ResponseShape]:
    """The model of a list's response; `row` is one entry of `data`."""
    return response_of(name, list[row], meta)
