import asyncio
import dataclasses
from contextlib import asynccontextmanager
from datetime import timedelta
from uuid import UUID

import httpx
import pytest

from common.auth.caller import Caller
from common.primitives.ids import new_id
from contracts.identity import VendorSuspended
from contracts.payments import TransferSucceeded
from contracts.permissions import permissions_of
from payouts.domain.dispatch import LEASE, LOST_CALL
from payouts.timers import process_due_transfers_once
from payouts.use_cases.transfers.dispatch_payouts import DispatchOrder, dispatch_payouts

from .conftest import GATEWAY_SECONDS_MAX, OPENING_BALANCE_MINOR
from .responses import FORBIDDEN, INVALID, STEP_UP_REQUIRED, error_of

KEY = UUID("6f8c0ad7-31a5-4a79-9e36-4c41b7cd5f0e")
OTHER_KEY = UUID("7a1c0ad7-31a5-4a79-9e36-4c41b7cd5f0e")
EVERYTHING = DispatchOrder(None, None, False)


@pytest.fixture
async def immediate(sandbox):
    """Transfers that succeed in the response to the call."""
    await sandbox.configure(transfer_settlement="immediate")
    return sandbox


async def recover(scenario):
    """Runs the worker after the end of all leases, until nothing is due."""
    dependencies = scenario.app.dependencies
    for _ in range(6):
        scenario.clock.advance(LEASE + timedelta(seconds=1))
        await scenario.app.work("payouts.transfers")
        await process_due_transfers_once(dependencies.database, dependencies.gateway, scenario.clock)


async def assert_paid_once(scenario, sandbox, payout_id, amount_minor):
    payout = await scenario.read_payout(payout_id)
    assert (payout["status"], payout["transfer"]["status"]) == ("processed", "success")
    [transfer] = await sandbox.transfers()
    assert (transfer["reference"], transfer["amount"]) == (payout["transferReference"], amount_minor)
    assert await sandbox.balance_minor() == OPENING_BALANCE_MINOR - amount_minor
    assert await scenario.balance("gateway_cash") == -amount_minor
    assert await scenario.balance("in_transit:%") == 0
    assert len(await scenario.app.published("payouts.payout_processed.v1")) == 1


async def test_a_dispatch_sends_and_lists_each_waiting_payout(scenario, sandbox):
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
    assert len(await scenario.app.published("payouts.payout_submitted.v1")) == 2
    again = (await scenario.dispatch(OTHER_KEY, payoutIds=[first])).json()["data"]
    assert (again["submitted"], again["skipped"]) == (0, [{"payoutId": first, "reason": "already_dispatched"}])


async def test_a_dispatch_key_always_returns_the_same_response(scenario, sandbox):
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


async def test_concurrent_requests_under_one_key_are_one_batch(scenario, sandbox):
    vendor = await scenario.ready_vendor(100_000)
    for _ in range(3):
        await scenario.payout(vendor, 10_000)
    responses = await asyncio.gather(*(scenario.dispatch(KEY) for _ in range(20)))
    assert {response.status_code for response in responses} == {200}
    assert len({response.json()["data"]["batchId"] for response in responses}) == 1
    assert len(await sandbox.transfers()) == 3


async def test_concurrent_dispatchers_send_each_payout_once(scenario, sandbox):
    vendor = await scenario.ready_vendor(1_000_000)
    payouts = [await scenario.payout(vendor, 1_000) for _ in range(12)]
    responses = await asyncio.gather(*(scenario.dispatch(key) for key in (KEY, OTHER_KEY)))
    sent = [transfer["payoutId"] for response in responses for transfer in response.json()["data"]["transfers"]]
    assert sorted(sent) == sorted(payouts)
    assert len(await sandbox.transfers()) == 12
    assert await sandbox.balance_minor() == OPENING_BALANCE_MINOR - 12_000


async def test_a_dry_run_sends_nothing(scenario, sandbox):
    vendor = await scenario.ready_vendor(100_000)
    payout_id = await scenario.payout(vendor, 10_000)
    response = (await scenario.dispatch(KEY, dryRun=True)).json()["data"]
    assert (response["submitted"], response["totalMinor"], response["dryRun"]) == (0, 10_000, True)
    assert [(line["payoutId"], line["status"]) for line in response["transfers"]] == [(payout_id, "planned")]
    assert await sandbox.transfers() == []
    assert (await scenario.read_payout(payout_id))["transfer"] is None
    assert (await scenario.dispatch(OTHER_KEY)).json()["data"]["submitted"] == 1


