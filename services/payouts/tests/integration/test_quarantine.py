"""Finance quarantines an account, and the named payout returns unless its money was sent."""

import asyncio
import random
import uuid
from datetime import timedelta

import asyncpg
import pytest

from common.auth.caller import Caller
from common.primitives.ids import new_id
from contracts.payments import TransferFailed, TransferSucceeded
from contracts.permissions import permissions_of
from payouts.domain.dispatch import LEASE, LOST_CALL
from payouts.timers import process_due_transfers_once
from testkit.responses import CONFLICT, FORBIDDEN, NOT_FOUND, STEP_UP_REQUIRED, UNAUTHORIZED, data_of, error_of
from testkit.sandbox import Sandbox

from .conftest import Scenario, released
from .steps import QUARANTINE_REASON, escrow_refunded, quarantine_account, quarantined_account, transfer_event

QUARANTINED = "payouts.bank_details_quarantined.v1"
OTHER = ("1234567890", "044")
AMOUNT = 4_000


@pytest.fixture
def scenario(shared_scenario: Scenario):
    return shared_scenario


@pytest.fixture
async def sandbox(shared_sandbox: Sandbox):
    """Transfers wait for a control call; another account under the vendor's name exists."""
    await shared_sandbox.name_account("044", "1234567890", "OBI ADA VENTURES")
    yield shared_sandbox
    await shared_sandbox.client.delete("/control/faults")
    await shared_sandbox.faults(transfer_webhook={"drop": True})


@pytest.fixture
async def account(sandbox):
    """Return the vendor's account, which no other vendor of the module has."""
    return await sandbox.new_account()


@pytest.fixture
async def vendor(scenario, account):
    return await scenario.ready_vendor(10_000, account)


async def sent(scenario, vendor):
    """Return the id and reference of a payout that the gateway has."""
    payout_id = await scenario.payout(vendor, AMOUNT)
    [transfer] = (await scenario.dispatch(uuid.uuid4(), payoutIds=[payout_id])).json()["data"]["transfers"]
    return payout_id, transfer["reference"]


async def run_worker(scenario):
    dependencies = scenario.dependencies
    for _ in range(3):
        await scenario.work("payouts.transfers")
        scenario.clock.advance(LEASE + timedelta(seconds=1))
        await process_due_transfers_once(dependencies.database, dependencies.gateways, scenario.clock)


async def trail(scenario, vendor):
    return await scenario.fetch(
        "SELECT payout_id, reason, quarantined_by FROM bank_detail_quarantines WHERE vendor_id = $1", vendor.id
    )


async def assert_returned(scenario, vendor, payout_id):
    payout = await scenario.read_payout(payout_id)
    assert (payout["status"], payout["openException"]) == ("failed", None)
    wallet = await scenario.wallet(vendor)
    assert (wallet["availableMinor"], wallet["inTransitMinor"]) == (10_000, 0)
    assert await scenario.balance(f"in_transit:{payout_id}") == 0
    assert [line["kind"] for line in await scenario.statement(vendor)] == ["restitution", "payout", "release"]
    failed = await scenario.published("payouts.payout_failed.v1")
    assert len([event for event in failed if event["payoutId"] == payout_id]) == 1


async def assert_held(scenario, vendor, payout_id):
    assert (await scenario.read_payout(payout_id))["status"] == "pending"
    wallet = await scenario.wallet(vendor)
    assert (wallet["availableMinor"], wallet["inTransitMinor"]) == (10_000 - AMOUNT, AMOUNT)


async def test_a_quarantine_returns_an_unsubmitted_payout_at_once(scenario, vendor, account) -> None:
    payout_id = await scenario.payout(vendor, AMOUNT)
    assert await quarantined_account(scenario, vendor, payout_id) == "done"
    await assert_returned(scenario, vendor, payout_id)
    assert (await scenario.request_payout(vendor, 100)).status_code == 409
    events = [event for event in await scenario.published(QUARANTINED) if event["vendorId"] == str(vendor.id)]
    assert events == [
        {"vendorId": str(vendor.id), "reason": QUARANTINE_REASON, "last4": account[0][-4:], "bankCode": "058"}
    ]
    assert account[0] not in str(events)
    skipped = (await scenario.dispatch(uuid.uuid4(), payoutIds=[payout_id])).json()["data"]["skipped"]
    assert skipped == [{"payoutId": payout_id, "reason": "not_pending"}]


