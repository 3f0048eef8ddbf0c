import asyncio
from uuid import uuid4

import pytest

from common.auth.caller import Caller
from common.primitives.ids import new_id
from common.primitives.public_numbers import NumberKind, read_number
from contracts.permissions import permissions_of
from testkit.responses import CONFLICT, INVALID, error_of

from .conftest import Scenario


async def test_a_payout_transfers_the_amount_from_the_wallet_into_transit(scenario: Scenario) -> None:
    vendor = await scenario.ready_vendor(1_000)
    payout = (await scenario.request_payout(vendor, 400)).json()["data"]
    assert (payout["status"], payout["amountMinor"], payout["retryCount"]) == ("pending", 400, 0)
    assert (payout["transfer"], payout["openException"], payout["accountLast4"]) == (None, None, "6785")
    wallet = await scenario.wallet(vendor)
    assert (wallet["availableMinor"], wallet["inTransitMinor"]) == (600, 400)
    assert -await scenario.balance(f"in_transit:{payout['id']}") == 400
    [event] = await scenario.published("payouts.payout_requested.v1")
    assert (event["payoutId"], event["amountMinor"]) == (payout["id"], 400)
    assert (await scenario.statement(vendor))[0]["payoutId"] == payout["id"]


async def test_parallel_requests_never_overdraw_a_wallet(scenario: Scenario) -> None:
    vendor = await scenario.ready_vendor(1_000)
    responses = await asyncio.gather(*(scenario.request_payout(vendor, 100) for _ in range(20)))
    assert sorted(response.status_code for response in responses) == [201] * 10 + [422] * 10
    wallet = await scenario.wallet(vendor)
    assert (wallet["availableMinor"], wallet["inTransitMinor"]) == (0, 1_000)
    assert await scenario.balance("wallet:%") == 0
    assert -await scenario.balance("in_transit:%") == await scenario.balance("escrow_released") == 1_000
    lines = await scenario.statement(vendor)
    assert [line["balanceMinor"] for line in lines] == [*range(0, 1_000, 100), 1_000]


async def test_a_repeated_request_with_its_key_finds_the_first_payout(scenario: Scenario) -> None:
    """The process may die after the commit and before its response: the edge then sends the request again."""
    vendor, key = await scenario.ready_vendor(1_000), uuid4()
    responses = await asyncio.gather(*(scenario.request_payout(vendor, 400, key) for _ in range(5)))
    assert {response.status_code for response in responses} == {201}
    assert len({response.json()["data"]["id"] for response in responses}) == 1
    wallet = await scenario.wallet(vendor)
    assert (wallet["availableMinor"], wallet["inTransitMinor"]) == (600, 400)
    assert len(await scenario.published("payouts.payout_requested.v1")) == 1
    other = await scenario.request_payout(vendor, 300, key)
    assert error_of(other) == INVALID
    assert other.json()["invalid_params"][0]["name"] == "Idempotency-Key"
    assert (await scenario.request_payout(vendor, 400, uuid4())).status_code == 201


async def test_a_key_of_one_vendor_is_free_for_another(scenario: Scenario) -> None:
    first, second, key = await scenario.ready_vendor(1_000), await scenario.ready_vendor(1_000), uuid4()
    for vendor in (first, second):
        assert (await scenario.request_payout(vendor, 400, key)).status_code == 201
        assert (await scenario.wallet(vendor))["inTransitMinor"] == 400


async def test_an_amount_in_escrow_cannot_be_withdrawn(scenario: Scenario) -> None:
    vendor = await scenario.ready_vendor(1_000)
    await scenario.hold(vendor, 500)
    assert error_of(await scenario.request_payout(vendor, 1_500)) == (423, "ESCROW_LOCKED")
    above = await scenario.request_payout(vendor, 1_501)
    assert error_of(above) == INVALID
    assert above.json()["invalid_params"][0]["name"] == "amountMinor"
    assert (await scenario.wallet(vendor))["availableMinor"] == 1_000
    assert await scenario.fetch("SELECT id FROM payout_requests") == []
    assert await scenario.published("payouts.payout_requested.v1") == []


async def test_without_verified_bank_details_nothing_is_paid_out(scenario: Scenario) -> None:
    vendor = await scenario.vendor()
    await scenario.release(vendor, 1_000)
    assert (await scenario.request_payout(vendor, 100)).status_code == 409
    assert (await scenario.put_bank_details(vendor, "0690123456", "044")).json()["data"]["verified"] is False
    assert error_of(await scenario.request_payout(vendor, 100)) == CONFLICT
    assert (await scenario.wallet(vendor))["availableMinor"] == 1_000


@pytest.mark.parametrize("amount", [0, -1, 1.5, "100", True, None, 10**30])
async def test_an_amount_that_is_no_positive_integer_is_refused(scenario: Scenario, amount) -> None:
    vendor = await scenario.vendor()
    assert error_of(await scenario.request_payout(vendor, amount)) == INVALID


async def test_unknown_fields_are_refused(scenario: Scenario) -> None:
    vendor = await scenario.ready_vendor(1_000)
    response = await scenario.client.post(
        "/api/payouts",
        json={"amountMinor": 100, "status": "processed"},
        headers=scenario.headers(vendor.owner, **vendor.claims()),
    )
    assert response.status_code == 422


