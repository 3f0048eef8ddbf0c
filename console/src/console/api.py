"""The client of the public API: envelope, problems, paging, idempotency keys and the exchange of tokens."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote
from uuid import UUID

import httpx
import msgspec

from common.observability.logging import REQUEST_ID, get_logger
from common.observability.telemetry import trace_headers
from common.primitives.http_client import HttpClient
from console.messages import field_message, plain_message
from console.session import Session, SessionCookies, Tokens
from console.settings import Settings

log = get_logger(__name__)

Json = dict[str, Any]
"""A resource of the API, as its OpenAPI document describes it."""

CALL_SECONDS_MAX: Final = 35.0
"""Longer than the gateway lets an ordinary operation run."""
DISPATCH_SECONDS_MAX: Final = 110.0
"""The gateway ends a dispatch of payouts after 100 s."""
IN_FLIGHT_TRIES_MAX: Final = 8
"""A second click waits this often for the result of the first."""
IN_FLIGHT_WAIT_SECONDS_MAX: Final = 2.0
CONNECTIONS_MAX: Final = 100
ROWS_MAX: Final = 10_000
"""`page * limit` of the API ends there (contract section 1.5)."""
NO_HEADERS: Final[Mapping[str, str]] = {}
FLIGHT_SECONDS: Final = 30.0
"""The API accepts the former refresh token for as long (contract section 10.3)."""


class ApiProblem(Exception):
    """An error response of the API (contract section 2.1), in words for people: naira, and no name of a field."""

    def __init__(self, status: int, problem: Json, request_id: str = "") -> None:
        self.status = status
        self.code = str(problem.get("code") or "INTERNAL_ERROR")
        self.title = plain_message(problem.get("title")) or "The request failed"
        self.detail = plain_message(problem.get("detail"))
        self.request_id = str(problem.get("requestId") or request_id)
        self.invalid_params: list[Json] = [
            {**one, "reason": field_message(one.get("name", ""), one.get("reason"))}
            for one in problem.get("invalid_params") or []
        ]
        self.extensions = problem
        super().__init__(f"{status} {self.code}: {self.detail}")

    @property
    def needs_step_up(self) -> bool:
        return self.code == "AUTH_AAL2_REQUIRED"

    def reason_of(self, name: str) -> str:
        """Why the field of this name was refused; empty when it was not."""
        return next((str(one.get("reason", "")) for one in self.invalid_params if one.get("name") == name), "")


class SessionEnded(Exception):
    """The API accepts neither the access token nor the refresh token: the person signs in again."""


@dataclass(frozen=True, slots=True)
class Rows:
    """One page of a list, with the pagination fields of `meta`."""

    items: list[Json]
    meta: Json = field(default_factory=dict)

    @property
    def total(self) -> int | None:
        """Number of rows on all pages; None for a cursor list."""
        return self.meta.get("total")

    @property
    def next_cursor(self) -> str | None:
        return self.meta.get("next_cursor") if self.meta.get("has_more") else None


@dataclass(frozen=True, slots=True)
class Document:
    """A response without an envelope: an image or a file."""

    content: bytes
    media_type: str
    headers: Mapping[str, str]


class ApiConnection:
    """The connections of the process to the gateway, and the running exchanges of refresh tokens."""

    def __init__(self, settings: Settings, cookies: SessionCookies) -> None:
        transport = httpx.AsyncHTTPTransport(
            verify=settings.api_tls,
            limits=httpx.Limits(max_connections=CONNECTIONS_MAX, max_keepalive_connections=CONNECTIONS_MAX),
            trust_env=False,
            local_address=settings.api_source_address or None,
        )
        self._http = HttpClient(
            base_url=settings.api_address,
            timeout=CALL_SECONDS_MAX,
            transport=transport,
            trust_env=False,
            follow_redirects=False,
        )
        self._cookies = cookies
        self._flights: dict[str, asyncio.Task[Tokens | None]] = {}

    async def close(self) -> None:
        await self._http.aclose()

    async def send(
        self, method: str, path: str, *, headers: Mapping[str, str], seconds_max: float = CALL_SECONDS_MAX, **more: Any
    ) -> httpx.Response:
        """Send one request. Raises ApiProblem (503) when the gateway does not respond."""
        sent = {**trace_headers(), "X-Request-Id": REQUEST_ID.get(), "Accept": "application/json", **headers}
        try:
            return await self._http.request(
                method, path, headers=sent, timeout=httpx.Timeout(seconds_max, connect=5.0), **more
            )
        except httpx.HTTPError as error:
            log.warning("the API does not respond", path=path, error=type(error).__name__)
            raise ApiProblem(503, _NO_RESPONSE, REQUEST_ID.get()) from error

    async def refresh(self, session: Session, headers: Mapping[str, str]) -> None:
        """Exchange the session's tokens, once for all requests of this process that hold the same refresh token.

        Other replicas may do so too: the API gives the same successor for 30 s. Raises SessionEnded.
        """
        former = session.refresh_token
        flight = self._flights.get(former)
        if flight is None:
            flight = self._flights[former] = asyncio.create_task(self._exchange(former, headers))
            asyncio.get_running_loop().call_later(FLIGHT_SECONDS, self._flights.pop, former, None)
        tokens = await asyncio.shield(flight)
        if tokens is None:
            raise SessionEnded
        session.accept(tokens, self._cookies.now())

    async def _exchange(self, refresh_token: str, headers: Mapping[str, str]) -> Tokens | None:
        response = await self.send("POST", "/api/auth/refresh", headers=headers, json={"refreshToken": refresh_token})
        if response.status_code in (401, 403):
            return None
        return msgspec.convert(_data_of(response)[0], Tokens)


class Api:
    """The API for one request of a browser, under the person's own tokens."""

    def __init__(
        self, connection: ApiConnection, cookies: SessionCookies, session: Session, forwarded: Mapping[str, str]
    ) -> None:
        """Open the client; `forwarded` are headers about the browser: its address and its name."""
        self._connection = connection
        self._cookies = cookies
        self._session = session
        self._forwarded = forwarded
        self.form_key = ""
        """The key of the form that is being handled: a second post of the form repeats no effect."""
        self.keeps_tokens = False
        """Whether new tokens could not reach the browser: a request that needs them raises SessionEnded."""

    async def get(self, path: str, /, **parameters: Any) -> Any:
        """Return `data` of a GET. Parameters that are None or empty are left out.

        Raises:
            ApiProblem: the API refused.
            SessionEnded: the person has to sign in again.
        """
        return (await self._get(path, parameters))[0]

    async def page(self, path: str, /, **parameters: Any) -> Rows:
        """Return one page of a list. Raises as `get`."""
        items, meta = await self._get(path, parameters)
        return Rows(items, meta)

    async def every_row(self, path: str, /, **parameters: Any) -> AsyncIterator[Json]:
        """Iterate over a list of either kind, up to 10,000 rows."""
        parameters = {**parameters, "limit": 100, "page": None, "cursor": None}
        for number in range(1, ROWS_MAX // 100 + 1):
            rows = await self.page(path, **parameters)
            for row in rows.items:
                yield row
            if rows.next_cursor:
                parameters["cursor"] = rows.next_cursor
            elif rows.total is not None and number * 100 < rows.total:
                parameters["page"] = number + 1
            else:
                return

    async def document(self, path: str, /, *, accept: str = "*/*", **parameters: Any) -> Document:
        """Return a file: an image, a CSV export. Raises as `get`."""
        response = await self._call("GET", path, headers={"Accept": accept}, params=_given(parameters))
        if not response.is_success:
            raise _problem_of(response)
        return Document(response.content, response.headers.get("content-type", ""), response.headers)

    async def post(
        self,
        path: str,
        body: Json | None = None,
        *,
        seconds_max: float = CALL_SECONDS_MAX,
        content_headers: Mapping[str, str] = NO_HEADERS,
        **more: Any,
    ) -> Any:
        """Return `data` of a POST, under an idempotency key of the form and the path. Raises as `get`.

        While the first post of a form still runs, the second waits for its result. `more` are `files`, or `content`
        with its type in `content_headers`, instead of a body.
        """
        if "files" not in more and "content" not in more:
            more["json"] = body or {}
        headers = {**content_headers, **({"Idempotency-Key": self._key_for(path)} if self.form_key else {})}
        for _ in range(IN_FLIGHT_TRIES_MAX):
            response = await self._call("POST", path, headers=headers, seconds_max=seconds_max, **more)
            wait = response.headers.get("retry-after")
            if response.status_code != 409 or wait is None or not self.form_key:
                break
            await asyncio.sleep(min(float(wait), IN_FLIGHT_WAIT_SECONDS_MAX))
        return _data_of(response)[0]

    async def put(self, path: str, body: Json, **more: Any) -> Any:
        """Return `data` of a PUT. Raises as `get`."""
        return _data_of(await self._call("PUT", path, json=body, **more))[0]

    async def patch(self, path: str, body: Json, **more: Any) -> Any:
        """Return `data` of a PATCH. Raises as `get`."""
        return _data_of(await self._call("PATCH", path, json=body, **more))[0]

    async def delete(self, path: str) -> Any:
        """Return `data` of a DELETE. Raises as `get`."""
        return _data_of(await self._call("DELETE", path))[0]

    async def sign_in(self, email: str, password: str) -> None:
        """Start a session of its own. A second factor may be due after it. Raises ApiProblem."""
        body = {"email": email, "password": password}
        self._sign_in_with(await self._connection.send("POST", "/api/auth/login", headers=self._forwarded, json=body))

    def _sign_in_with(self, response: httpx.Response) -> None:
        tokens = msgspec.convert(_data_of(response)[0], Tokens)
        self._session.accept(tokens, self._cookies.now())
        self._session.is_mfa_due = tokens.mfa_required

    async def request_password_reset(self, email: str) -> None:
        """Have a code sent to a known address; an unknown one gets the same response. Raises ApiProblem."""
        await self._without_session("/api/auth/password/forgot", {"email": email})

    async def reset_password(self, code: str, password: str) -> None:
        """Set the password of the account of a mailed code, which ends its sessions. Raises ApiProblem."""
        await self._without_session("/api/auth/password/reset", {"token": code, "password": password})

    async def _without_session(self, path: str, body: Json) -> None:
        _data_of(await self._connection.send("POST", path, headers=self._forwarded, json=body))

    async def sign_in_providers(self) -> list[str]:
        """Return the names of the identity providers; none while the API does not name them: passwords go on."""
        try:
            response = await self._connection.send("GET", "/api/auth/oidc", headers=self._forwarded)
            return [provider["name"] for provider in _data_of(response)[0]]
        except ApiProblem:
            return []

    async def provider_address(self, name: str, return_to: str) -> str:
        """Return the address at the identity provider; it leads back to `return_to`. Raises ApiProblem."""
        path = f"/api/auth/oidc/{quote(name, safe='')}/start"
        response = await self._connection.send("GET", path, headers=self._forwarded, params={"returnTo": return_to})
        if response.status_code != 303:
            raise _problem_of(response)
        return response.headers["location"]

    async def exchange_provider_code(self, code: str) -> None:
        """Start the session of a sign-in at an identity provider. Raises ApiProblem."""
        response = await self._connection.send(
            "POST", "/api/auth/oidc/exchange", headers=self._forwarded, json={"code": code}
        )
        self._sign_in_with(response)

    async def verify_code(self, code: str) -> None:
        """Verify a TOTP or recovery code: the session reaches AAL2 for 15 minutes. Raises as `get`."""
        await self._reach_aal2("/api/auth/mfa/verify", {"code": code})

    async def verify_passkey(self, challenge_id: str, credential: Json) -> None:
        """Verify the response of a passkey: the session reaches AAL2 for 15 minutes. Raises as `get`."""
        await self._reach_aal2("/api/auth/mfa/passkeys/verify", {"challengeId": challenge_id, "credential": credential})

    async def _reach_aal2(self, path: str, body: Json) -> None:
        tokens = msgspec.convert(_data_of(await self._call("POST", path, json=body))[0], Tokens)
        self._session.accept(tokens, self._cookies.now())
        self._session.is_mfa_due = False

    async def _get(self, path: str, parameters: Mapping[str, Any]) -> tuple[Any, Json]:
        return _data_of(await self._call("GET", path, params=_given(parameters)))

    async def _call(
        self, method: str, path: str, *, headers: Mapping[str, str] | None = None, **more: Any
    ) -> httpx.Response:
        if self._session.needs_refresh(self._cookies.now()):
            await self._refresh()
        response = await self._send(method, path, headers, more)
        if response.status_code == 401:
            # The token ended on its way, or by another clock.
            await self._refresh()
            response = await self._send(method, path, headers, more)
            if response.status_code == 401:
                raise SessionEnded
        return response

    async def _refresh(self) -> None:
        if self.keeps_tokens:
            raise SessionEnded
        await self._connection.refresh(self._session, self._forwarded)

    async def _send(
        self, method: str, path: str, headers: Mapping[str, str] | None, more: Mapping[str, Any]
    ) -> httpx.Response:
        sent = {**self._forwarded, "Authorization": f"Bearer {self._session.access_token}", **(headers or {})}
        return await self._connection.send(method, path, headers=sent, **more)

    def _key_for(self, path: str) -> str:
        """Return a UUID v4 of the form and the path: one form may call several operations."""
        digest = hashlib.sha256(f"{self.form_key} {path}".encode()).digest()
        return str(UUID(bytes=digest[:16], version=4))


_NO_RESPONSE: Final = {
    "code": "INTERNAL_ERROR",
    "title": "The API does not respond",
    "detail": "The marketplace does not respond at the moment. Nothing is lost; try again in a minute.",
}


def _given(parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in parameters.items() if value not in (None, "")}


def _data_of(response: httpx.Response) -> tuple[Any, Json]:
    """Return `data` and `meta` of a success. Raises ApiProblem."""
    if not response.is_success:
        raise _problem_of(response)
    if response.status_code == 204:
        return None, {}
    try:
        envelope = msgspec.json.decode(response.content)
        return envelope["data"], envelope.get("meta", {})
    except (msgspec.MsgspecError, KeyError, TypeError) as error:
        raise ApiProblem(502, {"detail": "The API's response has no envelope."}, _request_id(response)) from error


def _problem_of(response: httpx.Response) -> ApiProblem:
    try:
        problem = msgspec.json.decode(response.content)
    except msgspec.MsgspecError:
        problem = {}
    return ApiProblem(response.status_code, problem if isinstance(problem, dict) else {}, _request_id(response))


def _request_id(response: httpx.Response) -> str:
    return str(response.headers.get("x-request-id", ""))