async def test_a_repeated_quarantine_has_no_effect(scenario, vendor) -> None:
    payout_id = await scenario.payout(vendor, AMOUNT)
    await asyncio.gather(*(quarantined_account(scenario, vendor, payout_id) for _ in range(5)))
    assert await quarantined_account(scenario, vendor) is None
    await assert_returned(scenario, vendor, payout_id)
    [act] = await trail(scenario, vendor)
    assert (str(act["payout_id"]), act["reason"], act["quarantined_by"]) == (
        payout_id,
        QUARANTINE_REASON,
        scenario.operator_id,
    )
    headers = scenario.headers(vendor.owner, **vendor.claims())
    response = await scenario.client.get(f"/api/vendors/{vendor.id}/bank-details/history", headers=headers)
    newest, _ = response.json()["data"]
    assert (newest["change"], newest["changedBy"]) == ("quarantined", str(scenario.operator_id))
    assert newest["reason"] == f"quarantined: {QUARANTINE_REASON}"
    assert len([event for event in await scenario.published(QUARANTINED) if event["vendorId"] == str(vendor.id)]) == 1


async def test_another_reason_of_a_quarantine_is_only_recorded(scenario, vendor, account) -> None:
    await quarantined_account(scenario, vendor)
    present = "SELECT * FROM vendor_bank_details WHERE vendor_id = $1"
    before = await scenario.fetch(present, vendor.id)
    newer = "The owner of the account wrote to the bank"
    for _ in range(2):
        response = await quarantine_account(scenario, vendor, reason=newer)
        assert (response.status_code, response.json()["data"]["quarantineReason"]) == (200, QUARANTINE_REASON)
    assert await scenario.fetch(present, vendor.id) == before
    assert [act["reason"] for act in await trail(scenario, vendor)] == [QUARANTINE_REASON, newer]
    shown = await scenario.client.get(f"/api/vendors/{vendor.id}/bank-details/history", headers=scenario.maker())
    assert [(line["change"], line["reason"], line["verified"]) for line in shown.json()["data"]] == [
        ("quarantined", f"quarantined: {newer}", False),
        ("quarantined", f"quarantined: {QUARANTINE_REASON}", False),
        ("set", None, True),
    ]
    published = [event for event in await scenario.published(QUARANTINED) if event["vendorId"] == str(vendor.id)]
    assert [event["reason"] for event in published] == [QUARANTINE_REASON]
    assert (await scenario.put_bank_details(vendor, *account)).status_code == 409


async def test_a_payout_named_by_a_later_quarantine_is_returned(scenario, vendor) -> None:
    first, second = await scenario.payout(vendor, 1_000), await scenario.payout(vendor, 2_000)
    assert await quarantined_account(scenario, vendor, first) == "done"
    assert await quarantined_account(scenario, vendor, second) == "done"
    assert (await scenario.wallet(vendor))["availableMinor"] == 10_000
    assert [str(act["payout_id"]) for act in await trail(scenario, vendor)] == [first, second]


@pytest.mark.parametrize("act", ["fail", "reverse"])
async def test_a_quarantine_queries_the_gateway_and_returns_failed_payouts(scenario, sandbox, vendor, act: str) -> None:
    payout_id, reference = await sent(scenario, vendor)
    if act == "reverse":
        await sandbox.settle_transfer(reference, "succeed")
    await sandbox.settle_transfer(reference, act)
    assert await quarantined_account(scenario, vendor, payout_id) == "done"
    await assert_returned(scenario, vendor, payout_id)


async def test_a_failure_that_opened_an_exception_closes_it_with_the_restitution(scenario, sandbox, vendor) -> None:
    payout_id, reference = await sent(scenario, vendor)
    await sandbox.settle_transfer(reference, "fail")
    await scenario.receive(transfer_event(TransferFailed, reference, amount_minor=AMOUNT))
    assert (await scenario.read_payout(payout_id))["openException"]["cause"] == "account_number_invalid"
    await assert_held(scenario, vendor, payout_id)
    assert await quarantined_account(scenario, vendor, payout_id) == "done"
    await assert_returned(scenario, vendor, payout_id)
    await run_worker(scenario)
    await assert_returned(scenario, vendor, payout_id)


