"""The session of a browser: an encrypted cookie with the tokens of the API. The console stores nothing itself."""

import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

import msgspec
from starlette.responses import Response

from common.primitives.clock import Clock
from common.primitives.encryption import DecryptionFailed, Encryptor

_PURPOSE: Final = "console session"
# Browsers keep about 4,096 bytes of a cookie, name and attributes included.
COOKIE_BYTES_MAX: Final = 4000
# A token this close to its end is exchanged before the call, so that the call does not meet a dead one.
REFRESH_BEFORE_SECONDS: Final = 30
REFUSED_FORM_SECONDS_MAX: Final = 60
REFUSED_FORM_CHARACTERS_MAX: Final = 3000
"""With the session it stays below the 8 KiB that proxies allow for a line of a header."""


@dataclass(slots=True)
class Session:
    """The tokens of a signed-in browser; without an access token, one that has not signed in."""

    access_token: str = ""
    refresh_token: str = ""
    expires_at: int = 0
    """Unix second at which the access token ends."""
    is_mfa_due: bool = False
    """Whether the password was accepted and the second factor is still missing."""
    csrf_token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    notice: str = ""
    """A message for the next page."""
    sign_in_flow: str = ""
    """The random value of a sign-in at an identity provider that this browser started."""
    user_id: str = ""
    """The person who signed in last; a form held for them is offered to nobody else."""

    def end(self) -> None:
        """Forget the tokens, and keep who signed in."""
        self.access_token = self.refresh_token = ""
        self.is_mfa_due = False
        self.csrf_token = secrets.token_urlsafe(24)

    @property
    def is_signed_in(self) -> bool:
        return bool(self.access_token) and not self.is_mfa_due

    def accept(self, tokens: "Tokens", now: int) -> None:
        """Replace the tokens by those of a sign-in, second factor or refresh."""
        self.access_token, self.refresh_token = tokens.access_token, tokens.refresh_token
        self.expires_at = now + tokens.expires_in

    def needs_refresh(self, now: int) -> bool:
        return bool(self.access_token) and now >= self.expires_at - REFRESH_BEFORE_SECONDS


class Tokens(msgspec.Struct, rename="camel"):
    """The response of login, refresh and the verification of a second factor (contract section 10.2)."""

    access_token: str
    refresh_token: str
    expires_in: int
    mfa_required: bool = False


class SessionCookies:
    """Read and write the session cookie: HttpOnly, SameSite=Lax, and Secure where browsers use TLS."""

    def __init__(self, key: str, key_previous: str, *, is_secure: bool, clock: Clock) -> None:
        self._encryptor = Encryptor(_PURPOSE, key, key_previous, counted_as="console-key")
        self._is_secure = is_secure
        self._clock = clock
        # With the prefix __Host- a browser takes the cookie from this very host and over TLS only.
        self.name = "__Host-console" if is_secure else "console"

    def now(self) -> int:
        """Return the present Unix second."""
        return int(self._clock.now().timestamp())

    def read(self, headers: Sequence[str]) -> Session:
        """Return the session of the Cookie headers; a new one when it is absent, changed or under another key."""
        for value in values_of(headers, self.name):
            try:
                return msgspec.json.decode(self._encryptor.decrypt(value, self.name), type=Session)
            except (DecryptionFailed, msgspec.MsgspecError):
                # A cookie of the whole domain may have the name of ours.
                continue
        return Session()

    def write(self, response: Response, session: Session) -> None:
        """Set the cookie. It lives until the browser closes or the session's refresh token ends."""
        text = self._encryptor.encrypt(msgspec.json.encode(session).decode(), self.name)
        if len(text) > COOKIE_BYTES_MAX:
            raise ValueError(f"the session cookie has {len(text)} characters; browsers keep {COOKIE_BYTES_MAX}")
        response.set_cookie(self.name, text, httponly=True, secure=self._is_secure, samesite="lax", path="/")


class RefusedFormCookie:
    """Carry one refused form to its page: a cookie that is read once, and that the browser drops after a minute."""

    def __init__(self, *, is_secure: bool) -> None:
        self._is_secure = is_secure
        self.name = "__Host-console-form" if is_secure else "console-form"

    def read(self, headers: Sequence[str]) -> str:
        """Return the encrypted form; empty without one."""
        return next(values_of(headers, self.name), "")

    def write(self, response: Response, text: str) -> None:
        """Set the cookie; an empty text removes it."""
        seconds = REFUSED_FORM_SECONDS_MAX if text else 0
        response.set_cookie(
            self.name, text, max_age=seconds, httponly=True, secure=self._is_secure, samesite="lax", path="/"
        )


def values_of(headers: Sequence[str], name: str) -> Iterator[str]:
    """Yield the values of a cookie. Browsers separate cookies by semicolons (RFC 6265, 5.4) and allow any other text in
    them.
    """
    for pair in ";".join(headers).split(";"):
        found, _, value = pair.partition("=")
        if found.strip() == name:
            # A value with padding is written in quotes.
            yield value.strip().strip('"')