async def test_a_dispatch_honours_named_payouts_and_the_limit(scenario):
    vendor = await scenario.ready_vendor(100_000)
    payouts = [await scenario.payout(vendor, amount) for amount in (10_000, 8_000, 2_000, 1_000)]
    absent = str(new_id())
    response = (await scenario.dispatch(KEY, payoutIds=[*payouts[:3], absent], maxTotalMinor=12_000)).json()["data"]
    assert [line["payoutId"] for line in response["transfers"]] == [payouts[0], payouts[2]]
    assert {line["payoutId"]: line["reason"] for line in response["skipped"]} == {
        payouts[1]: "max_total_reached", absent: "not_found",
    }  # fmt: skip


async def test_a_short_balance_stops_the_batch_before_the_first_transfer(scenario, sandbox):
    vendor = await scenario.ready_vendor(2 * OPENING_BALANCE_MINOR)
    small = await scenario.payout(vendor, 1_000)
    await scenario.payout(vendor, OPENING_BALANCE_MINOR)
    response = (await scenario.dispatch(KEY)).json()["data"]
    assert (response["submitted"], response["transfers"]) == (0, [])
    assert {line["reason"] for line in response["skipped"]} == {"balance_insufficient"}
    assert await sandbox.transfers() == []
    headers = scenario.app.headers(new_id(), roles=("auditor",))
    [exception] = (await scenario.app.client.get("/api/payout-exceptions", headers=headers)).json()["data"]
    assert (exception["severity"], exception["cause"]) == ("SEV-1", "balance_insufficient")
    assert (exception["batchId"], exception["payoutId"]) == (response["batchId"], None)
    assert exception["respondBy"] == "2026-01-01T00:15:00.000Z"
    assert [alert["severity"] for alert in await scenario.app.published("operations.alert_raised.v1")] == ["SEV-1"]
    assert (await scenario.dispatch(OTHER_KEY, payoutIds=[small])).json()["data"]["submitted"] == 1


async def test_changed_or_unverified_bank_details_stop_a_payout(scenario, sandbox):
    await sandbox.name_account("044", "1234567890", "Ada Obi Ventures")
    changed, unverified, same = [await scenario.ready_vendor(10_000) for _ in range(3)]
    payouts = [await scenario.payout(vendor, 1_000) for vendor in (changed, unverified, same)]
    assert (await scenario.put_bank_details(changed, "1234567890", "044")).json()["data"]["verified"] is True
    assert (await scenario.put_bank_details(unverified, "0690123456", "044")).json()["data"]["verified"] is False
    await scenario.put_bank_details(same)
    response = (await scenario.dispatch(KEY)).json()["data"]
    assert [line["payoutId"] for line in response["transfers"]] == [payouts[2]]
    assert response["skipped"] == [
        {"payoutId": payout_id, "reason": "bank_details_changed"} for payout_id in payouts[:2]
    ]


async def test_a_dispatch_without_permission_has_no_effect(scenario, sandbox):
    vendor = await scenario.ready_vendor(10_000)
    await scenario.payout(vendor, 1_000)

    async def post(headers, body=None):
        response = await scenario.app.client.post("/api/payouts/dispatch", json=body or {}, headers=headers)
        return response.status_code, response.json()["code"]

    checker = scenario.app.headers(new_id(), roles=("finance_checker",), stepped_up=True, idempotency_key=KEY)
    assert await post(checker) == FORBIDDEN
    assert await post(scenario.maker(KEY, stepped_up=False)) == STEP_UP_REQUIRED
    assert await post(scenario.maker()) == INVALID
    assert await post(scenario.maker("not-a-key")) == INVALID
    assert await post(scenario.maker("6f8c0ad7-31a5-1a79-9e36-4c41b7cd5f0e")) == INVALID
    twice = [str(KEY), str(KEY)]
    for body in ({"maxTotalMinor": 0}, {"payoutIds": []}, {"payoutIds": twice}, {"dryRun": "yes"}, {"all": True}):
        assert await post(scenario.maker(KEY), body) == INVALID
    assert await sandbox.transfers() == []
    assert await scenario.app.fetch("SELECT id FROM dispatch_batches") == []


