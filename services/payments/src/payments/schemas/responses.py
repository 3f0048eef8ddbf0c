"""The OpenAPI documentation of responses."""

from typing import Any


def success(status: int, model: Any) -> dict[int | str, dict[str, Any]]:
    """The documentation of an endpoint's success. The envelope around it is the same everywhere."""
    return {status: {"model": model}}
