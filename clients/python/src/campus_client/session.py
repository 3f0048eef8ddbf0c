"""Attempts, tokens and streams: the part of the client that blocking and asynchronous calls share."""

import random
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, Final, Generic, TypeVar

import httpx

from campus_client import models
from campus_client.calls import TRANSIENT, Call, IdempotentOptions, request_call
from campus_client.errors import ApiError, CampusError, InvalidResponseError, TransportError, api_error, seconds_of
from campus_client.events import Event, EventParser
from campus_client.tokens import MemoryTokenStore, Tokens, TokenStore
from campus_client.transport import Transport

T = TypeVar("T")

RETRIES: Final = 2
TIMEOUT_SECONDS: Final = 30.0
# A longer `Retry-After`, such as that of used-up PIN attempts, is the caller's decision.
RETRY_AFTER_SECONDS_MAX: Final = 20.0
# The first pause without a `Retry-After`; it doubles with each attempt.
_PAUSE_SECONDS: Final = 0.3
_RECONNECT_SECONDS: Final = 3.0
# A server sends a comment every 15 s.
STREAM_IDLE_SECONDS: Final = 60.0

_captured: ContextVar[list[httpx.Response] | None] = ContextVar("captured", default=None)


@dataclass(frozen=True, slots=True)
class Response(Generic[T]):
    """The result of a call with its response. `meta`: that of the envelope, None without one."""

    data: T
    meta: dict[str, Any] | None
    status: int
    headers: httpx.Headers
    content: bytes

    @classmethod
    def of(cls, data: T, response: httpx.Response) -> "Response[T]":
        """Return the result `data` with the response that it was read from."""
        is_json = response.headers.get("Content-Type", "").startswith("application/json")
        meta = response.json().get("meta") if is_json else None
        return cls(data, meta, response.status_code, response.headers, response.content)


@contextmanager
def captured_response() -> Iterator[list[httpx.Response]]:
    """Collect the responses of the calls in the block."""
    responses: list[httpx.Response] = []
    token = _captured.set(responses)
    try:
        yield responses
    finally:
        _captured.reset(token)


