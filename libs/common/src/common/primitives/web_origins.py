"""Addresses of web pages that users may return to: those of allowed origins (contract section 14.12)."""

from collections.abc import Iterable
from typing import Annotated, Final
from urllib.parse import urlsplit

from pydantic import Field

# An address with its scheme and host, as settings hold it.
HttpAddress = Annotated[str, Field(pattern="^https?://[^/\\s]+")]

_PORTS: Final = {"http": 80, "https": 443}


def origin_of(url: str) -> str | None:
    """`scheme://host:port` of an http or https address; None for an ambiguous one."""
    if not url.isascii() or not url.isprintable() or "\\" in url or " " in url:
        return None
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in _PORTS or not parts.hostname or "@" in parts.netloc:
        return None
    return f"{parts.scheme}://{parts.hostname}:{port or _PORTS[parts.scheme]}"


def is_on_allowed_origin(url: str, origins: Iterable[str]) -> bool:
    """Return whether the address is on one of the allowed origins, default ports and case apart.

    A port of `*` allows any port.
    """
    origin = origin_of(url)
    if origin is None:
        return False
    any_port = f"{origin.rpartition(':')[0]}:*"
    return any(allowed == any_port or origin_of(allowed) == origin for allowed in origins)
