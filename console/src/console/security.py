"""The checks of a posted form, and the headers of every response."""

import hmac
from typing import Final
from urllib.parse import urlsplit

from starlette.requests import Request

from console.session import Session
from console.visit import CSRF_FIELD, Form


def security_headers(media_origin: str) -> dict[str, str]:
    """The headers of every page. Images come from the console or from the API's public origin; nothing else is loaded."""
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


def is_same_origin(request: Request) -> bool:
    """Whether a page of this console sent the form: its Origin names the host of the request."""
    if request.headers.get("sec-fetch-site", "same-origin") != "same-origin":
        return False
    origin = request.headers.get("origin", "")
    return bool(origin) and urlsplit(origin).netloc == request.headers.get("host", "")


def has_csrf_token(form: Form, session: Session) -> bool:
    """Whether the form was made for this session."""
    return hmac.compare_digest(form[CSRF_FIELD].encode(), session.csrf_token.encode())
