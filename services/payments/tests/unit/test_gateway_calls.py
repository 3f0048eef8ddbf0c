"""A call to the payment gateway returns a usable response in time, or counts as unanswered."""

import asyncio
from collections.abc import AsyncIterator, Callable

import httpx
import pytest

from payments.clients.flutterwave import FlutterwaveGateway
from payments.clients.gateway import GatewayKeyRejected, GatewayUnavailable
from payments.clients.paystack import PaystackGateway
from payments.domain.gateway_faults import key_alert
from providers.calls import OnKeyRejected

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
    monkeypatch.setattr(
        gateway._api.client, "_transport", httpx.MockTransport(lambda _: httpx.Response(200, stream=body))
    )
    with pytest.raises(GatewayUnavailable):
        await gateway.find_refund("1")
    assert body.given < len(RESPONSE)
    await gateway.close()


@pytest.mark.parametrize("body", [b"", b"<html>", b'{"data": "\xff"}', b"[" * 100_000, b"null"])
async def test_an_unreadable_body_is_no_response(monkeypatch: pytest.MonkeyPatch, body: bytes) -> None:
    gateway = PaystackGateway("http://gateway", "sk")
    monkeypatch.setattr(
        gateway._api.client, "_transport", httpx.MockTransport(lambda _: httpx.Response(500, content=body))
    )
    with pytest.raises(GatewayUnavailable):
        await gateway.find_refund("1")
    await gateway.close()


def _paystack(on_key_rejected: OnKeyRejected) -> PaystackGateway:
    return PaystackGateway("http://gateway", "sk", on_key_rejected=on_key_rejected)


def _flutterwave(on_key_rejected: OnKeyRejected) -> FlutterwaveGateway:
    return FlutterwaveGateway(
        "http://gateway/v3", "FLWSECK", "https://shop.example/paid", on_key_rejected=on_key_rejected
    )


@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize(
    ("build", "body", "is_about_the_key"),
    [
        (_paystack, b'{"status": false, "message": "Invalid key"}', True),
        (_paystack, b"<html>Forbidden</html>", False),
        (_paystack, b'{"error": "forbidden by the proxy"}', False),
        (_flutterwave, b'{"status": "error", "message": "Invalid authorization key", "data": null}', True),
        (_flutterwave, b'{"status": false}', False),
    ],
)
async def test_only_the_gateways_own_401_or_403_rejects_our_key(
    monkeypatch: pytest.MonkeyPatch,
    build: Callable[[OnKeyRejected], PaystackGateway | FlutterwaveGateway],
    body: bytes,
    is_about_the_key: bool,
    status: int,
) -> None:
    reported: list[bool] = []

    async def on_key_rejected() -> None:
        reported.append(True)

    gateway = build(on_key_rejected)
    respond = httpx.MockTransport(lambda _: httpx.Response(status, content=body))
    monkeypatch.setattr(gateway._api.client, "_transport", respond)
    with pytest.raises(GatewayUnavailable) as raised:
        await gateway.balance_minor("NGN")
    assert isinstance(raised.value, GatewayKeyRejected) == is_about_the_key
    assert reported == [True] * is_about_the_key
    await gateway.close()


def test_the_rejected_key_of_each_gateway_has_an_alert_of_its_own() -> None:
    assert key_alert("paystack") == "payments:gateway-key:paystack"
    assert key_alert("flutterwave") == "payments:gateway-key:flutterwave"
