"""Payouts are dispatched: batches, keys, limits, balance, permissions (contract section 8)."""

import asyncio
from datetime import timedelta
from uuid import UUID, uuid4

from common.primitives.ids import new_id
from contracts.payments import TransferSucceeded
from testkit.responses import FORBIDDEN, INVALID, STEP_UP_REQUIRED, error_of
from testkit.sandbox import Sandbox

from .conftest import OPENING_BALANCE_MINOR, Scenario
from .dispatch_steps import KEY, OTHER_KEY, hold
from .staff import Staff


async def test_a_dispatch_sends_and_lists_each_waiting_payout(scenario: Scenario, sandbox: Sandbox) -> None:
    vendor = await scenario.ready_vendor(100_000)
    first, second = await scenario.payout(vendor, 10_000), await scenario.payout(vendor, 20_000)
    response = (await scenario.dispatch(KEY)).json()["data"]
    assert (response["submitted"], response["totalMinor"], response["skipped"]) == (2, 30_000, [])
    assert response["gatewayBalanceMinor"] == OPENING_BALANCE_MINOR
    assert [transfer["payoutId"] for transfer in response["transfers"]] == [first, second]
    for transfer in response["transfers"]:
        assert transfer["status"] == "pending"
        assert transfer["transferCode"].startswith("TRF_")
        assert len(transfer["reference"]) == 35
    assert {transfer["reference"] for transfer in response["transfers"]} == {
        transfer["reference"] for transfer in await sandbox.transfers()
    }
    assert len(await scenario.published("payouts.payout_submitted.v1")) == 2
    again = (await scenario.dispatch(OTHER_KEY, payoutIds=[first])).json()["data"]
    assert (again["submitted"], again["skipped"]) == (0, [{"payoutId": first, "reason": "already_dispatched"}])


async def test_a_dispatch_key_always_returns_the_same_response(scenario: Scenario, sandbox: Sandbox) -> None:
    vendor = await scenario.ready_vendor(100_000)
    await scenario.payout(vendor, 10_000)
    first = await scenario.dispatch(KEY)
    await scenario.payout(vendor, 10_000)
    assert (await scenario.dispatch(KEY)).json()["data"] == first.json()["data"]
    assert (await scenario.dispatch(str(KEY).upper())).json()["data"] == first.json()["data"]
    assert len(await sandbox.transfers()) == 1
    refused = await scenario.dispatch(KEY, maxTotalMinor=5)
    assert refused.status_code == 422
    assert refused.json()["invalid_params"][0]["name"] == "Idempotency-Key"


async def test_concurrent_requests_under_one_key_are_one_batch(scenario: Scenario, sandbox: Sandbox) -> None:
    vendor = await scenario.ready_vendor(100_000)
    for _ in range(3):
        await scenario.payout(vendor, 10_000)
    responses = await asyncio.gather(*(scenario.dispatch(KEY) for _ in range(20)))
    assert {response.status_code for response in responses} == {200}
    assert len({response.json()["data"]["batchId"] for response in responses}) == 1
    assert len(await sandbox.transfers()) == 3


async def test_concurrent_dispatchers_send_each_payout_once(scenario: Scenario, sandbox: Sandbox) -> None:
    vendor = await scenario.ready_vendor(1_000_000)
    payouts = [await scenario.payout(vendor, 1_000) for _ in range(12)]
    responses = await asyncio.gather(*(scenario.dispatch(key) for key in (KEY, OTHER_KEY)))
    sent = [transfer["payoutId"] for response in responses for transfer in response.json()["data"]["transfers"]]
    assert sorted(sent) == sorted(payouts)
    assert len(await sandbox.transfers()) == 12
    assert await sandbox.balance_minor() == OPENING_BALANCE_MINOR - 12_000


async def test_a_dry_run_sends_nothing(scenario: Scenario, sandbox: Sandbox) -> None:
    vendor = await scenario.ready_vendor(100_000)
    payout_id = await scenario.payout(vendor, 10_000)
    response = (await scenario.dispatch(KEY, dryRun=True)).json()["data"]
    assert (response["submitted"], response["totalMinor"], response["dryRun"]) == (0, 10_000, True)
    assert [(line["payoutId"], line["status"]) for line in response["transfers"]] == [(payout_id, "planned")]
    assert await sandbox.transfers() == []
    assert (await scenario.read_payout(payout_id))["transfer"] is None
    assert (await scenario.dispatch(OTHER_KEY)).json()["data"]["submitted"] == 1