async def test_a_merchant_sees_own_payouts_only_and_staff_see_all(scenario: Scenario) -> None:
    one, other = await scenario.ready_vendor(1_000), await scenario.ready_vendor(1_000)
    small, big = await scenario.payout(one, 100), await scenario.payout(other, 300)
    headers = scenario.headers(one.owner, **one.claims())

    async def listed(headers, **params):
        response = await scenario.client.get("/api/payouts", params=params, headers=headers)
        return response.json()

    mine = await listed(headers, vendorId=str(other.id))
    assert (mine["data"], mine["meta"]["total"]) == ([], 0)
    assert [payout["id"] for payout in (await listed(headers))["data"]] == [small]
    everything = await listed(scenario.maker(), sort="amount", order="asc")
    assert [payout["id"] for payout in everything["data"]] == [small, big]
    assert everything["meta"]["total"] == 2
    assert {"page", "limit", "total_pages"} <= set(everything["meta"])
    assert (await scenario.client.get(f"/api/payouts/{big}", headers=headers)).status_code == 404
    assert (await scenario.client.get(f"/api/payouts/{new_id()}", headers=headers)).status_code == 404
    assert (await scenario.client.get("/api/payouts/not-an-id", headers=headers)).status_code == 404
    assert (await scenario.client.get("/api/payouts?sort=vendor_id", headers=headers)).status_code == 422
    buyer = scenario.headers(new_id())
    assert (await scenario.client.get("/api/payouts", headers=buyer)).status_code == 403


async def test_row_policies_hide_other_vendors_payouts_without_any_filter(scenario: Scenario) -> None:
    one, other = await scenario.ready_vendor(1_000), await scenario.ready_vendor(2_000)
    for vendor in (one, other):
        await scenario.payout(vendor, 100)
    await scenario.dispatch("6f8c0ad7-31a5-4a79-9e36-4c41b7cd5f0e")
    merchant = Caller(user_id=one.owner, vendor_id=one.id, permissions=permissions_of(["buyer", "merchant"]))
    buyer = Caller(user_id=new_id(), permissions=permissions_of(["buyer"]))
    tables = ("payout_requests", "payout_transfers", "wallet_lines", "wallets")
    for caller, expected in ((merchant, {one.id}), (buyer, set())):
        async with scenario.unit_of_work(caller) as uow:
            for table in tables:
                rows = await uow.fetch(f"SELECT DISTINCT vendor_id FROM {table}")
                assert {row["vendor_id"] for row in rows} == expected, table
            for table in ("vendor_bank_details", "bank_detail_versions"):
                rows = await uow.fetch(f"SELECT DISTINCT vendor_id FROM {table}")
                assert {row["vendor_id"] for row in rows} == expected, table
            accounts = await uow.fetch("SELECT account FROM ledger_balances WHERE account LIKE 'wallet:%'")
            assert {row["account"] for row in accounts} == {f"wallet:{vendor_id}" for vendor_id in expected}
            assert await uow.fetch("SELECT account FROM ledger_entries") == []


async def test_a_crash_before_the_commit_stores_nothing(scenario: Scenario) -> None:
    vendor = await scenario.ready_vendor(1_000)
    from payouts.use_cases.payouts.steps import request_from_wallet

    class Crash(Exception):
        pass

    merchant = Caller(user_id=vendor.owner, vendor_id=vendor.id, permissions=permissions_of(["merchant"]))
    with pytest.raises(Crash):
        async with scenario.unit_of_work(merchant) as uow:
            await request_from_wallet(uow, vendor.id, 100, vendor.owner, scenario.clock.now())
            raise Crash
    assert (await scenario.wallet(vendor))["availableMinor"] == 1_000
    assert await scenario.published("payouts.payout_requested.v1") == []


async def test_a_payout_has_a_number_and_is_found_by_it(scenario: Scenario) -> None:
    vendor = await scenario.ready_vendor(300_000)
    first, second = [await scenario.payout(vendor, 100_000) for _ in range(2)]
    payout = await scenario.read_payout(first)
    number = payout["number"]
    assert read_number(number, NumberKind.PAYOUT) == number
    assert number != (await scenario.read_payout(second))["number"]
    published = await scenario.published("payouts.payout_requested.v1")
    assert {event["payoutId"]: event["number"] for event in published}[first] == number
    symbols = number.removeprefix("PO-")
    owner = scenario.headers(vendor.owner, **vendor.claims())
    for headers in (owner, scenario.maker()):
        for typed in (number.lower(), f"#{symbols}", f"po {symbols.replace('-', ' ')}", number[:-1], first.upper()):
            found = await scenario.client.get("/api/payouts", params={"number": typed}, headers=headers)
            assert [one["id"] for one in found.json()["data"]] == [first]
    other = scenario.headers((await scenario.vendor()).owner, **(await scenario.vendor()).claims())
    for typed, headers in (("PO-0000-0000", owner), ("rice", owner), (number, other)):
        found = await scenario.client.get("/api/payouts", params={"number": typed}, headers=headers)
        assert found.json()["data"] == []


async def test_every_event_of_a_payout_has_its_number(scenario: Scenario, immediate: object) -> None:
    vendor = await scenario.ready_vendor(300_000)
    payout_id = await scenario.payout(vendor, 100_000)
    number = (await scenario.read_payout(payout_id))["number"]
    assert (await scenario.dispatch(uuid4())).status_code == 200
    for fact in ("requested", "submitted", "processed"):
        events = await scenario.published(f"payouts.payout_{fact}.v1")
        assert [event["number"] for event in events] == [number]
