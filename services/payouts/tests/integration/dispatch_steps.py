"""Dispatches of payouts, processes that end in the middle, and gateways whose calls arrive late."""

import dataclasses
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx

from common.auth.caller import Caller
from common.primitives.ids import new_id
from contracts.identity import VendorSuspended
from contracts.permissions import permissions_of
from payouts.clients.gateway import Gateways
from payouts.domain.dispatch import LEASE
from payouts.timers import process_due_transfers_once
from payouts.use_cases.transfers.dispatch_payouts import Alone, DispatchOrder, dispatch_payouts
from providers.paystack import PaystackApi
from testkit.responses import data_of
from testkit.sandbox import Sandbox

from .conftest import OPENING_BALANCE_MINOR, Scenario
from .staff import Staff

KEY = UUID("6f8c0ad7-31a5-4a79-9e36-4c41b7cd5f0e")
OTHER_KEY = UUID("7a1c0ad7-31a5-4a79-9e36-4c41b7cd5f0e")
ALONE = Alone(50_000_000)
EVERYTHING = DispatchOrder(None, None, False, ALONE)


async def prepare_run(staff: Staff, **order: Any) -> dict[str, Any]:
    """Return a preview that the maker prepared for a second person."""
    plan = data_of(await staff.scenario.dispatch(uuid4(), dryRun=True, **order))
    path = f"/api/payout-batches/{plan['batchId']}"
    seen = data_of(await staff.get(path))
    return dict(data_of(await staff.post(f"{path}/prepare", staff.maker, "finance_maker", {"hash": seen["hash"]})))


async def approve_run(staff: Staff, preview: dict[str, Any], by: UUID | None = None) -> httpx.Response:
    path, body = f"/api/payout-batches/{preview['batchId']}/approve", {"hash": preview["hash"]}
    return await staff.post(path, by or staff.checker, "finance_checker", body)


async def recover(scenario: Scenario):
    """Run the worker after the end of all leases, until nothing is due."""
    dependencies = scenario.dependencies
    for _ in range(6):
        scenario.clock.advance(LEASE + timedelta(seconds=1))
        await scenario.work("payouts.transfers")
        await process_due_transfers_once(dependencies.database, dependencies.gateways, scenario.clock)


async def assert_paid_once(scenario: Scenario, sandbox: Sandbox, payout_id, amount_minor):
    payout = await scenario.read_payout(payout_id)
    assert (payout["status"], payout["transfer"]["status"]) == ("processed", "success")
    [transfer] = await sandbox.transfers()
    assert (transfer["reference"], transfer["amount"]) == (payout["transferReference"], amount_minor)
    assert await sandbox.balance_minor() == OPENING_BALANCE_MINOR - amount_minor
    assert await scenario.balance("gateway_cash") == -amount_minor
    assert await scenario.balance("in_transit:%") == 0
    assert len(await scenario.published("payouts.payout_processed.v1")) == 1


class Died(BaseException):
    """The process ended here: nothing after it happens."""


class MortalDatabase:
    """The real database of a process that dies before its n-th transaction; committed data stays."""

    def __init__(self, database, lives):
        self._database, self.lives = database, lives

    @asynccontextmanager
    async def unit_of_work(self, *, acting_as, first=""):
        self._start_transaction()
        async with self._database.unit_of_work(acting_as=acting_as, first=first) as uow:
            yield uow

    def reads_for(self, acting_as):
        """Return the reads of a caller; each use starts one transaction."""
        self._start_transaction()
        return self._database.reads_for(acting_as)

    def _start_transaction(self):
        if self.lives == 0:
            raise Died
        self.lives -= 1


class MortalTransport(httpx.AsyncBaseTransport):
    """The real network of a process that dies before its n-th call, or after its response."""

    def __init__(self, inner, lives, *, after):
        self.inner, self.lives, self.after = inner, lives, after

    async def handle_async_request(self, request):
        self.lives -= 1
        if self.lives < 0 and not self.after:
            raise Died
        response = await self.inner.handle_async_request(request)
        if self.lives < 0:
            await response.aread()
            raise Died
        return response


class LateTransport(httpx.AsyncBaseTransport):
    """The real network, except that the first transfer's call times out and is kept until `arrive`; later ones are
    refused.
    """

    def __init__(self, inner):
        self.inner, self.kept = inner, None

    async def handle_async_request(self, request):
        if request.method == "POST" and request.url.path.endswith("/transfer"):
            if self.kept is not None:
                return httpx.Response(
                    400, json={"status": False, "message": "Account number is invalid"}, request=request
                )
            self.kept = request
            raise httpx.ReadTimeout("given up", request=request)
        return await self.inner.handle_async_request(request)

    async def arrive(self):
        response = await self.inner.handle_async_request(self.kept)
        await response.aread()
        return response.status_code


def gateways_over(scenario: Scenario, transport) -> Gateways:
    """Return the scenario's gateway over another network."""
    client = scenario.dependencies.gateway.api.client
    other = httpx.AsyncClient(base_url=client.base_url, headers=client.headers, transport=transport)
    gateway = dataclasses.replace(scenario.dependencies.gateway, api=PaystackApi(other, 10))
    return Gateways([gateway], gateway.name)


async def hold(scenario: Scenario, vendor, by):
    """Put every payout of the vendor on hold."""
    if by == "vendor_suspended":
        event = VendorSuspended(
            vendor_id=vendor.id, owner_user_id=vendor.owner, business_name="A shop", legal_name=vendor.legal_name,
            campus_id=new_id(), reason="Complaints",
        )  # fmt: skip
        await scenario.receive(event)
    else:
        await scenario.fetch("UPDATE vendor_bank_details SET verified = false WHERE vendor_id = $1", vendor.id)


def maker(scenario: Scenario):
    return Caller(user_id=scenario.operator_id, permissions=permissions_of(["finance_maker"]))


async def dispatch_until_death(scenario: Scenario, *, database=None, gateways=None):
    """Return whether the process survived."""
    dependencies = dataclasses.replace(scenario.dependencies)
    try:
        await dispatch_payouts(
            database or dependencies.database,
            gateways or dependencies.gateways,
            scenario.clock,
            maker(scenario),
            KEY,
            EVERYTHING,
        )
    except Died:
        return False
    return True


async def recover_in_another_process(scenario: Scenario, again_under):
    """Another process: the worker's recovery, and another dispatch by staff, under the same key or a new one."""
    if again_under == "the same key":
        assert (await scenario.dispatch(KEY)).status_code == 200
    await recover(scenario)
    assert (await scenario.dispatch(OTHER_KEY)).status_code == 200
    await recover(scenario)