async def test_a_dispatch_honours_named_payouts_and_the_limit(scenario: Scenario) -> None:
    vendor = await scenario.ready_vendor(100_000)
    payouts = [await scenario.payout(vendor, amount) for amount in (10_000, 8_000, 2_000, 1_000)]
    absent = str(new_id())
    response = (await scenario.dispatch(KEY, payoutIds=[*payouts[:3], absent], maxTotalMinor=12_000)).json()["data"]
    assert [line["payoutId"] for line in response["transfers"]] == [payouts[0], payouts[2]]
    assert {line["payoutId"]: line["reason"] for line in response["skipped"]} == {
        payouts[1]: "max_total_reached", absent: "not_found",
    }  # fmt: skip


async def test_a_short_balance_stops_the_batch_before_the_first_transfer(scenario: Scenario, sandbox: Sandbox) -> None:
    vendor = await scenario.ready_vendor(2 * OPENING_BALANCE_MINOR)
    small = await scenario.payout(vendor, 1_000)
    await scenario.payout(vendor, OPENING_BALANCE_MINOR)
    response = (await scenario.dispatch(KEY)).json()["data"]
    assert (response["submitted"], response["transfers"]) == (0, [])
    assert {line["reason"] for line in response["skipped"]} == {"balance_insufficient"}
    assert await sandbox.transfers() == []
    headers = scenario.headers(new_id(), roles=("auditor",))
    [exception] = (await scenario.client.get("/api/payout-exceptions", headers=headers)).json()["data"]
    assert (exception["severity"], exception["cause"]) == ("SEV-1", "balance_insufficient")
    assert (exception["batchId"], exception["payoutId"]) == (response["batchId"], None)
    assert exception["respondBy"] == "2026-01-01T00:15:00.000Z"
    assert [alert["severity"] for alert in await scenario.published("operations.alert_raised.v1")] == ["SEV-1"]
    assert (await scenario.dispatch(OTHER_KEY, payoutIds=[small])).json()["data"]["submitted"] == 1


async def test_changed_or_unverified_bank_details_stop_a_payout(scenario: Scenario, sandbox: Sandbox) -> None:
    await sandbox.name_account("044", "1234567890", "Ada Obi Ventures")
    changed, unverified, same = [await scenario.ready_vendor(10_000) for _ in range(3)]
    payouts = [await scenario.payout(vendor, 1_000) for vendor in (changed, unverified, same)]
    assert (await scenario.put_bank_details(changed, "1234567890", "044")).json()["data"]["verified"] is True
    await hold(scenario, unverified, "details")
    # An account that is not verified replaces no verified one.
    assert (await scenario.put_bank_details(same, "0690123456", "044")).json()["data"]["verified"] is False
    response = (await scenario.dispatch(KEY)).json()["data"]
    assert [line["payoutId"] for line in response["transfers"]] == [payouts[2]]
    assert response["skipped"] == [
        {"payoutId": payout_id, "reason": "bank_details_changed"} for payout_id in payouts[:2]
    ]


async def test_a_payout_skipped_for_its_bank_details_waits_with_an_exception(
    scenario: Scenario, sandbox: Sandbox
) -> None:
    await sandbox.name_account("044", "1234567890", "Ada Obi Ventures")
    vendor = await scenario.ready_vendor(30_000_000)
    payout_id = await scenario.payout(vendor, 30_000_000)
    assert (await scenario.put_bank_details(vendor, "1234567890", "044")).status_code == 200
    assert (await scenario.dispatch(uuid4(), payoutIds=[payout_id], dryRun=True)).status_code == 200
    assert (await scenario.read_payout(payout_id))["openException"] is None
    for _ in range(2):
        response = (await scenario.dispatch(uuid4(), payoutIds=[payout_id])).json()["data"]
        assert response["skipped"] == [{"payoutId": payout_id, "reason": "bank_details_changed"}]
    opened = (await scenario.read_payout(payout_id))["openException"]
    assert (opened["cause"], opened["severity"]) == ("bank_details_changed", "SEV-3")
    [alert] = await scenario.published("operations.alert_raised.v1")
    assert alert["severity"] == "SEV-3"
    [delayed] = await scenario.published("payouts.payout_delayed.v1")
    assert (delayed["payoutId"], delayed["vendorId"], delayed["cause"]) == (
        payout_id,
        str(vendor.id),
        "bank_details_changed",
    )
    # The first account again: the next dispatch sends the payout, and the exception closes.
    assert (await scenario.put_bank_details(vendor)).status_code == 200
    scenario.clock.advance(timedelta(days=8))
    assert (await scenario.dispatch(uuid4(), payoutIds=[payout_id])).json()["data"]["submitted"] == 1
    assert (await scenario.read_payout(payout_id))["openException"] is None
    [_] = await scenario.published("operations.alert_cleared.v1")