async def test_a_failed_balance_query_writes_nothing(scenario, sandbox):
    vendor = await scenario.ready_vendor(10_000)
    await scenario.payout(vendor, 1_000)
    await sandbox.faults(balance_call={"error_before": True})
    assert error_of(await scenario.dispatch(KEY)) == (503, "INTERNAL_ERROR")
    assert await scenario.app.fetch("SELECT id FROM dispatch_batches") == []
    await sandbox.faults(balance_call=None)
    assert (await scenario.dispatch(KEY)).json()["data"]["submitted"] == 1


@pytest.mark.parametrize("fault", [{"timeout": True}, {"error_after": True}])
async def test_a_call_without_a_response_is_unknown_until_a_query(scenario, immediate, limit_gateway_timeout, fault):
    vendor = await scenario.ready_vendor(10_000)
    payout_id = await scenario.payout(vendor, 1_000)
    await immediate.faults(transfer_call={**fault, "times": 1})
    limit_gateway_timeout(3)
    [transfer] = (await scenario.dispatch(KEY)).json()["data"]["transfers"]
    assert transfer["status"] == "unknown"
    assert (await scenario.read_payout(payout_id))["status"] == "pending"
    limit_gateway_timeout(GATEWAY_SECONDS_MAX)
    assert await scenario.app.work("payouts.transfers") == 1
    await assert_paid_once(scenario, immediate, payout_id, 1_000)


async def test_an_unaccepted_transfer_is_sent_again_under_its_reference(scenario, immediate):
    vendor = await scenario.ready_vendor(10_000)
    payout_id = await scenario.payout(vendor, 1_000)
    await immediate.faults(transfer_call={"error_before": True, "times": 1})
    [transfer] = (await scenario.dispatch(KEY)).json()["data"]["transfers"]
    assert transfer["status"] == "unknown"
    assert await immediate.transfers() == []
    await scenario.app.work("payouts.transfers")
    await assert_paid_once(scenario, immediate, payout_id, 1_000)
    assert (await immediate.transfers())[0]["reference"] == transfer["reference"]


async def test_failing_queries_open_an_exception(scenario, immediate):
    vendor = await scenario.ready_vendor(10_000)
    payout_id = await scenario.payout(vendor, 1_000)
    await immediate.faults(transfer_call={"error_after": True, "times": 1}, verify_call={"error_before": True})
    await scenario.dispatch(KEY)
    await recover(scenario)
    payout = await scenario.read_payout(payout_id)
    assert (payout["status"], payout["transfer"]["status"]) == ("pending", "unknown")
    assert (payout["openException"]["cause"], payout["openException"]["severity"]) == ("timeout", "SEV-1")
    await immediate.faults(verify_call=None)
    scenario.clock.advance(timedelta(hours=1))
    await recover(scenario)
    await assert_paid_once(scenario, immediate, payout_id, 1_000)
    assert (await scenario.read_payout(payout_id))["openException"] is None


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


@asynccontextmanager
async def called_late(scenario):
    """Returns a payout whose call is still under way to the gateway."""
    vendor = await scenario.ready_vendor(10_000)
    payout_id = await scenario.payout(vendor, 1_000)
    async with httpx.AsyncHTTPTransport() as inner:
        late = LateTransport(inner)
        database = scenario.app.runtime.database
        await dispatch_payouts(database, gateway_over(scenario, late), scenario.clock, maker(scenario), KEY, EVERYTHING)
        assert (await scenario.read_payout(payout_id))["transfer"]["status"] == "unknown"
        yield vendor, payout_id, late


