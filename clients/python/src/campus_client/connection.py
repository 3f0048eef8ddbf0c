"""How a request leaves: tokens and their refresh, idempotency keys, second attempts where they are safe, refusals as errors."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from types import TracebackType
from typing import Any, Final, Self
from urllib.parse import quote
from uuid import UUID, uuid4

import httpx
from pydantic import BaseModel

from campus_client.errors import BY_CODE
from campus_client.events import ServerSentEvent, events_of
from campus_client.refused import Refused

# A gateway that is between two processes, or one that sheds load.
_WORTH_ANOTHER_TRY: Final = {502, 503, 504}
_PAUSE_SECONDS_MAX: Final = 10.0


@dataclass(frozen=True, slots=True)
class Tokens:
    """Who the client speaks for. A refresh token works once: keep the pair that `on_tokens` was told last."""

    access_token: str
    refresh_token: str | None = None


class Connection:
    """A client of one system. Use it with `async with`, or call `close()`.

    Args:
        base_url: the gateway's public address.
        tokens: a pair kept from before; signing in sets another.
        on_tokens: told of every new pair, and of None when the session has ended, so that it can be kept.
        retries: further attempts of a request that is safe to repeat (GET, or a POST with a key) when the network or
            the gateway fails; the key stays the same, so that the effect happens once.
        http: an httpx client of your own, with its proxies, time limits and certificates; you close it.
    """

    def __init__(
        self,
        base_url: str,
        *,
        tokens: Tokens | None = None,
        on_tokens: Callable[[Tokens | None], None] | None = None,
        retries: int = 2,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        self._base_url = base_url.rstrip("/")
        self._own = http is None
        self._http = http or httpx.AsyncClient(timeout=30)
        self._tokens = tokens
        self._on_tokens = on_tokens
        self._retries = retries
        self._refreshing = asyncio.Lock()

    @property
    def tokens(self) -> Tokens | None:
        return self._tokens

    def use_tokens(self, tokens: Tokens | None) -> None:
        """Speaks for this session from now on, or for nobody."""
        self._tokens = tokens
        if self._on_tokens is not None:
            self._on_tokens(tokens)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        if self._own:
            await self._http.aclose()

    @staticmethod
    def path(template: str, **parts: object) -> str:
        """The path with each part escaped."""
        return template.format_map({name: quote(str(part), safe="") for name, part in parts.items()})

    async def send(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str | None] | None = None,
        body: BaseModel | None = None,
        file: tuple[bytes, str] | None = None,
        keyed: bool = False,
        key: UUID | None = None,
        signed: bool = True,
    ) -> httpx.Response:
        """One request and its successful answer; `keyed` gives it an `Idempotency-Key`, of its own unless `key` is given.

        Raises:
            Refused: the server said no; the classes of `errors` tell the codes apart.
            httpx.TransportError: the server was not reached, or the answer got lost.
        """
        said = {name: value for name, value in (headers or {}).items() if value is not None}
        if keyed:
            said["Idempotency-Key"] = str(key or uuid4())
        request: dict[str, Any] = {"params": _query(query), "headers": said}
        if body is not None:
            request["content"] = body.model_dump_json(by_alias=True, exclude_unset=True)
            said["Content-Type"] = "application/json"
        if file is not None:
            request["files"] = {"file": ("file", *file)}
        return await self._signed(method, path, request, repeatable=keyed or method == "GET", signed=signed)

    async def follow(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str | None] | None = None,
        body: BaseModel | None = None,
    ) -> AsyncIterator[ServerSentEvent]:
        """The events of a stream, until the server ends it. Resuming is the caller's: `last_event_id`.

        Raises:
            Refused: the server said no before the first event.
        """
        said = {"Accept": "text/event-stream"} | {name: value for name, value in (headers or {}).items() if value}
        request: dict[str, Any] = {"params": _query(query), "timeout": httpx.Timeout(30, read=None)}
        if body is not None:
            request["content"] = body.model_dump_json(by_alias=True, exclude_unset=True)
            said["Content-Type"] = "application/json"
        async with self._stream(method, path, request, said) as answer:
            async for event in events_of(answer.aiter_lines()):
                yield event

    @asynccontextmanager
    async def _stream(
        self, method: str, path: str, request: dict[str, Any], said: dict[str, str]
    ) -> AsyncIterator[httpx.Response]:
        used = self._tokens
        async with self._http.stream(method, self._base_url + path, headers=said | _bearer(used), **request) as answer:
            if answer.is_success:
                yield answer
                return
            await answer.aread()
        if answer.status_code != httpx.codes.UNAUTHORIZED or not await self._renewed(used):
            raise refusal(answer)
        again = said | _bearer(self._tokens)
        async with self._http.stream(method, self._base_url + path, headers=again, **request) as answer:
            if not answer.is_success:
                await answer.aread()
                raise refusal(answer)
            yield answer

    async def _signed(
        self, method: str, path: str, request: dict[str, Any], *, repeatable: bool, signed: bool
    ) -> httpx.Response:
        used = self._tokens if signed else None
        answer = await self._attempts(method, path, request, used, repeatable)
        if answer.status_code == httpx.codes.UNAUTHORIZED and await self._renewed(used):
            answer = await self._attempts(method, path, request, self._tokens, repeatable)
        if not answer.is_success:
            raise refusal(answer)
        return answer

    async def _attempts(
        self, method: str, path: str, request: dict[str, Any], tokens: Tokens | None, repeatable: bool
    ) -> httpx.Response:
        headers = {**request["headers"], **_bearer(tokens)}
        left = self._retries if repeatable else 0
        while True:
            pause = 0.3
            try:
                answer = await self._http.request(method, self._base_url + path, **(request | {"headers": headers}))
                if left == 0 or answer.status_code not in _WORTH_ANOTHER_TRY:
                    return answer
                pause = min(float(answer.headers.get("Retry-After", pause)), _PAUSE_SECONDS_MAX)
            except httpx.TransportError:
                if left == 0:
                    raise
            left -= 1
            await asyncio.sleep(pause)

    async def _renewed(self, used: Tokens | None) -> bool:
        """Whether there is another token than the one that was refused. Of many calls at once, one refreshes."""
        if used is None or used.refresh_token is None:
            return False
        async with self._refreshing:
            if self._tokens != used:
                return self._tokens is not None
            body = {"refreshToken": used.refresh_token}
            answer = await self._http.post(f"{self._base_url}/api/auth/refresh", json=body)
            if answer.status_code == httpx.codes.UNAUTHORIZED:
                self.use_tokens(None)
                return False
            if not answer.is_success:
                raise refusal(answer)
            told = answer.json()["data"]
            self.use_tokens(Tokens(told["accessToken"], told["refreshToken"]))
            return True


def refusal(answer: httpx.Response) -> Refused:
    """The error that an unsuccessful answer means."""
    try:
        problem = answer.json()
    except ValueError:
        problem = None
    if not isinstance(problem, dict):
        problem = {"detail": answer.text[:300]}
    return BY_CODE.get(str(problem.get("code")), Refused)(answer, problem)


def _bearer(tokens: Tokens | None) -> dict[str, str]:
    return {"Authorization": f"Bearer {tokens.access_token}"} if tokens else {}


def _query(values: Mapping[str, Any] | None) -> dict[str, Any]:
    """What was said, as the server writes it: times in UTC, truth in small letters."""
    return {name: _written(value) for name, value in (values or {}).items() if value is not None}


def _written(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, date | UUID):
        return str(value)
    return value
