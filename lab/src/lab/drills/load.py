"""Steady traffic of every kind that depends on a secret. No request is retried: each error is a failure."""

import asyncio
import hashlib
import hmac
import json
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import uuid4

import httpx

from campus_tools.launcher.system import System
from contracts.demo import ADA
from lab.drills.doubled import pay_without_kept_connections
from lab.report import Report
from lab.trade import add_stock
from operations.journey import Marketplace, SignedInUser, StepFailed

WEBHOOK: Final = "/functions/v1/gateway-webhook"
DELIVERY: Final = "/functions/v1/deliver-notification"
# A client renews its session before its token expires after fifteen minutes.
RENEW_SECONDS: Final = 240.0


class Failed(Exception):
    """A request of the load failed."""


@dataclass
class Load:
    """The traffic. `webhook_key` signs the gateway's webhooks, `service_key` authorizes calls of functions."""

    market: Marketplace
    product_ids: list[str]
    webhook_key: str
    service_key: str
    succeeded: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    # The expected provider of the assistant; None accepts any.
    assistant: str | None = "openai-compatible"
    # Function calls with a key that was just revoked, before its callers have the new one; they are expected.
    refused: int = 0
    may_be_refused: bool = False
    _buyer: SignedInUser = field(init=False)
    _user_id: str = field(init=False)
    _renewed_at: float = 0.0
    _tasks: list[asyncio.Task[None]] = field(default_factory=list)
    _stopping: asyncio.Event = field(default_factory=asyncio.Event)

    async def start(self) -> None:
        self._buyer, self._renewed_at = await self.market.sign_in("buyer@unilag.edu.ng"), time.monotonic()
        profile = await self.market.get("/api/profiles/current", self._buyer)
        self._user_id = str(profile["id"])
        for name, every, action in (
            ("signed webhook", 0.2, self._webhook),
            ("function by the service key", 0.25, self._function),
            ("logged-in read", 0.1, self._read),
            ("logged-in write", 0.25, self._write),
            ("purchase: order, intent, payment", 1.0, self._purchase),
            ("chat with the assistant", 1.0, self._chat),
            ("anonymous read", 0.25, self._browse),
            ("renewed session", RENEW_SECONDS, self._renew),
            ("signing in", 10.0, self._sign_in),
        ):
            self._tasks.append(asyncio.create_task(self._steadily(name, every, action)))

    async def stop(self) -> None:
        """Stop, and wait for running requests."""
        self._stopping.set()
        await asyncio.gather(*self._tasks)

    @property
    def token(self) -> str:
        """The current access token of the readers."""
        return self._buyer.access_token

    def record_in(self, report: Report) -> None:
        """Record the requests: none may fail."""
        report.rows |= {name: f"{count} succeeded" for name, count in self.succeeded.items()}
        if self.refused:
            report.rows["function calls rejected before their caller had the new key"] = str(self.refused)
        report.require_none("failed requests", self.failures)

    async def _steadily(self, name: str, every: float, action: Callable[[], Awaitable[None]]) -> None:
        while not self._stopping.is_set():
            began = time.monotonic()
            try:
                await action()
                self.succeeded[name] += 1
            except (Failed, StepFailed, TimeoutError, httpx.TransportError) as error:
                stamp = time.strftime("%H:%M:%S")
                self.failures.append(f"{stamp} {name}: {error if str(error) else type(error).__name__}")
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), max(0.0, every - (time.monotonic() - began)))

    async def _webhook(self) -> None:
        _must(await self.call_webhook(self.webhook_key))

    async def call_webhook(self, key: str) -> httpx.Response:
        """Send an event without effect, signed with this key."""
        raw = json.dumps({"event": "subscription.create", "data": {"id": str(uuid4())}}).encode()
        signature = hmac.new(key.encode(), raw, hashlib.sha512).hexdigest()
        return await self.market.http.post(WEBHOOK, content=raw, headers={"x-gateway-signature": signature})

    async def _function(self) -> None:
        response = await self.call_function(self.service_key)
        if response.status_code == 401 and self.may_be_refused:
            self.refused += 1
            return
        _must(response)

    async def call_function(self, key: str) -> httpx.Response:
        """Call deliver-notification with this key."""
        body = {
            "notificationId": str(uuid4()), "userId": self._user_id, "channel": "email",
            "template": "vendor_reinstated", "data": {"businessName": ADA.business_name},
        }  # fmt: skip
        return await self.market.http.post(DELIVERY, json=body, headers={"Authorization": f"Bearer {key}"})

    async def _read(self) -> None:
        _must(await self.market.http.get("/api/orders", headers=self._buyer.headers))

    async def _write(self) -> None:
        await self.market.checkout(self._buyer, self.product_ids[0])

    async def _purchase(self) -> None:
        order = await self.market.checkout(self._buyer, self.product_ids[1])
        await self.market.pay(
            await self.market.until("payments has consumed the order", lambda: self._intent(order), 60)
        )

    async def _intent(self, order: dict[str, Any]) -> dict[str, Any] | None:
        """Return the payment intent; None while payments has not consumed the order, which it reports as 404."""
        try:
            return await self.market.pay_intent(self._buyer, order["id"])
        except StepFailed as error:
            if error.status == 404:
                return None
            raise

    async def _chat(self) -> None:
        response = await self.market.http.post(
            "/api/assistant/chat", json={"message": "Good day?"}, headers=self._buyer.headers
        )
        reply: dict[str, Any] = _must(response).json()["data"]
        if self.assistant is not None and reply["provider"] != self.assistant:
            raise Failed(f"the provider is {reply['provider']}, expected {self.assistant}")

    async def _browse(self) -> None:
        _must(await self.market.http.get("/api/products"))

    async def _renew(self) -> None:
        if time.monotonic() - self._renewed_at < RENEW_SECONDS:
            return
        body = {"refreshToken": self._buyer.refresh_token}
        tokens = await self.market.post("/api/auth/refresh", body)
        self._buyer = SignedInUser(self._buyer.email, tokens["accessToken"], tokens["refreshToken"])
        self._renewed_at = time.monotonic()

    async def _sign_in(self) -> None:
        await self.market.sign_in("buyer2@unilag.edu.ng")


@asynccontextmanager
async def loaded(
    system: System, market: Marketplace, *, assistant: str | None = "openai-compatible"
) -> AsyncIterator[Load]:
    """Yield traffic on a system, which ends with the block: it is complete afterwards."""
    await pay_without_kept_connections(market, system)
    product_ids = await add_stock(market, await market.sign_in("vendor@unilag.edu.ng"), 1_000_000)
    secrets = system.secrets
    load = Load(market, product_ids, secrets["GATEWAY_SECRET_KEY"], secrets["SERVICE_ROLE_KEY"], assistant=assistant)
    await load.start()
    try:
        yield load
    finally:
        await load.stop()


def _must(response: httpx.Response) -> httpx.Response:
    if not response.is_success:
        raise Failed(f"{response.status_code} {response.text[:200]}")
    return response
