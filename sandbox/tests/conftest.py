"""A real sandbox on real sockets, and a real receiver of its webhooks that checks every signature."""

import base64
import hashlib
import hmac
import json
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import httpx
import pytest
from aiohttp import web

from common.primitives.tls import client_tls

# pytest names this file after its folders, `sandbox.tests.conftest`, and puts an empty package `sandbox` where the
# installed one belongs. Without its entry the next import finds the installed one again.
if getattr(sys.modules.get("sandbox"), "__file__", None) is None:
    sys.modules.pop("sandbox", None)

from campus_tools.servers.ports import held_ports
from sandbox.app import create_app
from sandbox.settings import Settings, read_settings
from testkit.service_kit import served

KEY = "sk_test_current"
OLD_KEY = "sk_test_previous"
APP_SECRET = "messaging-app-secret"
RECEIPT_KEY = "receipt-key"
TWILIO_CALLBACK = "https://campus.example/functions/v1/sms-receipts/twilio"
TWILIO_TOKEN = "the auth token of a test account"
FLUTTERWAVE_KEY = "FLWSECK_TEST-key"
WEBHOOK_HASH = "webhook-hash"


@dataclass
class Receiver:
    """Stores every webhook with a valid signature; `answers` are the statuses for the next ones (then 200)."""

    address: str = ""
    received: list[tuple[str, bytes]] = field(default_factory=list)
    rejected: list[bytes] = field(default_factory=list)
    responses: list[int] = field(default_factory=list)
    receipts: list[tuple[str, bytes]] = field(default_factory=list)

    async def accept(self, request: web.Request) -> web.Response:
        raw = await request.read()
        if not self._signed(request, raw):
            self.rejected.append(raw)
            return web.Response(status=401)
        self.received.append((request.path, raw))
        return web.Response(status=self.responses.pop(0) if self.responses else 200)

    async def accept_receipt(self, request: web.Request) -> web.Response:
        raw = await request.read()
        if request.path.endswith("/termii"):
            key = hmac.new(RECEIPT_KEY.encode(), raw, hashlib.sha512).hexdigest()
            is_known = request.headers.get("X-Termii-Signature") == key
        elif request.path.endswith("/twilio"):
            form = dict(parse_qsl(raw.decode()))
            signed = TWILIO_CALLBACK + "".join(f"{name}{value}" for name, value in sorted(form.items()))
            digest = hmac.new(TWILIO_TOKEN.encode(), signed.encode(), hashlib.sha1).digest()
            is_known = request.headers.get("X-Twilio-Signature") == base64.b64encode(digest).decode()
        else:
            is_known = request.query.get("key") == RECEIPT_KEY
        if not is_known:
            self.rejected.append(raw)
            return web.Response(status=401)
        self.receipts.append((request.path, raw))
        return web.Response(status=200)

    def _signed(self, request: web.Request, raw: bytes) -> bool:
        if request.path == "/flutterwave":
            if "flutterwave-signature" in request.headers:
                digest = hmac.new(WEBHOOK_HASH.encode(), raw, hashlib.sha256).digest()
                return request.headers["flutterwave-signature"] == base64.b64encode(digest).decode()
            return request.headers.get("verif-hash") == WEBHOOK_HASH
        if request.path == "/gateway-webhook":
            expected, given = hmac.new(KEY.encode(), raw, hashlib.sha512).hexdigest(), "x-gateway-signature"
        else:
            digest = hmac.new(APP_SECRET.encode(), raw, hashlib.sha256).hexdigest()
            expected, given = f"sha256={digest}", "X-Hub-Signature-256"
        return request.headers.get(given) == expected

    def events(self, name: str | None = None) -> list[dict[str, Any]]:
        bodies = [json.loads(raw) for path, raw in self.received if path == "/gateway-webhook"]
        return [body for body in bodies if name is None or body["event"] == name]

    def flutterwave(self, name: str) -> list[dict[str, Any]]:
        bodies = [json.loads(raw, parse_float=Decimal) for path, raw in self.received if path == "/flutterwave"]
        return [body for body in bodies if body["event"] == name]

    def messaging(self) -> list[dict[str, Any]]:
        return [json.loads(raw) for path, raw in self.received if path == "/messaging"]


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    kept = Receiver()
    app = web.Application()
    app.router.add_post("/{anything}", kept.accept)
    app.router.add_post("/receipts/{company}", kept.accept_receipt)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    kept.address = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield kept
    await runner.cleanup()
    assert kept.rejected == [], "a webhook arrived with a wrong signature"


