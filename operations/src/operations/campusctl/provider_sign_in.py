"""Sign-in in the browser, which returns to a port of this machine (RFC 8252)."""

import base64
import hashlib
import hmac
import secrets
import sys
import time
import webbrowser
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Final
from urllib.parse import parse_qs, urlsplit

from operations.campusctl.exits import Refused
from operations.campusctl.public_api import ProviderSession, PublicApi

# A sign-in at the provider, by two factors. The API forgets it after ten minutes.
BROWSER_SECONDS_MAX: Final = 600.0
_REQUEST_SECONDS_MAX: Final = 5.0
_PAGE: Final = """<!doctype html><html lang="en"><meta charset="utf-8"><title>campusctl</title>
<meta name="viewport" content="width=device-width"><main style="font: 1rem system-ui; margin: 2rem">
<h1>campusctl</h1><p>{}</p></main></html>"""
_REASONS: Final = {
    "access_denied": "the sign-in was cancelled at the provider",
    "email_not_verified": "the provider has not verified your mail address",
    "email_domain_not_accepted": "the domain of your mail address is not accepted for this provider",
    "no_account": "no account has your mail address; an administrator must create it first",
    "linked_to_another_user": "your account belongs to another user of this provider",
    "provider_unavailable": "the provider did not respond; try again, or sign in with your password",
}


@dataclass(slots=True)
class _Returned:
    """The result with which the browser came back to the path of this sign-in."""

    path: str
    query: dict[str, str] = field(default_factory=dict)


def sign_in_by_browser(api: PublicApi, provider: str, *, opens_browser: bool) -> ProviderSession:
    """Return the session of a sign-in at the provider; nothing is stored yet.

    The path on this machine and the verifier are random, and never leave it together. Raises Refused.
    """
    verifier = secrets.token_urlsafe(48)
    digest = hashlib.sha256(verifier.encode()).digest()
    returned = _Returned(f"/{secrets.token_urlsafe(16)}")
    with HTTPServer(("127.0.0.1", 0), _handler_of(returned)) as server:
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        page = f"http://127.0.0.1:{server.server_port}{returned.path}"
        address = api.provider_start(provider, page, challenge)
        sys.stderr.write(f"Sign in with your browser on this machine:\n  {address}\n")
        sys.stderr.flush()
        if opens_browser:
            webbrowser.open(address)
        _wait(server, returned)
    if "code" not in returned.query:
        reason = returned.query.get("error", "")
        raise Refused(f"The sign-in failed: {_REASONS.get(reason, reason or 'the browser returned without a code')}.")
    return api.sign_in_by_provider(returned.query["code"], verifier)


def _wait(server: HTTPServer, returned: _Returned) -> None:
    ends = time.monotonic() + BROWSER_SECONDS_MAX
    while not returned.query:
        if (left := ends - time.monotonic()) <= 0:
            raise Refused(
                "The browser did not return in time.", "Repeat the command, and open the address within 10 min"
            )
        server.timeout = left
        server.handle_request()


def _handler_of(returned: _Returned) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        # A connection without a request does not hold the next one up.
        timeout = _REQUEST_SECONDS_MAX

        def log_message(self, *_: object) -> None:
            """Write no log: the request holds the code."""

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            if not hmac.compare_digest(parts.path.encode(), returned.path.encode()):
                self._respond(404, "This page belongs to no sign-in.")
                return
            returned.query = {name: values[0] for name, values in parse_qs(parts.query).items()} or {"error": ""}
            self._respond(200, "You can close this page. The terminal shows the result.")

        def _respond(self, status: int, sentence: str) -> None:
            body = _PAGE.format(sentence).encode()
            self.send_response(status)
            headers = {"Content-Type": "text/html; charset=utf-8", "Content-Length": str(len(body))}
            for name, value in {**headers, "Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

    return Handler
