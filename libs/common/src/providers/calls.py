"""Calls of a gateway's API, and what a response says in the gateway's own format."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from decimal import InvalidOperation
from typing import Final, TypedDict, Unpack

import httpx

from providers.wire import Fields, Value, fields_of, phrase_of, text_of

# Our key, or our address, is not accepted: a fault of the operator, and no statement about the request.
_KEY_REJECTED: Final = frozenset({401, 403})

# Runs after every call that a gateway rejected for our key.
OnKeyRejected = Callable[[], Awaitable[None]]


class NoResponse(Exception):
    """The call ended without a response that can be read. The request may have had its effect."""


@dataclass(frozen=True, slots=True)
class GatewayResponse:
    """A response with a JSON body; `own_status` is None when a proxy sent it, and not the gateway itself."""

    call: str
    status: int
    body: Fields
    own_status: bool | None

    @property
    def is_success(self) -> bool:
        """Return whether the gateway itself reports that the request was executed."""
        return self.status < 300 and self.own_status is True

    @property
    def is_own_error(self) -> bool:
        """Return whether the gateway itself sent the error, and no proxy between us."""
        return self.own_status is False

    @property
    def rejects_key(self) -> bool:
        return self.status in _KEY_REJECTED and self.is_own_error

    @property
    def data(self) -> Value:
        return self.body.get("data")

    @property
    def fields(self) -> Fields:
        """The fields of `data`; empty when it is no object."""
        return fields_of(self.data)

    @property
    def message(self) -> str:
        return phrase_of(self.body.get("message")) or ""

    @property
    def code(self) -> str | None:
        """The code of the cause of an error, if any."""
        return text_of(self.body.get("code"))

    @property
    def kind(self) -> str | None:
        """The kind of the cause of an error, if any."""
        return text_of(self.body.get("type"))


class RequestContent(TypedDict, total=False):
    """The content of a request: its query, its JSON body."""

    params: Mapping[str, str | int] | None
    json: object


class GatewayApi(ABC):
    """One gateway's API under our secret key. Every call ends within `seconds_max`, also when the response arrives
    byte by byte.

    A subclass has `decode` and `own_status_of`, and the calls that both payments and payouts make.
    """

    def __init__(
        self, client: httpx.AsyncClient, seconds_max: float, on_key_rejected: OnKeyRejected | None = None
    ) -> None:
        self.client = client
        self.seconds_max = seconds_max
        self._on_key_rejected = on_key_rejected

    @staticmethod
    @abstractmethod
    def decode(content: bytes) -> Value:
        """Return the JSON value of a response. Raises ValueError."""

    @staticmethod
    @abstractmethod
    def own_status_of(body: Fields) -> bool | None:
        """Return whether the gateway reports success or an error; None for a body in another format."""

    async def send(self, method: str, path: str, **content: Unpack[RequestContent]) -> GatewayResponse:
        """Return the response to one request. Raises NoResponse."""
        call = f"{method} {path}"
        try:
            async with asyncio.timeout(self.seconds_max):
                received = await self.client.request(method, path, **content)
        except (httpx.HTTPError, TimeoutError) as error:
            raise NoResponse(f"{call}: {type(error).__name__}") from error
        try:
            body = fields_of(self.decode(received.content))
        except (ValueError, RecursionError, InvalidOperation) as error:
            raise NoResponse(f"{call}: {received.status_code} without JSON") from error
        response = GatewayResponse(call, received.status_code, body, self.own_status_of(body))
        if response.rejects_key and self._on_key_rejected is not None:
            await self._on_key_rejected()
        return response
