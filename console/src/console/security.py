"""The checks of a posted form, and the headers of every response."""

import hmac
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from console.session import Session
from console.visit import CSRF_FIELD, Form


def security_headers(media_origin: str) -> dict[str, str]:
    """Return the headers of every page. Images come from the console or from the API's public origin; nothing else is
    loaded.
    """
    policy = (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        f"img-src 'self' {media_origin}; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )
    return {
        "Content-Security-Policy": policy,
        "Referrer-Policy": "same-origin",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), publickey-credentials-get=(self)",
    }


NO_STORE: Final = "no-store"
STRICT_TRANSPORT: Final = "max-age=31536000"


_DEFAULT_PORTS: Final = {"http": 80, "https": 443}


class SecuredResponses:
    """Adds the headers to every response of an application, its errors included."""

    def __init__(self, app: ASGIApp, headers: Mapping[str, str]) -> None:
        every = {**headers, "Cache-Control": NO_STORE}
        self._app = app
        self._headers = [(name.lower().encode(), value.encode()) for name, value in every.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_secured(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = list(message.get("headers", ()))
                names = {name.lower() for name, _ in own}
                message["headers"] = own + [one for one in self._headers if one[0] not in names]
            await send(message)

        await self._app(scope, receive, send_secured)


def is_same_origin(request: Request, console_url: str) -> bool:
    """Return whether a page of this console sent the form: its Origin is the public address or the request's host.

    A proxy may call the console by another host, or write the default port.
    """
    if request.headers.get("sec-fetch-site", "same-origin") != "same-origin":
        return False
    sender = _origin(request.headers.get("origin", ""))
    if sender is None:
        return False
    return sender in (_origin(console_url), _origin(f"{sender[0]}://{request.headers.get('host', '')}"))


def _origin(address: str) -> tuple[str, str, int] | None:
    """Scheme, host and port of an address; None when it is no http address."""
    try:
        parts = urlsplit(address)
        port = parts.port or _DEFAULT_PORTS[parts.scheme]
    except (ValueError, KeyError):
        return None
    return (parts.scheme, parts.hostname, port) if parts.hostname else None


def has_csrf_token(form: Form, session: Session) -> bool:
    """Return whether the form was made for this session."""
    return hmac.compare_digest(form[CSRF_FIELD].encode(), session.csrf_token.encode())
