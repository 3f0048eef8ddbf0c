"""The adapter of Paystack over responses of the test."""

import json
from typing import Any

import httpx

from payouts.clients.paystack import Paystack
from payouts.domain.transfer_fees import FeeSchedule
from providers.paystack import PaystackApi


class Responses:
    """Returns the responses in turn, the last one repeatedly, and stores the requests."""

    def __init__(self, *responses: tuple[int, Any]) -> None:
        self._responses = list(responses)
        self.requests: list[httpx.Request] = []
        self.key_rejections = 0

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        status, body = self._responses.pop(0) if len(self._responses) > 1 else self._responses[0]
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        return httpx.Response(status, content=content)

    def then(self, *responses: tuple[int, Any]) -> None:
        """Responds so from now on."""
        self._responses = list(responses)

    async def on_key_rejected(self) -> None:
        self.key_rejections += 1


def paystack(responses: Responses, minimum_minor: int = 1) -> Paystack:
    client = httpx.AsyncClient(base_url="http://gateway", transport=httpx.MockTransport(responses))
    api = PaystackApi(client, 5, responses.on_key_rejected)
    return Paystack(api, lambda vendor_id, kept: "0123456789", minimum_minor, FeeSchedule())


def ok(data: Any, **further: Any) -> tuple[int, dict[str, Any]]:
    return 200, {"status": True, "message": "fine", "data": data, **further}
