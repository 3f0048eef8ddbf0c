"""A call to the payment gateway returns a usable response in time, or counts as unanswered."""

import asyncio
from collections.abc import AsyncIterator

import httpx
import pytest

from payments.clients.gateway import GatewayUnavailable
from payments.clients.paystack import PaystackGateway

RESPONSE = b'{"status": true, "data": {"id": 1}}'


class Dripping(httpx.AsyncByteStream):
    """A body in single bytes: each is in time, and the whole is not."""

    def __init__(self) -> None:
        self.given = 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for byte in RESPONSE:
            await asyncio.sleep(0.05)
            self.given += 1
            yield bytes([byte])


async def test_a_response_that_drips_is_a_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    body = Dripping()
    gateway = PaystackGateway("http://gateway", "sk", seconds_max=0.3)
    monkeypatch.setattr(gateway._client, "_transport", httpx.MockTransport(lambda _: httpx.Response(200, stream=body)))
    with pytest.raises(GatewayUnavailable):
        await gateway.find_refund("1")
    assert body.given < len(RESPONSE)
    await gateway.close()


@pytest.mark.parametrize("body", [b"", b"<html>", b'{"data": "\xff"}', b"[" * 100_000, b"null"])
async def test_an_unreadable_body_is_no_response(monkeypatch: pytest.MonkeyPatch, body: bytes) -> None:
    gateway = PaystackGateway("http://gateway", "sk")
    monkeypatch.setattr(gateway._client, "_transport", httpx.MockTransport(lambda _: httpx.Response(500, content=body)))
    with pytest.raises(GatewayUnavailable):
        await gateway.find_refund("1")
    await gateway.close()