@pytest.mark.parametrize("arrives", [True, False])
async def test_changed_details_fail_no_call_that_may_still_arrive(scenario, sandbox, arrives):
    async with called_late(scenario) as (vendor, payout_id, late):
        await scenario.put_bank_details(vendor, "0690123456", "044")
        await scenario.app.work("payouts.transfers")
        scenario.clock.advance(timedelta(minutes=14))
        await run_worker_once(scenario)
        payout = await scenario.read_payout(payout_id)
        assert (payout["status"], payout["transfer"]["status"]) == ("pending", "unknown")
        assert (await reset(scenario, payout_id)).status_code == 409
        assert await sandbox.transfers() == []
        if arrives:
            assert await late.arrive() == 200
    scenario.clock.advance(timedelta(minutes=2))
    await run_worker_once(scenario)
    payout = await scenario.read_payout(payout_id)
    assert payout["status"] == "pending"
    if arrives:
        assert payout["transfer"]["status"] == "pending"
        await sandbox.client.post(f"/control/transfers/{payout['transferReference']}/succeed", json={})
        scenario.clock.advance(timedelta(hours=1))
        await run_worker_once(scenario)
        await assert_paid_once(scenario, sandbox, payout_id, 1_000)
    else:
        assert payout["transfer"]["status"] == "failed"
        assert (payout["openException"]["cause"], payout["openException"]["severity"]) == (
            "bank_details_changed",
            "SEV-3",
        )
        assert (await reset(scenario, payout_id)).status_code == 200


@pytest.mark.parametrize("arrives", [True, False])
async def test_a_refusal_does_not_count_while_an_earlier_call_may_still_arrive(scenario, immediate, arrives):
    async with called_late(scenario) as (_, payout_id, late):
        gateway = gateway_over(scenario, late)
        scenario.clock.advance(timedelta(seconds=20))
        await run_worker_once(scenario, gateway)
        payout = await scenario.read_payout(payout_id)
        assert (payout["transfer"]["status"], payout["openException"]) == ("unknown", None)
        assert payout["transfer"]["failure"].startswith("refused, and an earlier call may still arrive")
        if arrives:
            assert await late.arrive() == 200
        scenario.clock.advance(LOST_CALL)
        await run_worker_once(scenario, gateway)
    if arrives:
        await assert_paid_once(scenario, immediate, payout_id, 1_000)
    else:
        payout = await scenario.read_payout(payout_id)
        assert (payout["transfer"]["status"], payout["openException"]["cause"]) == ("failed", "account_number_invalid")


async def run_worker_once(scenario, gateway=None):
    """One round of the worker."""
    dependencies = scenario.app.dependencies
    await process_due_transfers_once(dependencies.database, gateway or dependencies.gateway, scenario.clock)


async def reset(scenario, payout_id):
    headers = scenario.app.headers(new_id(), roles=("ops_oncall",), stepped_up=True)
    path = f"/api/payouts/{payout_id}/reset"
    return await scenario.app.client.post(path, json={"reason": "no answer"}, headers=headers)


async def test_a_definite_refusal_fails_the_attempt_and_returns_nothing(scenario, sandbox):
    """The balance shrinks between the query and the transfer: two batches fit alone, and not together."""
    vendor = await scenario.ready_vendor(2 * OPENING_BALANCE_MINOR)
    first, second = [await scenario.payout(vendor, OPENING_BALANCE_MINOR - 10_000) for _ in range(2)]

    class Later(httpx.AsyncBaseTransport):
        def __init__(self, inner):
            self.inner = inner

        async def handle_async_request(self, request):
            response = await self.inner.handle_async_request(request)
            if request.url.path.endswith("/balance"):
                await response.aread()
                assert (await scenario.dispatch(KEY, payoutIds=[first])).json()["data"]["submitted"] == 1
            return response

    dependencies = scenario.app.dependencies
    async with httpx.AsyncHTTPTransport() as inner:
        gateway = gateway_over(scenario, Later(inner))
        order = DispatchOrder((UUID(second),), None, False)
        response = await dispatch_payouts(
            dependencies.database, gateway, scenario.clock, maker(scenario), OTHER_KEY, order
        )
    assert (response["submitted"], response["transfers"][0]["status"]) == (0, "failed")
    payout = await scenario.read_payout(second)
    assert (payout["status"], payout["transfer"]["status"]) == ("pending", "failed")
    assert payout["openException"]["cause"] == "balance_insufficient"
    assert -await scenario.balance(f"in_transit:{second}") == OPENING_BALANCE_MINOR - 10_000
    await recover(scenario)
    assert len(await sandbox.transfers()) == 1


