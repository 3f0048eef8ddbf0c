"""A buyer or a vendor at the Python client, in a process of its own, as load of `make client-chaos`.

A user presses a button until there is a response, sometimes in two tabs at once, always with the key of the form. The
history has each of these calls with the form's key, above the client's own retries.
"""

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Final
from uuid import uuid4

import httpx

from campus_client import ApiError, AsyncCampus, TransportError
from lab.histories.recording import History

_PRESSES_MAX: Final = 60
_PAUSE_SECONDS: Final = 0.5
_TABS_RATE, _CANCEL_RATE = 0.3, 0.25


class NewKeys(httpx.AsyncClient):
    """The planted fault: a repeated request gets a new key."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._sent: set[str] = set()

    async def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        """Send a request, with another key than before."""
        if (key := request.headers.get("Idempotency-Key")) in self._sent:
            request.headers["Idempotency-Key"] = str(uuid4())
        self._sent.add(key or "")
        return await super().send(request, **options)


@dataclass(slots=True)
class User:
    """A signed-in user and what the user wants."""

    campus: AsyncCampus
    history: History
    random: Random
    sandbox_url: str

    async def call(
        self, method: str, path: str, body: object = None, key: str = "", query: Mapping[str, Any] | None = None
    ) -> httpx.Response | None:
        """Call the API once by the client; None without a response."""
        tokens = self.campus.tokens
        headers = {"Authorization": f"Bearer {tokens.access_token}"} if tokens else {}
        headers |= {"Idempotency-Key": key} if key else {}
        index = self.history.invoke(httpx.Request(method, f"http://api{path}", params=query, headers=headers))
        options: dict[str, Any] = {"idempotency_key": key} if key else {}
        try:
            response = await self.campus.request(method, path, query=query, json=body, **options)
        except ApiError as error:
            response = httpx.Response(error.status, headers=error.headers)
        except TransportError as error:
            self.history.fail_to_complete(index, error)
            return None
        self.history.complete(index, response)
        return response

    async def press(self, path: str, body: object) -> Any:
        """Post a form until there is a response; returns its data, None for a rejection."""
        key = str(uuid4())
        for _ in range(_PRESSES_MAX):
            tabs = 2 if self.random.random() < _TABS_RATE else 1
            pressed = await asyncio.gather(*(self.call("POST", path, body, key) for _ in range(tabs)))
            responses = [response for response in pressed if response is not None]
            for response in responses:
                if response.is_success:
                    return response.json()["data"]
            if any(response.status_code < 500 and "Retry-After" not in response.headers for response in responses):
                return None
            await asyncio.sleep(_PAUSE_SECONDS)
        return None

    async def read(self, path: str, **query: Any) -> Any:
        """Return what a page shows; None when it cannot be loaded."""
        response = await self.call("GET", path, query=query)
        return response.json()["data"] if response is not None and response.is_success else None

    async def sign_in(self, email: str, password: str) -> None:
        """Sign in, as often as it takes."""
        while self.campus.tokens is None:
            try:
                await self.campus.sign_in(email, password)
            except (ApiError, TransportError):
                await asyncio.sleep(_PAUSE_SECONDS)

    async def buy(self, product_id: str) -> None:
        """Check out and pay, or cancel, and look at the order."""
        order = await self.press("/api/orders/checkout", {"items": [{"productId": product_id, "quantity": 1}]})
        if order is None:
            return
        path = f"/api/orders/{order['id']}"
        await self.read(path)
        if self.random.random() < _CANCEL_RATE:
            await self.press(f"{path}/cancel", {"reason": "Ordered twice."})
        else:
            await self._pay(order["id"])
        await self.read(f"{path}/timeline")
        await self.read("/api/orders", **{"as": "buyer", "limit": 20})

    async def _pay(self, order_id: str) -> None:
        for _ in range(_PRESSES_MAX):
            # 404 until payments has received the order.
            intent = await self.press("/api/payments/intent", {"orderId": order_id})
            if intent is not None:
                break
            await asyncio.sleep(_PAUSE_SECONDS)
        else:
            return
        async with httpx.AsyncClient(base_url=self.sandbox_url, headers={"Accept": "application/json"}) as page:
            await page.post(f"/pay/{intent['accessCode']}", data={"action": "pay"})

    async def sell(self, number: int) -> None:
        """Dispatch or cancel what is paid, request a payout, and look at the wallet."""
        for order in await self.read("/api/orders", **{"as": "vendor", "status": "paid_escrow", "limit": 4}) or ():
            is_cancelled = self.random.random() < _CANCEL_RATE
            path = f"/api/orders/{order['id']}"
            await self.press(
                *((f"{path}/cancel", {"reason": "Sold out."}) if is_cancelled else (f"{path}/dispatch", {}))
            )
            await self.read(path)
        await self.press("/api/payouts", {"amountMinor": 10_000 + number})
        await self.read("/api/wallets/current/statement", limit=50)


async def main(settings: Mapping[str, Any]) -> None:
    """Act as the user of these settings."""
    http = NewKeys() if settings["plant"] else None
    random = Random(f"{settings['seed']} {settings['name']}")
    async with AsyncCampus(os.environ["API_URL"], http=http) as campus:
        user = User(campus, History(Path(settings["history"]), settings["name"]), random, os.environ["SANDBOX_URL"])
        await user.sign_in(settings["email"], settings["password"])
        for number in range(settings["rounds"]):
            await (user.sell(number) if settings["is_vendor"] else user.buy(settings["productId"]))


if __name__ == "__main__":
    asyncio.run(main(json.loads(sys.argv[1])))
