"""Tokens, their refresh and their end over a real socket, with both clients."""

import asyncio
import base64
import json
import threading

import pytest

from campus_client import Tokens, TransportError, errors

from .conftest import INTENT, NEW_TOKENS, ORDER, SESSION, Connect
from .wire import LOST, Received, Reply, Server, enveloped, problem


def token_of(user: str) -> str:
    payload = base64.urlsafe_b64encode(json.dumps({"sub": user}).encode()).decode().rstrip("=")
    return f"header.{payload}.signature"


async def test_an_expired_token_is_refreshed_once_for_all_calls(server: Server, connect: Connect) -> None:
    # All calls meet the expired token before the first of them is refreshed.
    together = threading.Barrier(5)

    def reply(request: Received) -> Reply:
        if request.path == "/api/auth/refresh":
            return enveloped(NEW_TOKENS)
        if request.token == "first":
            together.wait()
            return problem(401, "AUTH_TOKEN_EXPIRED")
        return enveloped([])

    server.replies = reply
    client = connect(tokens=SESSION)
    await asyncio.gather(*(client.call(lambda campus: campus.auth.list_factors()) for _ in range(5)))
    refreshes = [request for request in server.requests if request.path == "/api/auth/refresh"]
    assert [json.loads(request.body) for request in refreshes] == [{"refreshToken": "first-refresh"}]
    assert refreshes[0].token == ""
    assert client.campus.tokens == Tokens("second", "second-refresh")


async def test_a_lost_refresh_is_not_the_end_of_the_session(server: Server, connect: Connect) -> None:
    server.reply_with(problem(401, "AUTH_TOKEN_EXPIRED"), LOST, LOST, LOST)
    client = connect(tokens=SESSION)
    with pytest.raises(TransportError):
        await client.call(lambda campus: campus.auth.list_factors())
    assert client.campus.tokens == SESSION
    server.reply_with(problem(401, "AUTH_TOKEN_EXPIRED"), LOST, enveloped(NEW_TOKENS), enveloped([]))
    assert await client.call(lambda campus: campus.auth.list_factors()) == []


async def test_a_rejected_refresh_token_ends_the_session(server: Server, connect: Connect) -> None:
    server.reply_with(problem(401, "AUTH_TOKEN_EXPIRED"), problem(401, "AUTH_UNAUTHORIZED"))
    client = connect(tokens=SESSION)
    with pytest.raises(errors.AuthUnauthorizedError):
        await client.call(lambda campus: campus.auth.list_factors())
    assert client.campus.tokens is None


async def test_a_second_401_is_an_error(server: Server, connect: Connect) -> None:
    expired = problem(401, "AUTH_TOKEN_EXPIRED")
    server.reply_with(expired, enveloped(NEW_TOKENS), expired)
    with pytest.raises(errors.AuthTokenExpiredError):
        await connect(tokens=SESSION).call(lambda campus: campus.auth.list_factors())


async def test_two_clients_share_a_session_by_their_store(server: Server, connect: Connect) -> None:
    class Store:
        kept: Tokens | None = SESSION

        def get(self) -> Tokens | None:
            return self.kept

        def set(self, tokens: Tokens | None) -> None:
            self.kept = tokens

    store = Store()
    first, second = connect(tokens=store), connect(tokens=store)
    server.reply_with(problem(401, "AUTH_TOKEN_EXPIRED"), enveloped(NEW_TOKENS), enveloped([]), enveloped([]))
    for client in (first, second):
        await client.call(lambda campus: campus.auth.list_factors())
    assert [request.token for request in server.requests] == ["first", "", "second", "second"]


async def test_a_call_is_not_repeated_for_another_user(server: Server, connect: Connect) -> None:
    ada, bola = Tokens(token_of("ada"), "ada-refresh"), Tokens(token_of("bola"), "bola-refresh")

    def reply(_request: Received) -> Reply:
        # Another user signs in while the call of the first one is under way.
        client.campus.set_tokens(bola)
        return problem(401, "AUTH_TOKEN_EXPIRED")

    server.replies = reply
    client = connect(tokens=ada)
    with pytest.raises(errors.AuthTokenExpiredError):
        await client.call(lambda campus: campus.payments.create_intent(INTENT))
    assert [request.token for request in server.requests] == [ada.access_token]
    assert client.campus.tokens == bola


async def test_a_sign_in_during_a_refresh_is_kept(server: Server, connect: Connect) -> None:
    bola = Tokens(token_of("bola"), "bola-refresh")

    def reply(request: Received) -> Reply:
        if request.path != "/api/auth/refresh":
            return problem(401, "AUTH_TOKEN_EXPIRED")
        client.campus.set_tokens(bola)
        return enveloped(NEW_TOKENS)

    server.replies = reply
    client = connect(tokens=Tokens(token_of("ada"), "ada-refresh"))
    with pytest.raises(errors.AuthTokenExpiredError):
        await client.call(lambda campus: campus.payments.create_intent(INTENT))
    assert client.campus.tokens == bola
    assert len(server.requests) == 2


async def test_a_call_is_not_repeated_after_the_end_of_its_session(server: Server, connect: Connect) -> None:
    def reply(_request: Received) -> Reply:
        client.campus.set_tokens(None)
        return problem(401, "AUTH_TOKEN_EXPIRED")

    server.replies = reply
    client = connect(tokens=SESSION)
    with pytest.raises(errors.AuthTokenExpiredError):
        await client.call(lambda campus: campus.auth.list_factors())
    assert len(server.requests) == 1


async def test_signing_out_ends_the_session_on_the_server(server: Server, connect: Connect) -> None:
    server.reply_with(enveloped(NEW_TOKENS), enveloped({"sessionId": str(ORDER)}))
    client = connect()
    await client.call(lambda campus: campus.sign_in("buyer@unilag.edu.ng", "password"))
    await client.call(lambda campus: campus.sign_out())
    assert [(request.path, request.token) for request in server.requests] == [
        ("/api/auth/login", ""),
        ("/api/auth/logout", "second"),
    ]
    assert client.campus.tokens is None
