"""The path of a request as the client sent it: the gateway forwards `/api/v1/...` as `/api/...` and names the
prefix.
"""

from typing import Final

from starlette.requests import Request

VERSION: Final = "v1"
PREFIX: Final = f"/api/{VERSION}/"
VERSION_HEADER: Final = "x-api-version"


def client_path(request: Request) -> str:
    """Return the path that a problem document names as `instance`."""
    path = request.url.path
    if request.headers.get(VERSION_HEADER) == VERSION and path.startswith("/api/"):
        return PREFIX + path.removeprefix("/api/")
    return path