async def test_a_success_webhook_before_the_calls_response_is_accepted(scenario, immediate):
    vendor = await scenario.ready_vendor(10_000)
    payout_id = await scenario.payout(vendor, 1_000)

    class WebhookFirst(httpx.AsyncBaseTransport):
        def __init__(self, inner):
            self.inner = inner

        async def handle_async_request(self, request):
            response = await self.inner.handle_async_request(request)
            if request.method == "POST" and request.url.path.endswith("/transfer"):
                await response.aread()
                reference = (await scenario.read_payout(payout_id))["transferReference"]
                await scenario.app.deliver(
                    TransferSucceeded(
                        reference=reference, transfer_code="TRF_1", amount_minor=1_000, currency="NGN",
                        status="success", gateway_event_id="1", occurred_at="2026-01-01T00:00:00.000Z",
                    )
                )  # fmt: skip
            return response

    async with httpx.AsyncHTTPTransport() as inner:
        gateway = gateway_over(scenario, WebhookFirst(inner))
        database = scenario.app.runtime.database
        await dispatch_payouts(database, gateway, scenario.clock, maker(scenario), KEY, EVERYTHING)
    await assert_paid_once(scenario, immediate, payout_id, 1_000)


# --- Process deaths ---


class Died(BaseException):
    """The process ended here: nothing after it happens."""


class MortalDatabase:
    """The real database of a process that dies before its n-th transaction; committed data stays."""

    def __init__(self, database, lives):
        self._database, self.lives = database, lives

    @asynccontextmanager
    async def unit_of_work(self, *, acting_as):
        if self.lives == 0:
            raise Died
        self.lives -= 1
        async with self._database.unit_of_work(acting_as=acting_as) as uow:
            yield uow


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


def maker(scenario):
    return Caller(user_id=scenario.operator_id, permissions=permissions_of(["finance_maker"]))


def gateway_over(scenario, transport):
    client = scenario.app.dependencies.gateway.client
    other = httpx.AsyncClient(base_url=client.base_url, headers=client.headers, transport=transport)
    return dataclasses.replace(scenario.app.dependencies.gateway, client=other, timeout_seconds=10)


async def dispatch_until_death(scenario, *, database=None, gateway=None):
    """Returns whether the process survived."""
    dependencies = dataclasses.replace(scenario.app.dependencies)
    try:
        await dispatch_payouts(
            database or dependencies.database,
            gateway or dependencies.gateway,
            scenario.clock,
            maker(scenario),
            KEY,
            EVERYTHING,
        )
    except Died:
        return False
    return True


async def recover_in_another_process(scenario, again_under):
    """Another process: the worker's recovery, and another dispatch by staff, under the same key or a new one."""
    if again_under == "the same key":
        assert (await scenario.dispatch(KEY)).status_code == 200
    await recover(scenario)
    assert (await scenario.dispatch(OTHER_KEY)).status_code == 200
    await recover(scenario)


@pytest.mark.parametrize("commits", range(7))
async def test_a_dispatch_killed_between_two_commits_pays_once(scenario, immediate, commits):
    vendor = await scenario.ready_vendor(10_000)
    payout_id = await scenario.payout(vendor, 1_000)
    mortal = MortalDatabase(scenario.app.runtime.database, commits)
    lived = await dispatch_until_death(scenario, database=mortal)
    # find, plan with its attempts, unsent, submitting, recipient, record, finish: seven commits, and a death before
    # each.
    assert not lived
    await recover_in_another_process(scenario, "a new key" if commits % 2 else "the same key")
    await assert_paid_once(scenario, immediate, payout_id, 1_000)


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("calls", range(3))
async def test_a_dispatch_killed_around_a_gateway_call_pays_once(scenario, immediate, calls, after):
    vendor = await scenario.ready_vendor(10_000)
    payout_id = await scenario.payout(vendor, 1_000)
    async with httpx.AsyncHTTPTransport() as inner:
        gateway = gateway_over(scenario, MortalTransport(inner, calls, after=after))
        # balance, recipient, transfer.
        assert not await dispatch_until_death(scenario, gateway=gateway)
    await recover_in_another_process(scenario, "the same key" if after else "a new key")
    await assert_paid_once(scenario, immediate, payout_id, 1_000)


