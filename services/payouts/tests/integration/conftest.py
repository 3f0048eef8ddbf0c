"""Fixtures: the service on real servers, with the sandbox's payment gateway on a real socket."""

import base64
import itertools
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import msgspec
import pytest

from campus_tools.servers import held_ports
from common.messaging.messages import Received
from common.primitives.clock import ManualClock
from common.primitives.ids import new_id
from common.primitives.signatures import SigningKey
from common.primitives.tls import client_tls
from contracts.event import Event
from contracts.identity import VendorApproved
from contracts.payments import (
    ChargeDisputed,
    EscrowHeld,
    EscrowRefunded,
    EscrowReleased,
    ReleaseStatement,
    statement_message,
)
from payouts.app import SERVICE
from sandbox.app import create_app
from sandbox.settings import read_settings
from testkit.fixtures import DatabaseFactory, DatabaseUrls
from testkit.responses import data_of
from testkit.service_kit import OpenService, opened, served
from testkit.world import World

KEY = "sk_test_payouts"
ACCOUNT_NUMBER_KEY = "a key of account numbers for these tests"
RELEASE_KEY = SigningKey(base64.urlsafe_b64encode(bytes(range(32))).decode())
# As long as possible: the gateway shares its event loop with the tests, and no call may be late by itself.
GATEWAY_SECONDS_MAX = 20


_ACCOUNTS = itertools.count(5_000_000_000)


@dataclass
class Sandbox:
    """The external gateway with its own ledger."""

    address: str
    client: httpx.AsyncClient

    async def faults(self, **rules: Any) -> None:
        response = await self.client.put("/control/faults", json=rules)
        assert response.status_code == 200, response.text

    async def configure(self, **changes: Any) -> None:
        response = await self.client.put("/control/settings", json=changes)
        assert response.status_code == 200, response.text

    async def transfers(self) -> list[dict[str, Any]]:
        return list((await self.client.get("/gateway/transfer")).json()["data"])

    async def balance_minor(self) -> int:
        listed = (await self.client.get("/gateway/balance")).json()["data"]
        return int({line["currency"]: line["balance"] for line in listed}["NGN"])

    async def new_account(self, legal_name: str = "Ada Obi Ventures") -> tuple[str, str]:
        """Return another account of this holder each time, and its bank."""
        account = f"{next(_ACCOUNTS):010d}", "058"
        await self.name_account(account[1], account[0], legal_name)
        return account

    async def name_account(self, bank_code: str, account_number: str, account_name: str) -> None:
        body = {"bank_code": bank_code, "account_number": account_number, "account_name": account_name}
        response = await self.client.put("/control/accounts", json=body)
        assert response.status_code == 200, response.text


OPENING_BALANCE_MINOR = 1_000_000_000
FLUTTERWAVE_KEY = "FLWSECK_TEST-payouts"


@asynccontextmanager
async def sandbox_in(folder: Path) -> AsyncIterator[Sandbox]:
    """Open the sandbox's payment gateway. It sends no webhooks: the tests deliver them."""
    with held_ports(2) as [port, mail_port]:
        settings = read_settings(
            {
                "PORT": str(port),
                "SMTP_PORT": str(mail_port),
                "STATE_DIR": str(folder / "sandbox"),
                "GATEWAY_SECRET_KEY": KEY,
                "WEBHOOK_URL": "http://127.0.0.1:9/webhook",
                "FLUTTERWAVE_SECRET_KEY": FLUTTERWAVE_KEY,
                "FLUTTERWAVE_WEBHOOK_URL": "http://127.0.0.1:9/flutterwave",
                "MESSAGING_WEBHOOK_URL": "http://127.0.0.1:9/messaging",
                "MESSAGING_APP_SECRET": "secret",
                "BASE_URL": f"http://127.0.0.1:{port}",
                "OPENING_BALANCE_MINOR": str(OPENING_BALANCE_MINOR),
            }
        )
        app = create_app(settings)
        headers = {"Authorization": f"Bearer {KEY}"}
        async with (
            app.router.lifespan_context(app),
            served(app, port=port),
            httpx.AsyncClient(base_url=settings.base_url, headers=headers, timeout=60, verify=client_tls()) as client,
        ):
            running = Sandbox(settings.base_url, client)
            await running.faults(transfer_webhook={"drop": True})
            # Small amounts keep sums simple.
            await running.configure(transfer_settlement="manual", transfer_minimum_minor=1)
            yield running


@pytest.fixture
async def sandbox(tmp_path: Path) -> AsyncIterator[Sandbox]:
    async with sandbox_in(tmp_path) as running:
        yield running


@pytest.fixture(scope="module")
async def shared_sandbox(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Sandbox]:
    """One sandbox for a module whose tests each have payouts of their own."""
    async with sandbox_in(tmp_path_factory.mktemp("shared")) as running:
        yield running


