"""Fixtures: the service on real servers, with the sandbox's payment gateway on a real socket."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest

from common.primitives.clock import ManualClock
from common.primitives.ids import new_id
from contracts.identity import VendorApproved
from contracts.payments import (
    EscrowHeld,
    EscrowReleased,
)
from payouts.app import SERVICE
from sandbox.app import create_app
from sandbox.settings import read_settings
from testkit.events import vendor_event
from testkit.fixtures import DatabaseFactory, DatabaseUrls
from testkit.responses import data_of
from testkit.sandbox import GATEWAY_KEY, Sandbox, sandbox_gateway
from testkit.service_kit import OpenService, opened
from testkit.world import World

from .signed_events import RELEASE_KEY, SignedEvents

ACCOUNT_NUMBER_KEY = "a key of account numbers for these tests"
# As long as possible: the gateway shares its event loop with the tests, and no call may be late by itself.
GATEWAY_SECONDS_MAX = 20
OPENING_BALANCE_MINOR = 1_000_000_000


@asynccontextmanager
async def sandbox_in(folder: Path) -> AsyncIterator[Sandbox]:
    """Yield the payment gateway. Small amounts keep sums simple."""
    balance = {"OPENING_BALANCE_MINOR": str(OPENING_BALANCE_MINOR)}
    async with sandbox_gateway(lambda given: create_app(read_settings(given)), folder, **balance) as sandbox:
        await sandbox.configure(transfer_minimum_minor=1)
        yield sandbox


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
        await self.receive(vendor_event(VendorApproved, vendor.id, vendor.owner, legal_name=legal_name))
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


@asynccontextmanager
async def opened_payouts(
    urls: DatabaseUrls, broker_url: str, sandbox: Sandbox, clock: ManualClock, **changes: Any
) -> AsyncIterator[OpenService]:
    """Yield the service with this gateway; keyword arguments replace settings."""
    settings = {
        "gateway_api_url": sandbox.url,
        "gateway_secret_key": GATEWAY_KEY,
        "account_number_key": ACCOUNT_NUMBER_KEY,
        "release_verify_keys": (RELEASE_KEY.public_text,),
        "gateway_timeout_seconds": GATEWAY_SECONDS_MAX,
        # Small amounts keep sums simple.
        "payout_transfer_minimum_minor": 1,
        **changes,
    }
    async with opened(SERVICE, urls, broker_url, clock=clock, **settings) as running:
        yield running


@pytest.fixture
async def app(urls: DatabaseUrls, broker_url: str, sandbox: Sandbox, clock: ManualClock) -> AsyncIterator[OpenService]:
    async with opened_payouts(urls, broker_url, sandbox, clock) as running:
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
    async with opened_payouts(await module_database("payouts"), broker_url, shared_sandbox, clock) as running:
        yield Scenario(running, clock)