class Session:
    """A session with one system."""

    def __init__(
        self,
        transport: Transport,
        base_url: str,
        tokens: Tokens | TokenStore | None,
        *,
        timeout: float,
        retries: int,
        retry_after_seconds_max: float,
    ) -> None:
        self.store = MemoryTokenStore(tokens) if tokens is None or isinstance(tokens, Tokens) else tokens
        self.transport = transport
        self._base_url = base_url.rstrip("/")
        self._timeout = timeout
        self._retries = retries
        self._retry_after_seconds_max = retry_after_seconds_max

    async def call(self, call: Call[T]) -> T:
        """Return the result of an operation.

        Raises:
            ApiError: the API rejected the request; its subclass names the code.
            TransportError: no response.
            InvalidResponseError: a response without the documented content.
        """
        try:
            return await self._result(call)
        except CampusError as error:
            # Also of a refresh between two attempts: the first one may have taken effect.
            error.idempotency_key = call.key
            raise

    async def _result(self, call: Call[T]) -> T:
        response = await self._respond(call, stream=False)
        if (collected := _captured.get()) is not None:
            collected.append(response)
        with _as_documented(call):
            return call.reads(response)

    async def follow(
        self, call: Call[Callable[[str], T]], *, resumes: bool, on_open: Callable[[], None] | None = None
    ) -> AsyncGenerator[Event[T], None]:
        """Yield the events of a stream. With `resumes` a lost connection is opened again after the last event.

        Raises:
            ApiError: the API rejected the request, or sent an event `error`.
            TransportError: no response to the first request, or a connection was lost that cannot be resumed.
        """
        opened = False
        parser = EventParser(call.headers.get("Last-Event-ID") or "")
        while True:
            # Lines of an event that was cut off are dropped.
            parser = EventParser(parser.last_id, parser.retry_seconds)
            try:
                async with self._opened(call.with_header("Last-Event-ID", parser.last_id or None)) as response:
                    opened = True
                    if on_open is not None:
                        on_open()
                    read = call.reads(response)
                    async for line in self.transport.lines(response):
                        event = parser.feed(line)
                        if event is None:
                            continue
                        if event.event == "error":
                            raise _error_of(event, response)
                        with _as_documented(call):
                            content = read(event.data)
                        yield Event(event.event, content, event.id)
            except (TransportError, ApiError) as error:
                if not (resumes and opened and _is_transient(error)):
                    raise
            if not resumes:
                return
            pause = _RECONNECT_SECONDS if parser.retry_seconds is None else parser.retry_seconds
            await self.transport.sleep(pause * random.uniform(0.5, 1))

    async def refresh(self, used: Tokens) -> Tokens | None:
        """Exchange the refresh token; of many calls at once, one does.

        None: the session has ended meanwhile, or another user has signed in, whose call this was not.
        """
        async with self.transport.refreshing:
            current = self.store.get()
            if current is None:
                return None
            if current.access_token != used.access_token:
                return current if current.user == used.user else None
            call = _refresh_call(used)
            response = await self._attempts(call, None, stream=False)
            # A sign-in during the refresh is not overwritten.
            is_current = self.store.get() == current
            if response.status_code == httpx.codes.UNAUTHORIZED and is_current:
                self.store.set(None)
            if not response.is_success:
                raise api_error(response)
            if not is_current:
                return None
            with _as_documented(call):
                received = response.json()["data"]
                tokens = Tokens(received["accessToken"], received["refreshToken"])
            self.store.set(tokens)
            return tokens

    @asynccontextmanager
    async def _opened(self, call: Call[Any]) -> AsyncIterator[httpx.Response]:
        response = await self._respond(call.with_header("Accept", "text/event-stream"), stream=True)
        try:
            yield response
        finally:
            await self.transport.release(response)

    async def _respond(self, call: Call[Any], *, stream: bool) -> httpx.Response:
        """Return a successful response; an expired access token is refreshed and the call repeated once."""
        tokens = self.store.get() if call.authenticated else None
        response = await self._attempts(call, tokens, stream=stream)
        if response.status_code == httpx.codes.UNAUTHORIZED and tokens is not None and tokens.refresh_token is not None:
            renewed = await self.refresh(tokens)
            if renewed is not None:
                response = await self._attempts(call, renewed, stream=stream)
        if not response.is_success:
            raise api_error(response)
        return response

    async def _attempts(self, call: Call[Any], tokens: Tokens | None, *, stream: bool) -> httpx.Response:
        """Return the response of the last attempt; the body of an unsuccessful one was read."""
        left = call.options.get("retries", self._retries)
        pause = _PAUSE_SECONDS
        while True:
            retry_after: float | None = None
            try:
                response = await self.transport.send(self._request(call, tokens, stream), stream=stream)
                if stream and not response.is_success:
                    await self.transport.read(response)
                retry_after = seconds_of(response.headers.get("Retry-After"))
                is_soon = (retry_after or 0) <= self._retry_after_seconds_max
                if left == 0 or not is_soon or not call.may_repeat_after(response):
                    return response
            except TransportError:
                if left == 0 or not call.is_repeatable:
                    raise
            left -= 1
            # Many clients that were refused at the same time do not return at the same time.
            await self.transport.sleep((retry_after or 0) + pause * random.uniform(0.5, 1))
            pause *= 2

    def _request(self, call: Call[Any], tokens: Tokens | None, stream: bool) -> httpx.Request:
        headers = call.sent_headers()
        if tokens is not None:
            headers.setdefault("Authorization", f"Bearer {tokens.access_token}")
        timeout = call.options.get("timeout", self._timeout)
        limits = httpx.Timeout(timeout, read=STREAM_IDLE_SECONDS) if stream else httpx.Timeout(timeout)
        return self.transport.http.build_request(
            call.method,
            self._base_url + call.path,
            params=call.sent_query(),
            headers=headers,
            content=call.content,
            timeout=limits,
        )


class SessionTokens:
    """The tokens of a client's session."""

    _session: Session

    @property
    def tokens(self) -> Tokens | None:
        """The tokens of the session; None without one."""
        return self._session.store.get()

    def set_tokens(self, tokens: Tokens | None) -> None:
        """Use this session from now on; None: no session."""
        self._session.store.set(tokens)

    def _signed_in(self, received: models.Tokens) -> models.Tokens:
        self.set_tokens(Tokens(received.access_token, received.refresh_token))
        return received


def _refresh_call(tokens: Tokens) -> Call[httpx.Response]:
    options: IdempotentOptions = {}
    body = {"refreshToken": tokens.refresh_token}
    # The server returns the same successor to a repetition.
    return replace(request_call("POST", "/api/auth/refresh", {}, body, options), is_idempotent=True)


def _is_transient(error: TransportError | ApiError) -> bool:
    return isinstance(error, TransportError) or error.status in TRANSIENT


def _error_of(event: Event[str], response: httpx.Response) -> ApiError:
    """Return the problem document of an event `error`."""
    document = httpx.Response(httpx.codes.INTERNAL_SERVER_ERROR, text=event.data, headers=response.headers)
    error = api_error(document)
    error.status = int(error.problem.get("status", error.status))
    return error


@contextmanager
def _as_documented(call: Call[Any]) -> Iterator[None]:
    try:
        yield
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidResponseError(f"{call.method} {call.path}: the response has another form: {error}") from error