@pytest.mark.parametrize("reported_by", ["webhook", "question"])
async def test_a_transfer_under_way_is_returned_once_the_gateway_reports_its_failure(
    scenario, sandbox, vendor, reported_by: str
) -> None:
    payout_id, reference = await sent(scenario, vendor)
    assert await quarantined_account(scenario, vendor, payout_id) == "awaited"
    await run_worker(scenario)
    await assert_held(scenario, vendor, payout_id)
    await sandbox.settle_transfer(reference, "fail")
    if reported_by == "webhook":
        received = await scenario.receive(transfer_event(TransferFailed, reference, amount_minor=AMOUNT))
        await assert_held(scenario, vendor, payout_id)
        await scenario.receive(
            transfer_event(TransferFailed, reference, amount_minor=AMOUNT), event_id=received.event_id
        )
    else:
        scenario.clock.advance(timedelta(hours=1))
    await run_worker(scenario)
    await assert_returned(scenario, vendor, payout_id)


async def test_a_transfer_under_way_that_succeeds_is_not_returned(scenario, sandbox, vendor) -> None:
    payout_id, reference = await sent(scenario, vendor)
    assert await quarantined_account(scenario, vendor, payout_id) == "awaited"
    await sandbox.settle_transfer(reference, "succeed")
    await scenario.receive(transfer_event(TransferSucceeded, reference, amount_minor=AMOUNT))
    assert (await scenario.read_payout(payout_id))["status"] == "processed"
    assert (await scenario.wallet(vendor))["availableMinor"] == 10_000 - AMOUNT
    assert await quarantined_account(scenario, vendor, payout_id) is None
    # The bank returns it: from here on maker and checker decide.
    await sandbox.settle_transfer(reference, "reverse")
    assert await quarantined_account(scenario, vendor, payout_id) is None
    await run_worker(scenario)
    assert (await scenario.wallet(vendor))["availableMinor"] == 10_000 - AMOUNT


async def test_a_webhook_that_the_gateway_contradicts_returns_no_money(scenario, sandbox, vendor) -> None:
    payout_id, reference = await sent(scenario, vendor)
    await quarantined_account(scenario, vendor, payout_id)
    await sandbox.settle_transfer(reference, "succeed")
    await scenario.receive(transfer_event(TransferFailed, reference, amount_minor=AMOUNT))
    await run_worker(scenario)
    assert (await scenario.read_payout(payout_id))["status"] == "processed"
    assert (await scenario.wallet(vendor))["availableMinor"] == 10_000 - AMOUNT


async def test_a_quarantine_stops_the_account_while_the_gateway_is_unavailable(scenario, sandbox, vendor) -> None:
    payout_id, reference = await sent(scenario, vendor)
    await sandbox.settle_transfer(reference, "fail")
    await sandbox.faults(verify_call={"error_before": True}, transfer_webhook={"drop": True})
    assert await quarantined_account(scenario, vendor, payout_id) == "awaited"
    await assert_held(scenario, vendor, payout_id)
    await sandbox.faults(verify_call=None)
    await run_worker(scenario)
    await assert_returned(scenario, vendor, payout_id)


async def test_an_attempt_that_the_gateway_never_accepted_is_returned(scenario, sandbox, vendor) -> None:
    await sandbox.faults(transfer_call={"error_before": True})
    payout_id = await scenario.payout(vendor, AMOUNT)
    await scenario.dispatch(uuid.uuid4(), payoutIds=[payout_id])
    await sandbox.faults(transfer_call=None)
    assert (await scenario.read_payout(payout_id))["transfer"]["status"] == "unknown"
    # Its call may still arrive.
    assert await quarantined_account(scenario, vendor, payout_id) == "awaited"
    scenario.clock.advance(LOST_CALL)
    await run_worker(scenario)
    await assert_returned(scenario, vendor, payout_id)
    assert payout_id not in str(await sandbox.transfers())


