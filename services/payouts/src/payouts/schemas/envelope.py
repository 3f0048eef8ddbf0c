"""The envelope of every response in the API reference."""

from typing import Any, Literal, get_origin

from common.web.responses import responses_for
from common.web.schemas import ResponseShape


class Meta(ResponseShape):
    timestamp: str
    version: str
    request_id: str


def enveloped(shape: Any, status: int = 200) -> dict[int | str, dict[str, Any]]:
    """Returns the documented success of an endpoint: the shape inside the envelope.

    The generator of the document puts a list into its envelope itself, with the page's part of `meta` by the endpoint's
    parameters.
    """
    if get_origin(shape) is list:
        return {status: {"model": shape}}

    class Enveloped(ResponseShape):
        success: Literal[True]
        data: shape
        meta: Meta

    Enveloped.__name__ = f"{shape.__name__}Answer"
    return {status: {"model": Enveloped}}


def documented(shape: Any, *errors: int, status: int = 200) -> dict[int | str, dict[str, Any]]:
    """Returns the success of an endpoint in the envelope, and each of its own errors as a problem document."""
    return responses_for(enveloped(shape, status)[status]["model"], *errors, status=status)