async def test_a_cancelled_payout_closes_the_exception_of_its_bank_details(
    scenario: Scenario, sandbox: Sandbox
) -> None:
    vendor = await scenario.ready_vendor(1_000)
    payout_id = await scenario.payout(vendor, 1_000)
    await hold(scenario, vendor, "details")
    await scenario.dispatch(uuid4(), payoutIds=[payout_id])
    assert (await scenario.read_payout(payout_id))["openException"]["cause"] == "bank_details_changed"
    headers = scenario.headers(vendor.owner, **vendor.claims())
    assert (await scenario.client.post(f"/api/payouts/{payout_id}/cancel", headers=headers)).status_code == 200
    assert (await scenario.read_payout(payout_id))["openException"] is None


async def test_a_dispatch_without_permission_has_no_effect(scenario: Scenario, sandbox: Sandbox) -> None:
    vendor = await scenario.ready_vendor(10_000)
    await scenario.payout(vendor, 1_000)

    async def post(headers, body=None):
        response = await scenario.client.post("/api/payouts/dispatch", json=body or {}, headers=headers)
        return response.status_code, response.json()["code"]

    checker = scenario.headers(new_id(), roles=("finance_checker",), stepped_up=True, idempotency_key=KEY)
    assert await post(checker) == FORBIDDEN
    assert await post(scenario.maker(KEY, stepped_up=False)) == STEP_UP_REQUIRED
    assert await post(scenario.maker()) == INVALID
    assert await post(scenario.maker("not-a-key")) == INVALID
    assert await post(scenario.maker("6f8c0ad7-31a5-1a79-9e36-4c41b7cd5f0e")) == INVALID
    twice = [str(KEY), str(KEY)]
    for body in ({"maxTotalMinor": 0}, {"payoutIds": []}, {"payoutIds": twice}, {"dryRun": "yes"}, {"all": True}):
        assert await post(scenario.maker(KEY), body) == INVALID
    assert await sandbox.transfers() == []
    assert await scenario.fetch("SELECT id FROM dispatch_batches") == []


async def test_a_failed_balance_query_writes_nothing(scenario: Scenario, sandbox: Sandbox) -> None:
    vendor = await scenario.ready_vendor(10_000)
    await scenario.payout(vendor, 1_000)
    await sandbox.faults(balance_call={"error_before": True})
    assert error_of(await scenario.dispatch(KEY)) == (503, "INTERNAL_ERROR")
    assert await scenario.fetch("SELECT id FROM dispatch_batches") == []
    await sandbox.faults(balance_call=None)
    assert (await scenario.dispatch(KEY)).json()["data"]["submitted"] == 1


async def test_held_payouts_keep_no_other_out_of_its_batch(scenario: Scenario, sandbox: Sandbox) -> None:
    held, other = await scenario.ready_vendor(1_000_000), await scenario.ready_vendor(1_000_000)
    first = await scenario.payout(held, 1_000)
    copy = """
    WITH made AS (
        INSERT INTO payout_requests (id, vendor_id, amount, currency, status, bank_details_version_id, requested_by,
            created_at, updated_at)
        SELECT gen_random_uuid(), vendor_id, amount, currency, status, bank_details_version_id, requested_by,
            created_at, updated_at
        FROM payout_requests, generate_series(1, $2) WHERE id = $1 RETURNING id, vendor_id, amount
    ), lines AS (
        INSERT INTO wallet_lines (id, vendor_id, kind, source_key, payout_id, net_minor, balance_minor, at)
        SELECT gen_random_uuid(), vendor_id, 'payout', 'payout:' || id, id, -amount,
               1000000 - amount * (1 + row_number() OVER ()), now() FROM made
    )
    SELECT ledger_post(gen_random_uuid(), 'payout', 'payout:' || id, 'NGN', 'copy',
                       ARRAY['in_transit:' || id, 'wallet:' || vendor_id], ARRAY['credit', 'credit'], ARRAY[true, true],
                       ARRAY[-amount, amount]) FROM made
    """
    await scenario.fetch(copy, UUID(first), 300)
    await hold(scenario, held, "vendor_suspended")
    scenario.clock.advance(timedelta(minutes=1))
    going = await scenario.payout(other, 1_000)
    await scenario.fetch(copy, UUID(going), 204)
    dry = (await scenario.dispatch(KEY, dryRun=True)).json()["data"]
    assert (len(dry["transfers"]), dry["skipped"], dry["remaining"]) == (200, [], 5)
    limited = (await scenario.dispatch(OTHER_KEY, maxTotalMinor=3_500)).json()["data"]
    assert (limited["submitted"], limited["totalMinor"], limited["queued"], limited["remaining"]) == (3, 3_000, 0, 202)
    assert {line["reason"] for line in limited["skipped"]} == {"max_total_reached"}


