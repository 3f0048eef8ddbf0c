"""How OpenAPI shows an answer."""

from typing import Any


def answers(status: int, model: Any) -> dict[int | str, dict[str, Any]]:
    """The documentation of one endpoint's success; the envelope around it is the same everywhere."""
    return {status: {"model": model}}
