"""Each test plays with the blocking and with the asynchronous client."""

import ssl
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any
from uuid import UUID

import httpx
import pytest

from campus_client import AsyncCampus, Campus, Tokens, models, session

from .wire import AsynchronousCalls, BlockingCalls, Calls, Server, running_server

ORDER = UUID("018f2a6b-5c1d-7e4a-9b3f-2d6c8a1e0f47")
INTENT = models.CreatePaymentIntentRequest(order_id=ORDER)
SESSION = Tokens("first", "first-refresh")
NEW_TOKENS = {
    "accessToken": "second", "refreshToken": "second-refresh", "tokenType": "Bearer", "expiresIn": 900, "aal": "aal1",
    "mfaRequired": False,
}  # fmt: skip
Connect = Callable[..., Calls]
# To read the system's certificates for each client would take most of the time.
NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Attempt follow each other at once; `Retry-After` is waited for."""
    monkeypatch.setattr(session, "_PAUSE_SECONDS", 0)
    monkeypatch.setattr(session, "_RECONNECT_SECONDS", 0)


@pytest.fixture
def server() -> Iterator[Server]:
    with running_server() as server:
        yield server


@pytest.fixture(params=["blocking", "asynchronous"])
async def connect(request: pytest.FixtureRequest, server: Server) -> AsyncIterator[Connect]:
    """Open clients of the server."""
    with httpx.Client(verify=NO_TLS) as blocking:
        async with httpx.AsyncClient(verify=NO_TLS) as asynchronous:

            def connect(**options: Any) -> Calls:
                if request.param == "blocking":
                    return BlockingCalls(Campus(server.base_url, http=blocking, **options))
                return AsynchronousCalls(AsyncCampus(server.base_url, http=asynchronous, **options))

            yield connect