@dataclass(frozen=True)
class Vendor:
    """A vendor of a test, and its owner."""

    id: UUID
    owner: UUID
    legal_name: str = "Ada Obi Ventures"

    def claims(self, *, stepped_up: bool = False) -> dict[str, Any]:
        return {"roles": ("buyer", "merchant"), "vendor_id": self.id, "stepped_up": stepped_up}


class Payments:
    """Payments' signer: it counts and sums each vendor's movements, as payments' `sign_movement` does."""

    def __init__(self, key: SigningKey = RELEASE_KEY) -> None:
        self.key = key
        self._stated: dict[UUID, tuple[int, int]] = {}

    def statement(self, vendor_id: UUID, source: str, amount_minor: int) -> ReleaseStatement:
        sequence, net_minor = self._stated.get(vendor_id, (0, 0))
        sequence, net_minor = sequence + 1, net_minor + amount_minor
        self._stated[vendor_id] = (sequence, net_minor)
        message = statement_message(vendor_id, source, amount_minor, sequence, net_minor)
        return ReleaseStatement(
            sequence=sequence, net_minor=net_minor, key_id=self.key.id, signature=self.key.sign(message)
        )

    def signed(self, event: Event) -> Event:
        """Return the event with its statement, when it moves money of a vendor and has none."""
        source, amount_minor = movement_of(event)
        if not amount_minor or getattr(event, "statement", None) is not None:
            return event
        statement = self.statement(event.vendor_id, source, amount_minor)
        return msgspec.structs.replace(event, statement=statement)


def movement_of(event: Event) -> tuple[str, int]:
    """Return the source and the amount of an event's movement to or from a vendor."""
    if isinstance(event, EscrowReleased):
        return f"release:{event.release_id}", event.net_minor
    if isinstance(event, EscrowRefunded):
        return f"refund:{event.refund_id}", -event.from_vendor_minor
    if isinstance(event, ChargeDisputed):
        return f"chargeback:{event.chargeback_id}:{event.outcome}", event.to_vendor_minor - event.from_vendor_minor
    return "", 0


class SignedEvents:
    """The service with signed events: every movement is signed, the same event with the same statement each time."""

    def __init__(self, app: OpenService) -> None:
        self._app = app
        self.payments = Payments()
        self._signed: dict[Event, Event] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._app, name)

    async def deliver(self, event: Event, **how: Any) -> Received:
        if event not in self._signed:
            self._signed[event] = self.payments.signed(event)
        return await self._app.deliver(self._signed[event], **how)

    async def deliver_unsigned(self, event: Event, **how: Any) -> Received:
        """Delivers an event without a signature, or with one of the test."""
        return await self._app.deliver(event, **how)


class Scenario(World):
    """Actions and reads that many tests share."""

    app: SignedEvents

    def __init__(self, app: OpenService, clock: ManualClock) -> None:
        super().__init__(SignedEvents(app), clock)
        self.payments = self.app.payments
        self.operator_id = new_id()
        self._accounts = 0

    async def vendor(self, *, legal_name: str = "Ada Obi Ventures") -> Vendor:
        vendor = Vendor(new_id(), new_id(), legal_name)
        await self.receive(
            VendorApproved(
                vendor_id=vendor.id,
                owner_user_id=vendor.owner,
                business_name="A shop",
                legal_name=legal_name,
                campus_id=new_id(),
            )
        )
        return vendor

    async def release(self, vendor: Vendor, net_minor: int, **changes: Any) -> EscrowReleased:
        """Releases an order's whole escrow, without commission, so that sums stay simple."""
        event = released(vendor, net_minor, **changes)
        await self.receive(event)
        return event

    async def hold(self, vendor: Vendor, amount_minor: int) -> EscrowHeld:
        event = EscrowHeld(
            order_id=new_id(),
            buyer_id=new_id(),
            vendor_id=vendor.id,
            amount_minor=amount_minor,
            commission_minor=0,
            delivery_fee_minor=0,
            reference="ch-1",
            held_at="2026-01-01T00:00:00.000Z",
        )
        await self.receive(event)
        return event

    async def put_bank_details(
        self, vendor: Vendor, account_number: str = "0123456785", bank_code: str = "058"
    ) -> httpx.Response:
        return await self.client.put(
            f"/api/vendors/{vendor.id}/bank-details",
            json={"accountNumber": account_number, "bankCode": bank_code},
            headers=self.headers(vendor.owner, **vendor.claims(stepped_up=True)),
        )

    async def ready_vendor(self, net_minor: int, account: tuple[str, str] = ("0123456785", "058")) -> Vendor:
        """Return a vendor with money and verified bank details; many share one account, where it does not matter."""
        vendor = await self.vendor()
        assert (await self.put_bank_details(vendor, *account)).json()["data"]["verified"] is True
        await self.release(vendor, net_minor)
        return vendor

    async def request_payout(self, vendor: Vendor, amount_minor: Any, key: UUID | None = None) -> httpx.Response:
        headers = self.headers(vendor.owner, **vendor.claims())
        if key is not None:
            headers["Idempotency-Key"] = str(key)
        return await self.client.post("/api/payouts", json={"amountMinor": amount_minor}, headers=headers)

    async def payout(self, vendor: Vendor, amount_minor: int) -> str:
        return str(data_of(await self.request_payout(vendor, amount_minor), 201)["id"])

    async def wallet(self, vendor: Vendor) -> dict[str, Any]:
        headers = self.headers(vendor.owner, **vendor.claims())
        return dict(data_of(await self.client.get("/api/wallets/current", headers=headers)))

    async def statement(self, vendor: Vendor) -> list[dict[str, Any]]:
        headers = self.headers(vendor.owner, **vendor.claims())
        response = await self.client.get("/api/wallets/current/statement?limit=100", headers=headers)
        return list(response.json()["data"])

    def maker(self, key: UUID | str | None = None, *, stepped_up: bool = True) -> dict[str, str]:
        return self.headers(self.operator_id, roles=("finance_maker",), stepped_up=stepped_up, idempotency_key=key)

    async def dispatch(self, key: UUID | str, **body: Any) -> httpx.Response:
        return await self.client.post("/api/payouts/dispatch", json=body, headers=self.maker(key))

    async def read_payout(self, payout_id: str) -> dict[str, Any]:
        return dict(data_of(await self.client.get(f"/api/payouts/{payout_id}", headers=self.maker())))

    async def balance(self, account: str) -> int:
        """Return the sum of an account's entries, debit positive."""
        rows = await self.fetch(
            "SELECT coalesce(sum(amount_minor), 0)::bigint AS total FROM ledger_entries WHERE account LIKE $1", account
        )
        return int(rows[0]["total"])


