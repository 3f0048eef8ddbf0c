"""The envelope that the API reference shows around every answer."""

from typing import Any, Literal

from common.answers import answers
from common.schemas import ResponseShape


class Meta(ResponseShape):
    timestamp: str
    version: str
    request_id: str


def enveloped(shape: Any, status: int = 200) -> dict[int | str, dict[str, Any]]:
    """The documented success answer of an endpoint: the shape inside the envelope."""

    class Enveloped(ResponseShape):
        success: Literal[True]
        data: shape
        meta: Meta

    name = getattr(shape, "__name__", "List")
    inner = getattr(shape, "__args__", None)
    Enveloped.__name__ = f"{inner[0].__name__}List" if inner else f"{name}Answer"
    return {status: {"model": Enveloped}}


def documented(shape: Any, *refusals: int, status: int = 200) -> dict[int | str, dict[str, Any]]:
    """The success of an endpoint in the envelope, and each refusal of its own as a problem document."""
    return answers(enveloped(shape, status)[status]["model"], *refusals, status=status)