async def test_more_than_two_hundred_named_payouts_are_refused_with_the_limit(
    scenario: Scenario, sandbox: Sandbox
) -> None:
    refused = await scenario.dispatch(KEY, payoutIds=[str(new_id()) for _ in range(201)])
    assert refused.status_code == 422
    [invalid_param] = refused.json()["invalid_params"]
    assert invalid_param["name"] == "payoutIds"
    assert "200" in invalid_param["reason"]


async def test_a_batch_is_shown_with_its_transfers_as_they_are_now(scenario: Scenario, sandbox: Sandbox) -> None:
    vendor = await scenario.ready_vendor(100_000)
    payout_id = await scenario.payout(vendor, 10_000)
    planned = (await scenario.dispatch(OTHER_KEY, dryRun=True)).json()["data"]
    sent = (await scenario.dispatch(KEY)).json()["data"]
    reader = scenario.headers(new_id(), roles=("finance_checker",))

    async def read(path: str) -> dict:
        response = await scenario.client.get(f"/api/payout-batches{path}", headers=reader)
        assert response.status_code == 200, response.text
        return response.json()["data"]

    for dispatched in (sent, planned):
        shown = await read(f"/{dispatched['batchId']}")
        assert {name: shown[name] for name in dispatched if name != "transfers"} == {
            name: dispatched[name] for name in dispatched if name != "transfers"
        }
        [line] = shown["transfers"]
        assert {name: line[name] for name in dispatched["transfers"][0]} == dispatched["transfers"][0]
    [listed] = await read("")
    assert (listed["batchId"], listed["payouts"], listed["totalMinor"]) == (sent["batchId"], 1, 10_000)
    assert (listed["successful"], listed["failed"], listed["skipped"]) == (0, 0, 0)
    reference = sent["transfers"][0]["reference"]
    await Staff(scenario, sandbox).receive_webhook(reference, TransferSucceeded, amount_minor=10_000)
    assert (await read(f"/{sent['batchId']}"))["transfers"][0]["status"] == "success"
    assert (await read(""))[0]["successful"] == 1
    for path, role, status in (
        (f"/{new_id()}", "auditor", 404),
        (f"/{sent['batchId']}", "merchant", 403),
        ("", "support_agent", 403),
    ):
        headers = scenario.headers(new_id(), roles=(role,))
        assert (await scenario.client.get(f"/api/payout-batches{path}", headers=headers)).status_code == status
    assert payout_id == sent["transfers"][0]["payoutId"]


async def test_a_batch_names_the_payee_of_each_line(scenario: Scenario, sandbox: Sandbox) -> None:
    vendor = await scenario.ready_vendor(100_000)
    payout_id = await scenario.payout(vendor, 10_000)
    sent = (await scenario.dispatch(KEY, payoutIds=[payout_id])).json()["data"]
    again = (await scenario.dispatch(OTHER_KEY, payoutIds=[payout_id, str(new_id())], dryRun=True)).json()["data"]
    # The response of a dispatch is stored for its key, and an erasure does not reach it.
    assert "vendorName" not in sent["transfers"][0]
    reader = scenario.headers(new_id(), roles=("finance_checker",))
    payout = (await scenario.client.get(f"/api/payouts/{payout_id}", headers=reader)).json()["data"]
    assert (payout["vendorName"], payout["bankName"]) == (vendor.legal_name, "Guaranty Trust Bank")
    assert payout["accountName"]
    for typed, found in ((vendor.legal_name[:5].upper(), 1), ("%", 0), ("no such shop", 0)):
        params = {"vendorName": typed}
        listed = await scenario.client.get("/api/payouts", params=params, headers=reader)
        assert listed.json()["meta"]["total"] == found, typed
    for owner, count in ((str(vendor.owner), 1), (str(new_id()), 0)):
        listed = await scenario.client.get("/api/payouts", params={"ownerId": owner}, headers=reader)
        assert len(listed.json()["data"]) == count
    payee = {name: payout[name] for name in ("vendorName", "bankName", "accountName", "accountLast4", "bankCode")}

    async def read(batch_id: str) -> dict:
        return (await scenario.client.get(f"/api/payout-batches/{batch_id}", headers=reader)).json()["data"]

    [line] = (await read(sent["batchId"]))["transfers"]
    assert {name: line[name] for name in payee} == payee
    assert (line["payoutNumber"], line["requestedAt"]) == (payout["number"], payout["createdAt"])
    skipped = (await read(again["batchId"]))["skipped"]
    assert {one["payoutNumber"]: one["vendorName"] for one in skipped} == {
        payout["number"]: vendor.legal_name,
        None: None,
    }
