"""The gateway's own list of banks, and the shipped one while there is none."""

import dataclasses

import httpx
import pytest

from payouts.domain.bank_accounts import BANK_NAMES
from payouts.use_cases.bank_details.refresh_banks import REFRESH_AFTER, refresh_banks
from providers.paystack import PaystackApi
from testkit.responses import INVALID, error_of

from .conftest import Scenario

BANK = {"code": "058", "name": "GTBank Plc", "currency": "NGN", "active": True, "is_deleted": False}


async def refresh(scenario: Scenario, gateway=None):
    dependencies = scenario.dependencies
    return await refresh_banks(dependencies.database, gateway or dependencies.gateway, scenario.clock)


async def stored(scenario: Scenario):
    return {row["code"]: row["name"] for row in await scenario.fetch("SELECT code, name FROM gateway_banks")}


def listing(scenario: Scenario, *banks, status=200):
    """Return a gateway with this list of banks."""
    body = {"status": status == 200, "message": "", "data": list(banks)}
    transport = httpx.MockTransport(lambda _: httpx.Response(status, json=body))
    client = httpx.AsyncClient(base_url="http://gateway", transport=transport)
    return dataclasses.replace(scenario.dependencies.gateway, api=PaystackApi(client, 10))


async def test_the_sandboxs_list_is_stored_once_a_day(scenario: Scenario) -> None:
    assert await refresh(scenario) is True
    assert await stored(scenario) == BANK_NAMES
    assert await refresh(scenario) is False
    scenario.clock.advance(REFRESH_AFTER)
    assert await refresh(scenario) is True


async def test_the_stored_list_decides_and_names(scenario: Scenario) -> None:
    vendor = await scenario.vendor()
    await refresh(scenario, listing(scenario, BANK))
    assert error_of(await scenario.put_bank_details(vendor, "0690123456", "044"))[:2] == INVALID
    details = (await scenario.put_bank_details(vendor)).json()["data"]
    assert (details["bankCode"], details["bankName"], details["verified"]) == ("058", "GTBank Plc", True)


async def test_the_shipped_list_applies_until_one_is_stored(scenario: Scenario) -> None:
    vendor = await scenario.vendor()
    assert (await scenario.put_bank_details(vendor)).json()["data"]["bankName"] == BANK_NAMES["058"]
    assert error_of(await scenario.put_bank_details(vendor, bank_code="999"))[:2] == INVALID


@pytest.mark.parametrize("status", [200, 429, 500])
async def test_an_empty_or_absent_list_replaces_nothing(scenario: Scenario, status: int) -> None:
    await refresh(scenario, listing(scenario, BANK))
    scenario.clock.advance(REFRESH_AFTER)
    assert await refresh(scenario, listing(scenario, status=status)) is False
    assert await stored(scenario) == {"058": "GTBank Plc"}


async def test_a_bank_that_the_gateway_removed_is_removed(scenario: Scenario) -> None:
    await refresh(scenario)
    scenario.clock.advance(REFRESH_AFTER)
    await refresh(scenario, listing(scenario, BANK))
    assert await stored(scenario) == {"058": "GTBank Plc"}


async def test_anyone_lists_the_banks_by_name(scenario: Scenario) -> None:
    async def listed() -> list[dict[str, str]]:
        response = await scenario.client.get("/api/banks")
        assert response.status_code == 200
        banks: list[dict[str, str]] = response.json()["data"]
        return banks

    shipped = [{"code": code, "name": name} for code, name in BANK_NAMES.items()]
    assert await listed() == sorted(shipped, key=lambda bank: bank["name"])
    await refresh(scenario, listing(scenario, BANK, {**BANK, "code": "044", "name": "Access Bank"}))
    assert await listed() == [{"code": "044", "name": "Access Bank"}, {"code": "058", "name": "GTBank Plc"}]