async def test_an_attempt_without_a_response_is_held_until_the_gateway_reports(scenario, sandbox, vendor) -> None:
    await sandbox.faults(transfer_call={"error_after": True, "times": 1})
    payout_id = await scenario.payout(vendor, AMOUNT)
    await scenario.dispatch(uuid.uuid4(), payoutIds=[payout_id])
    assert await quarantined_account(scenario, vendor, payout_id) == "awaited"
    await assert_held(scenario, vendor, payout_id)
    reference = (await scenario.read_payout(payout_id))["transferReference"]
    await sandbox.settle_transfer(reference, "fail")
    scenario.clock.advance(timedelta(hours=1))
    await run_worker(scenario)
    await assert_returned(scenario, vendor, payout_id)


async def test_a_rejected_attempt_absent_at_the_gateway_is_returned(scenario, sandbox, vendor) -> None:
    """Our records have it as failed; the gateway, queried, does not have it: nothing was paid."""
    await sandbox.faults(transfer_call={"error_before": True})
    payout_id = await scenario.payout(vendor, AMOUNT)
    await scenario.dispatch(uuid.uuid4(), payoutIds=[payout_id])
    await sandbox.faults(transfer_call=None)
    await scenario.put_bank_details(vendor, *OTHER)
    scenario.clock.advance(LOST_CALL)
    await run_worker(scenario)
    payout = await scenario.read_payout(payout_id)
    assert (payout["status"], payout["transfer"]["status"]) == ("pending", "failed")
    assert payout["openException"]["cause"] == "bank_details_changed"
    assert (await quarantine_account(scenario, vendor, payout_id)).json()["data"]["payout"]["restitution"] == "done"
    await assert_returned(scenario, vendor, payout_id)