async def test_a_dispatch_has_no_more_commits_than_the_kills_cover(scenario, immediate):
    vendor = await scenario.ready_vendor(10_000)
    await scenario.payout(vendor, 1_000)
    mortal = MortalDatabase(scenario.app.runtime.database, 7)
    assert await dispatch_until_death(scenario, database=mortal)
    assert mortal.lives == 0


async def hold(scenario, vendor, by):
    """Puts every payout of the vendor on hold."""
    if by == "vendor_suspended":
        event = VendorSuspended(
            vendor_id=vendor.id, owner_user_id=vendor.owner, business_name="A shop", legal_name=vendor.legal_name,
            campus_id=new_id(), reason="Complaints",
        )  # fmt: skip
        await scenario.app.deliver(event)
    else:
        await scenario.app.fetch("UPDATE vendor_bank_details SET verified = false WHERE vendor_id = $1", vendor.id)


async def release_hold(scenario, vendor):
    await scenario.app.fetch("UPDATE vendor_bank_details SET verified = true WHERE vendor_id = $1", vendor.id)
    await scenario.app.fetch("UPDATE vendors SET suspended = false WHERE id = $1", vendor.id)


@pytest.mark.parametrize("by", ["vendor_suspended", "bank_details_changed"])
async def test_a_reserved_attempt_that_is_held_is_sent_by_a_later_dispatch(scenario, immediate, by):
    vendor = await scenario.ready_vendor(10_000)
    payout_id = await scenario.payout(vendor, 1_000)
    # Dies after the attempt is reserved, and before its submission: find, plan, unsent.
    assert not await dispatch_until_death(scenario, database=MortalDatabase(scenario.app.runtime.database, 3))
    reference = (await scenario.read_payout(payout_id))["transfer"]["reference"]
    await hold(scenario, vendor, by)
    await recover(scenario)
    assert await immediate.transfers() == []
    payout = await scenario.read_payout(payout_id)
    assert (payout["status"], payout["transfer"]["status"], payout["openException"]) == ("pending", "reserved", None)
    [line] = await scenario.app.fetch("SELECT outcome, reason FROM dispatch_lines")
    assert tuple(line) == ("skipped", by)
    again = (await scenario.dispatch(OTHER_KEY)).json()["data"]
    assert again["skipped"] == [{"payoutId": payout_id, "reason": by}]
    await release_hold(scenario, vendor)
    await recover(scenario)
    assert await immediate.transfers() == []
    sent = (await scenario.dispatch("8b1c0ad7-31a5-4a79-9e36-4c41b7cd5f0e")).json()["data"]
    assert [transfer["reference"] for transfer in sent["transfers"]] == [reference]
    await assert_paid_once(scenario, immediate, payout_id, 1_000)


async def test_an_unaccepted_transfer_is_not_sent_again_to_a_suspended_vendor(scenario, immediate):
    vendor = await scenario.ready_vendor(10_000)
    payout_id = await scenario.payout(vendor, 1_000)
    await immediate.faults(transfer_call={"error_before": True, "times": 1})
    await scenario.dispatch(KEY)
    await hold(scenario, vendor, "vendor_suspended")
    await recover(scenario)
    payout = await scenario.read_payout(payout_id)
    assert (payout["transfer"]["status"], payout["openException"]["cause"]) == ("unknown", "unclassified")
    assert await immediate.transfers() == []
    await release_hold(scenario, vendor)
    scenario.clock.advance(timedelta(hours=1))
    await recover(scenario)
    await assert_paid_once(scenario, immediate, payout_id, 1_000)