def released(vendor: Vendor, net_minor: int, **changes: Any) -> EscrowReleased:
    values = {
        "order_id": new_id(),
        "buyer_id": new_id(),
        "vendor_id": vendor.id,
        "release_id": new_id(),
        "gross_minor": net_minor,
        "commission_minor": 0,
        "delivery_fee_minor": 0,
        "net_minor": net_minor,
        "remaining_minor": 0,
        "remaining_vendor_minor": 0,
        **changes,
    }
    return EscrowReleased(**values)


Opener = Callable[..., AbstractAsyncContextManager[OpenService]]


@pytest.fixture
async def urls(fresh_database: DatabaseFactory) -> DatabaseUrls:
    """Return the test's database, under each of its roles."""
    return await fresh_database("payouts")


@pytest.fixture
async def app(urls: DatabaseUrls, broker_url: str, sandbox: Sandbox, clock: ManualClock) -> AsyncIterator[OpenService]:
    async with opened(
        SERVICE,
        urls,
        broker_url,
        clock=clock,
        gateway_api_url=f"{sandbox.address}/gateway",
        gateway_secret_key=KEY,
        account_number_key=ACCOUNT_NUMBER_KEY,
        release_verify_keys=(RELEASE_KEY.public_text,),
        gateway_timeout_seconds=GATEWAY_SECONDS_MAX,
        # Small amounts keep sums simple.
        payout_transfer_minimum_minor=1,
    ) as running:
        yield running


@pytest.fixture
def scenario(app: OpenService, clock: ManualClock) -> Scenario:
    return Scenario(app, clock)


@pytest.fixture
async def immediate(sandbox: Sandbox) -> Sandbox:
    """Return the sandbox, with transfers that succeed in the response to the call."""
    await sandbox.configure(transfer_settlement="immediate")
    return sandbox


@pytest.fixture
def limit_gateway_timeout(scenario: Scenario) -> Iterator[Callable[[float], None]]:
    """`limit_gateway_timeout(seconds)`: sets the timeout of gateway calls until the end of the test."""

    def set_limit(seconds: float) -> None:
        scenario.dependencies.gateway.api.seconds_max = seconds

    yield set_limit
    set_limit(GATEWAY_SECONDS_MAX)


@pytest.fixture(scope="module")
async def shared_scenario(
    module_database: DatabaseFactory, broker_url: str, shared_sandbox: Sandbox
) -> AsyncIterator[Scenario]:
    """One opened service for a module whose tests each have vendors and payouts of their own."""
    clock = ManualClock()
    async with opened(
        SERVICE,
        await module_database("payouts"),
        broker_url,
        clock=clock,
        gateway_api_url=f"{shared_sandbox.address}/gateway",
        gateway_secret_key=KEY,
        account_number_key=ACCOUNT_NUMBER_KEY,
        release_verify_keys=(RELEASE_KEY.public_text,),
        gateway_timeout_seconds=GATEWAY_SECONDS_MAX,
        # Small amounts keep sums simple.
        payout_transfer_minimum_minor=1,
    ) as running:
        yield Scenario(running, clock)