async def test_the_worker_makes_the_query_of_a_killed_quarantine(
    scenario, sandbox, vendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    payout_id, reference = await sent(scenario, vendor)
    await sandbox.settle_transfer(reference, "fail")
    from payouts.use_cases.bank_details import quarantine_bank_details as module

    async def die(*_):
        raise asyncio.CancelledError

    with monkeypatch.context() as patched:
        patched.setattr(module, "resolve_transfer", die)
        with pytest.raises(asyncio.CancelledError):
            await quarantine_account(scenario, vendor, payout_id)
    await assert_held(scenario, vendor, payout_id)
    await scenario.work("payouts.transfers")
    await assert_returned(scenario, vendor, payout_id)


async def test_a_concurrent_dispatch_and_quarantine_send_or_return(scenario, sandbox) -> None:
    vendors = [await scenario.ready_vendor(10_000, await sandbox.new_account()) for _ in range(10)]
    payouts = {vendor: await scenario.payout(vendor, AMOUNT) for vendor in vendors}

    async def stop(vendor):
        for _ in range(random.randrange(12)):
            await asyncio.sleep(0)
        return vendor, await quarantined_account(scenario, vendor, payouts[vendor])

    _, *stopped = await asyncio.gather(
        scenario.dispatch(uuid.uuid4(), payoutIds=list(payouts.values())), *(stop(vendor) for vendor in vendors)
    )
    await run_worker(scenario)
    references = {vendor: (await scenario.read_payout(payouts[vendor]))["transferReference"] for vendor in vendors}
    at_gateway = [transfer["reference"] for transfer in await sandbox.transfers()]
    for place, (vendor, _) in enumerate(stopped):
        times_sent = at_gateway.count(references[vendor])
        assert times_sent <= 1
        if times_sent == 0:
            await assert_returned(scenario, vendor, payouts[vendor])
            continue
        await assert_held(scenario, vendor, payouts[vendor])
        await sandbox.settle_transfer(references[vendor], "fail" if place % 2 else "succeed")
        scenario.clock.advance(timedelta(hours=1))
        await run_worker(scenario)
        if place % 2:
            await assert_returned(scenario, vendor, payouts[vendor])
        else:
            assert (await scenario.read_payout(payouts[vendor]))["status"] == "processed"
            assert (await scenario.wallet(vendor))["availableMinor"] == 10_000 - AMOUNT


async def test_no_payout_is_requested_after_a_concurrent_quarantine(scenario, vendor) -> None:
    responses = await asyncio.gather(
        *(scenario.request_payout(vendor, 100) for _ in range(6)),
        quarantine_account(scenario, vendor),
        *(scenario.request_payout(vendor, 100) for _ in range(6)),
    )
    assert {response.status_code for response in responses} <= {200, 201, 409}
    accepted = [response.json()["data"]["id"] for response in responses if response.status_code == 201]
    skipped = (await scenario.dispatch(uuid.uuid4(), payoutIds=accepted or [str(new_id())])).json()["data"]["skipped"]
    assert {line["reason"] for line in skipped} <= {"bank_details_changed", "not_found"}
    assert (await scenario.wallet(vendor))["availableMinor"] == 10_000 - 100 * len(accepted)


async def test_only_another_verified_account_ends_a_quarantine(scenario, vendor, account) -> None:
    await quarantined_account(scenario, vendor)
    again = await scenario.put_bank_details(vendor, *account)
    assert error_of(again) == CONFLICT
    assert "quarantined" in again.json()["detail"]
    wrong = (await scenario.put_bank_details(vendor, "0690123456", "044")).json()["data"]
    assert (wrong["verified"], wrong["quarantined"], wrong["accountLast4"]) == (False, True, "3456")
    assert wrong["reason"].startswith("name_mismatch")
    assert (await scenario.request_payout(vendor, 100)).status_code == 409
    right = (await scenario.put_bank_details(vendor, *OTHER)).json()["data"]
    assert (right["verified"], right["quarantined"], right["quarantineReason"]) == (True, False, None)
    payout_id = await scenario.payout(vendor, 100)
    response = (await scenario.dispatch(uuid.uuid4(), payoutIds=[payout_id])).json()["data"]
    assert response["skipped"] == [{"payoutId": payout_id, "reason": "bank_details_cooling"}]
    assert (await scenario.put_bank_details(vendor, *account)).status_code == 409
    scenario.clock.advance(timedelta(days=1))
    assert len((await scenario.dispatch(uuid.uuid4(), payoutIds=[payout_id])).json()["data"]["transfers"]) == 1


async def test_a_refused_quarantine_changes_nothing(scenario, vendor) -> None:
    other, without = await scenario.ready_vendor(10_000), await scenario.vendor()
    payout_id, foreign = await scenario.payout(vendor, AMOUNT), await scenario.payout(other, AMOUNT)
    headers = scenario.headers

    async def refused(target=vendor, given=payout_id, **changes):
        response = await quarantine_account(scenario, target, given, **changes)
        names = [param["name"] for param in response.json()["invalid_params"]]
        return (response.status_code, response.json()["code"], *names)

    assert await refused(headers={"Authorization": "Bearer no"}) == UNAUTHORIZED
    for role in ("finance_checker", "auditor", "ops_oncall", "platform_admin", "support_agent", "buyer"):
        assert await refused(headers=headers(new_id(), roles=(role,), stepped_up=True)) == FORBIDDEN
    merchant = headers(vendor.owner, **vendor.claims(stepped_up=True))
    assert await refused(headers=merchant) == FORBIDDEN
    assert await refused(headers=scenario.maker(stepped_up=False)) == STEP_UP_REQUIRED
    assert await refused(reason=" ") == (422, "VALIDATION_FAILED", "reason")
    assert await refused(reason="x" * 501) == (422, "VALIDATION_FAILED", "reason")
    assert await refused(given="1") == (422, "VALIDATION_FAILED", "payoutId")
    assert await refused(verified=True) == (422, "VALIDATION_FAILED", "verified")
    assert await refused(given=foreign) == NOT_FOUND
    assert await refused(given=str(new_id())) == NOT_FOUND
    assert await refused(target=without, given=None) == NOT_FOUND
    for seller, waiting in ((vendor, payout_id), (other, foreign)):
        await assert_held(scenario, seller, waiting)
        assert (await scenario.request_payout(seller, 1)).status_code == 201
        assert await trail(scenario, seller) == []


async def test_the_history_of_quarantines_is_append_only(scenario, vendor) -> None:
    await quarantined_account(scenario, vendor)
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await scenario.fetch("UPDATE bank_detail_quarantines SET reason = '' RETURNING 1")
    database = scenario.database

    async def seen_by(**claims):
        async with database.unit_of_work(acting_as=Caller(user_id=new_id(), **claims)) as uow:
            return {row["vendor_id"] for row in await uow.fetch("SELECT vendor_id FROM bank_detail_quarantines")}

    merchant = permissions_of(["merchant"])
    assert await seen_by(vendor_id=vendor.id, permissions=merchant) == {vendor.id}
    assert await seen_by(vendor_id=new_id(), permissions=merchant) == set()
    assert await seen_by(permissions=permissions_of(["buyer", "support_agent"])) == set()
    assert vendor.id in await seen_by(permissions=permissions_of(["auditor"]))


async def test_concurrent_releases_and_refunds_repay_debt_first(scenario, vendor) -> None:
    await scenario.payout(vendor, 9_000)
    changes = [released(vendor, 700) for _ in range(6)] + [escrow_refunded(vendor, 900) for _ in range(6)]
    random.shuffle(changes)
    await asyncio.gather(*(scenario.receive(move) for move in changes))
    wallet = await scenario.wallet(vendor)
    assert wallet["availableMinor"] - wallet["debtMinor"] == 1_000 + 6 * 700 - 6 * 900
    assert wallet["availableMinor"] == 0
    assert (await scenario.request_payout(vendor, 1)).status_code == 409
    for net_minor in (150, 100):
        await scenario.release(vendor, net_minor)
    wallet = await scenario.wallet(vendor)
    assert (wallet["availableMinor"], wallet["debtMinor"]) == (50, 0)
    assert (await scenario.request_payout(vendor, 50)).status_code == 201


async def test_a_quarantine_stops_the_account_of_the_named_payout(scenario, sandbox, vendor, account) -> None:
    payout_id = await scenario.payout(vendor, AMOUNT)
    await sandbox.name_account("058", "0123456789", vendor.legal_name)
    assert (await scenario.put_bank_details(vendor, "0123456789")).json()["data"]["verified"] is True
    response = (await quarantine_account(scenario, vendor, payout_id)).json()["data"]
    assert (response["payout"]["restitution"], response["verified"], response["quarantined"]) == ("done", True, False)
    assert (await scenario.read_payout(payout_id))["status"] == "failed"
    headers = scenario.headers(vendor.owner, **vendor.claims())
    present = (await scenario.client.get(f"/api/vendors/{vendor.id}/bank-details", headers=headers)).json()["data"]
    assert (present["accountLast4"], present["verified"], present["quarantined"]) == ("6789", True, False)
    [event] = [event for event in await scenario.published(QUARANTINED) if event["vendorId"] == str(vendor.id)]
    assert event["last4"] == account[0][-4:]
    # The account of the quarantine never returns, and the present one is stopped only by its own quarantine.
    assert (await scenario.put_bank_details(vendor, *account)).status_code == 409
    assert (await scenario.request_payout(vendor, 100)).status_code == 201
    assert await quarantined_account(scenario, vendor) is None
    assert (await scenario.request_payout(vendor, 100)).status_code == 409
    assert len(await trail(scenario, vendor)) == 2


async def test_a_quarantined_account_is_quarantined_for_every_vendor(scenario, vendor, account) -> None:
    twin, later = await scenario.ready_vendor(AMOUNT, account), await scenario.vendor()
    payout_id = await scenario.payout(twin, AMOUNT)
    unrelated = await scenario.vendor()
    assert data_of(await scenario.put_bank_details(unrelated, *OTHER))["verified"] is True
    await quarantined_account(scenario, vendor)
    assert error_of(await scenario.put_bank_details(later, *account)) == CONFLICT
    assert error_of(await scenario.put_bank_details(twin, *account)) == CONFLICT
    skipped = (await scenario.dispatch(uuid.uuid4(), payoutIds=[payout_id])).json()["data"]["skipped"]
    assert skipped == [{"payoutId": payout_id, "reason": "bank_details_changed"}]
    [details] = await scenario.fetch(
        "SELECT verified, quarantine_reason FROM vendor_bank_details WHERE vendor_id = $1", twin.id
    )
    assert tuple(details) == (False, QUARANTINE_REASON)
    notified = [event["vendorId"] for event in await scenario.published(QUARANTINED)]
    assert (notified.count(str(twin.id)), notified.count(str(unrelated.id))) == (1, 0)
    [other] = await scenario.fetch("SELECT verified FROM vendor_bank_details WHERE vendor_id = $1", unrelated.id)
    assert other["verified"] is True