async def test_held_payouts_keep_no_other_out_of_its_batch(scenario, sandbox):
    held, other = await scenario.ready_vendor(1_000_000), await scenario.ready_vendor(1_000_000)
    first = await scenario.payout(held, 1_000)
    copy = """
    WITH made AS (
        INSERT INTO payout_requests (id, vendor_id, amount, currency, status, bank_details_version_id, requested_by, created_at, updated_at)
        SELECT gen_random_uuid(), vendor_id, amount, currency, status, bank_details_version_id, requested_by, created_at, updated_at
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
    await scenario.app.fetch(copy, UUID(first), 300)
    await hold(scenario, held, "vendor_suspended")
    scenario.clock.advance(timedelta(minutes=1))
    going = await scenario.payout(other, 1_000)
    await scenario.app.fetch(copy, UUID(going), 204)
    dry = (await scenario.dispatch(KEY, dryRun=True)).json()["data"]
    assert (len(dry["transfers"]), dry["skipped"], dry["remaining"]) == (200, [], 5)
    limited = (await scenario.dispatch(OTHER_KEY, maxTotalMinor=3_500)).json()["data"]
    assert (limited["submitted"], limited["totalMinor"], limited["queued"], limited["remaining"]) == (3, 3_000, 0, 202)
    assert {line["reason"] for line in limited["skipped"]} == {"max_total_reached"}


async def test_more_than_two_hundred_named_payouts_are_refused_with_the_limit(scenario, sandbox):
    refused = await scenario.dispatch(KEY, payoutIds=[str(new_id()) for _ in range(201)])
    assert refused.status_code == 422
    [invalid_param] = refused.json()["invalid_params"]
    assert invalid_param["name"] == "payoutIds"
    assert "200" in invalid_param["reason"]


async def test_a_transfer_with_a_lost_webhook_is_queried(scenario, sandbox):
    vendor = await scenario.ready_vendor(10_000)
    payout_id = await scenario.payout(vendor, 1_000)
    await scenario.dispatch(KEY)
    reference = (await scenario.read_payout(payout_id))["transferReference"]
    await recover(scenario)
    assert (await scenario.read_payout(payout_id))["transfer"]["status"] == "pending"
    await sandbox.client.post(f"/control/transfers/{reference}/succeed", json={})
    scenario.clock.advance(timedelta(hours=1))
    await recover(scenario)
    await assert_paid_once(scenario, sandbox, payout_id, 1_000)


@pytest.mark.parametrize(("days", "rounds"), [(1, 1), (7, 2)])
async def test_a_reversal_with_a_lost_webhook_is_found_by_a_later_query(scenario, immediate, days, rounds):
    vendor = await scenario.ready_vendor(10_000)
    payout_id = await scenario.payout(vendor, 1_000)
    await scenario.dispatch(KEY)
    reference = (await scenario.read_payout(payout_id))["transferReference"]
    if rounds == 2:
        scenario.clock.advance(timedelta(days=1))
        await run_worker_once(scenario)
    await immediate.client.post(f"/control/transfers/{reference}/reverse", json={})
    scenario.clock.advance(timedelta(days=days - (rounds - 1)) - timedelta(minutes=1))
    await run_worker_once(scenario)
    assert (await scenario.read_payout(payout_id))["openException"] is None
    scenario.clock.advance(timedelta(minutes=1))
    await run_worker_once(scenario)
    payout = await scenario.read_payout(payout_id)
    assert (payout["status"], payout["transfer"]["status"]) == ("processed", "reversed")
    assert payout["openException"]["cause"] == "reversed"
    assert await scenario.app.fetch("SELECT id FROM payout_transfers WHERE due_at IS NOT NULL") == []


async def test_a_paid_transfer_is_not_queried_after_a_week(scenario, immediate):
    vendor = await scenario.ready_vendor(10_000)
    payout_id = await scenario.payout(vendor, 1_000)
    await scenario.dispatch(KEY)
    for days in (1, 6):
        scenario.clock.advance(timedelta(days=days))
        await run_worker_once(scenario)
    assert (await scenario.read_payout(payout_id))["openException"] is None
    assert await scenario.app.fetch("SELECT id FROM payout_transfers WHERE due_at IS NOT NULL") == []
    await assert_paid_once(scenario, immediate, payout_id, 1_000)


async def test_concurrent_workers_claim_a_due_transfer_once(scenario, immediate):
    vendor = await scenario.ready_vendor(10_000)
    payouts = [await scenario.payout(vendor, 1_000) for _ in range(3)]
    await dispatch_until_death(scenario, database=MortalDatabase(scenario.app.runtime.database, 5))
    scenario.clock.advance(LEASE + timedelta(seconds=1))
    dependencies = scenario.app.dependencies
    await asyncio.gather(
        *(process_due_transfers_once(dependencies.database, dependencies.gateway, scenario.clock) for _ in range(4))
    )
    await recover_in_another_process(scenario, "a new key")
    assert {(await scenario.read_payout(payout_id))["status"] for payout_id in payouts} == {"processed"}
    assert len(await immediate.transfers()) == 3