def environment_for(
    state_dir: Path, receiver_address: str, port: int, smtp_port: int, **changes: str
) -> dict[str, str]:
    return {
        "PORT": str(port),
        "SMTP_PORT": str(smtp_port),
        "STATE_DIR": str(state_dir),
        "GATEWAY_SECRET_KEY": f"{KEY},{OLD_KEY}",
        "WEBHOOK_URL": f"{receiver_address}/gateway-webhook",
        "FLUTTERWAVE_SECRET_KEY": FLUTTERWAVE_KEY,
        "FLUTTERWAVE_WEBHOOK_URL": f"{receiver_address}/flutterwave",
        "FLUTTERWAVE_WEBHOOK_HASH": WEBHOOK_HASH,
        "MESSAGING_WEBHOOK_URL": f"{receiver_address}/messaging",
        "MESSAGING_APP_SECRET": APP_SECRET,
        "BASE_URL": f"http://127.0.0.1:{port}",
        **changes,
    }


@dataclass
class Sandbox:
    """A running sandbox and the few calls that nearly every test makes."""

    settings: Settings
    client: httpx.AsyncClient

    async def initialize(self, reference: str, amount: int | str = 500_000, **more: Any) -> httpx.Response:
        body = {"email": "buyer@unilag.edu.ng", "amount": amount, "reference": reference, **more}
        return await self.client.post("/gateway/transaction/initialize", json=body)

    async def pay(self, access_code: str, **fields: Any) -> httpx.Response:
        form = {"action": "pay", **fields}
        return await self.client.post(f"/pay/{access_code}", data=form, headers={"Accept": "application/json"})

    async def charge(self, reference: str, requested: int = 500_000, **fields: Any) -> None:
        opened = await self.initialize(reference, requested)
        paid = await self.pay(opened.json()["data"]["access_code"], **fields)
        assert paid.status_code == 200, paid.text

    async def recipient(self, account_number: str = "0123456785", bank_code: str = "058") -> str:
        body = {"type": "nuban", "name": "Ada Obi Ventures", "account_number": account_number, "bank_code": bank_code}
        created = await self.client.post("/gateway/transferrecipient", json={**body, "currency": "NGN"})
        assert created.status_code == 201, created.text
        return str(created.json()["data"]["recipient_code"])

    async def transfer(self, reference: str, amount: int = 100_000, **more: Any) -> httpx.Response:
        body = {"source": "balance", "amount": amount, "recipient": await self.recipient(), "reference": reference}
        return await self.client.post("/gateway/transfer", json={**body, "reason": "Payout", **more})

    async def transfer_status(self, reference: str) -> str:
        found = await self.client.get(f"/gateway/transfer/verify/{reference}")
        return str(found.json()["data"]["status"])

    async def balance(self, currency: str = "NGN") -> int:
        listed = (await self.client.get("/gateway/balance")).json()["data"]
        return int({line["currency"]: line["balance"] for line in listed}[currency])

    async def ledger(self) -> dict[str, Any]:
        return dict((await self.client.get("/control/book")).json())

    async def fault(self, **rules: Any) -> None:
        response = await self.client.put("/control/faults", json=rules)
        assert response.status_code == 200, response.text

    async def settings_are(self, **changes: Any) -> None:
        response = await self.client.put("/control/settings", json=changes)
        assert response.status_code == 200, response.text

    async def webhooks(self, **narrow: str) -> list[dict[str, Any]]:
        return list((await self.client.get("/control/webhooks", params=narrow)).json())

    async def messages(self, **narrow: str) -> list[dict[str, Any]]:
        return list((await self.client.get("/control/messages", params=narrow)).json())


@asynccontextmanager
async def running_sandbox(environment: dict[str, str]) -> AsyncIterator[Sandbox]:
    settings = read_settings(environment)
    app = create_app(settings)
    async with (
        app.router.lifespan_context(app),
        served(app, port=settings.port, date_header=False),
        httpx.AsyncClient(
            base_url=settings.base_url, headers={"Authorization": f"Bearer {KEY}"}, timeout=60, verify=client_tls()
        ) as client,
    ):
        yield Sandbox(settings, client)


@pytest.fixture
def environment(tmp_path: Path, receiver: Receiver) -> Iterator[dict[str, str]]:
    with held_ports(2) as [port, smtp_port]:
        yield environment_for(tmp_path / "state", receiver.address, port, smtp_port)


@pytest.fixture
async def sandbox(environment: dict[str, str]) -> AsyncIterator[Sandbox]:
    async with running_sandbox(environment) as running:
        await running.settings_are(transfer_delay_seconds=0.02, refund_delay_seconds=0.02)
        yield running


@pytest.fixture(name="running_sandbox")
def running_sandbox_fixture() -> Callable[..., Any]:
    return running_sandbox
