"""Returns to a wallet, prepared by one user and approved by another (contract sections 8, 14.4 and 14.6)."""

import hashlib
import json

import asyncpg
import pytest

from common.auth.caller import Caller
from common.primitives.ids import new_id
from contracts.payments import EscrowRefunded, TransferFailed, TransferReversed
from contracts.permissions import permissions_of
from testkit.responses import CONFLICT, FORBIDDEN, data_of, error_of
from testkit.sandbox import Sandbox

from .conftest import Scenario
from .staff import AMOUNT, Staff


@pytest.fixture
def staff(shared_scenario: Scenario, shared_sandbox: Sandbox):
    return Staff(shared_scenario, shared_sandbox)


async def refund(staff, vendor, amount_minor):
    """Make a refund after release, from the vendor's earnings alone."""
    event = EscrowRefunded(
        order_id=new_id(),
        buyer_id=new_id(),
        vendor_id=vendor.id,
        refund_id=new_id(),
        amount_minor=amount_minor,
        from_vendor_minor=amount_minor,
        remaining_minor=0,
        remaining_vendor_minor=0,
    )
    await staff.scenario.receive(event)


async def test_a_reversed_payout_is_returned_to_the_wallet_by_two_and_stays_processed(staff) -> None:
    case = await staff.reversed()
    prepared = data_of(await staff.prepare(case), 201)
    account = f"wallet:{case.vendor.id}"
    assert (prepared["kind"], prepared["status"], prepared["payoutId"]) == ("reversal", "prepared", case.payout_id)
    assert (prepared["preparedBy"], prepared["decidedBy"]) == (str(staff.maker), None)
    assert prepared["postings"] == [
        {
            "type": "reversal",
            "postingKey": f"reversal:{case.payout_id}",
            "currency": "NGN",
            "entries": [
                {"account": "gateway_cash", "amountMinor": AMOUNT},
                {"account": account, "amountMinor": -AMOUNT},
            ],
        }
    ]
    content = {"payoutId": case.payout_id, "kind": "reversal", "postings": prepared["postings"]}
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":")).encode()
    assert prepared["hash"] == hashlib.sha256(canonical).hexdigest()
    assert (await staff.scenario.wallet(case.vendor))["availableMinor"] == 0

    approved = await staff.approve(prepared)
    assert approved.status_code == 200, approved.text
    assert (approved.json()["data"]["status"], approved.json()["data"]["decidedBy"]) == ("approved", str(staff.checker))
    assert approved.json()["data"]["hash"] == prepared["hash"]
    payout = await staff.payout(case)
    assert (payout["status"], payout["transfer"]["status"], payout["openException"]) == ("processed", "reversed", None)
    assert payout["reversal"]["creditedAt"] is not None
    assert (await staff.scenario.wallet(case.vendor))["availableMinor"] == AMOUNT
    newest = (await staff.scenario.statement(case.vendor))[0]
    assert (newest["kind"], newest["netMinor"], newest["payoutId"]) == ("reversal", AMOUNT, case.payout_id)
    finding = await staff.scenario.published("payouts.payout_reversed.v1")
    assert [event["reconciliationId"] for event in finding if event["payoutId"] == case.payout_id] == [prepared["id"]]
    actions = await staff.scenario.fetch(
        "SELECT act, acted_by FROM payout_acts WHERE payout_id = $1 ORDER BY position", case.payout_id
    )
    assert [tuple(act) for act in actions] == [("prepared", staff.maker), ("approved", staff.checker)]
    await staff.assert_ledger_matches_gateway(case)

    assert (await staff.approve(prepared)).json()["data"]["status"] == "approved"
    assert (await staff.prepare(case)).status_code == 409
    assert await staff.returns(case) == ["reversal"]


async def test_a_payout_that_failed_for_good_is_restituted_and_repays_debt_first(staff) -> None:
    case = await staff.failed()
    await refund(staff, case.vendor, 15_000)
    prepared = await staff.prepared(case)
    assert {entry["account"]: entry["amountMinor"] for entry in prepared["postings"][0]["entries"]} == {
        f"in_transit:{case.payout_id}": AMOUNT,
        f"vendor_debt:{case.vendor.id}": -15_000,
        f"wallet:{case.vendor.id}": -25_000,
    }
    assert (await staff.approve(prepared)).status_code == 200
    payout, wallet = await staff.payout(case), await staff.scenario.wallet(case.vendor)
    assert (payout["status"], payout["openException"]) == ("failed", None)
    assert (wallet["availableMinor"], wallet["debtMinor"], wallet["inTransitMinor"]) == (25_000, 0, 0)
    assert [line["kind"] for line in (await staff.scenario.statement(case.vendor))[:2]] == [
        "debt_repaid",
        "restitution",
    ]
    failed = [event["payoutId"] for event in await staff.scenario.published("payouts.payout_failed.v1")]
    assert failed.count(case.payout_id) == 1
    assert (await staff.reset(case)).status_code == 409
    await staff.assert_ledger_matches_gateway(case)


async def test_the_maker_cannot_decide_under_another_role_or_session(staff) -> None:
    case = await staff.reversed()
    prepared = await staff.prepared(case)
    path = f"/api/reconciliations/{prepared['id']}"
    for roles in (("finance_checker",), ("finance_maker", "finance_checker")):
        for act, body in (("approve", {"hash": prepared["hash"]}), ("reject", {"reason": "mine"})):
            assert error_of(await staff.post(f"{path}/{act}", staff.maker, roles, body)) == FORBIDDEN
    assert (await staff.get(path)).json()["data"]["status"] == "prepared"
    assert await staff.returns(case) == []
    with pytest.raises(asyncpg.CheckViolationError, match="decided_by_another"):
        await staff.scenario.fetch(
            (
                "UPDATE reconciliations SET status = 'approved', decided_by = prepared_by, decided_at = now() WHERE "
                "id = $1"
            ),
            prepared["id"],
        )


async def test_an_approval_names_the_hash_that_was_prepared(staff) -> None:
    case = await staff.reversed()
    prepared = await staff.prepared(case)
    path = f"/api/reconciliations/{prepared['id']}/approve"
    for body, status, code in (
        (None, 422, "VALIDATION_FAILED"),
        ({}, 422, "VALIDATION_FAILED"),
        ({"hash": "0" * 64}, 409, "CONCURRENCY_CONFLICT"),
    ):
        assert error_of(await staff.post(path, staff.checker, "finance_checker", body)) == (status, code), body
    assert await staff.returns(case) == []
    assert (await staff.get(f"/api/reconciliations/{prepared['id']}")).json()["data"]["status"] == "prepared"
    assert (await staff.approve(prepared)).status_code == 200


async def test_a_rejected_reconciliation_posts_nothing(staff) -> None:
    case = await staff.failed()
    first = await staff.prepared(case)
    again = await staff.prepare(case)
    assert (again.status_code, "prepared already" in again.json()["detail"]) == (409, True)
    path = f"/api/reconciliations/{first['id']}/reject"
    assert (await staff.post(path, staff.checker, "finance_checker", {"reason": " "})).status_code == 422
    for _ in range(2):
        rejected = await staff.post(path, staff.checker, "finance_checker", {"reason": "wrong payout"})
        assert (rejected.status_code, rejected.json()["data"]["rejectionReason"]) == (200, "wrong payout")
    assert (await staff.approve(first)).status_code == 409
    assert await staff.returns(case) == []
    assert await staff.in_transit(case) == AMOUNT
    second = await staff.prepared(case)
    assert (second["hash"], second["id"] != first["id"]) == (first["hash"], True)
    listed = (await staff.get(f"/api/reconciliations?payoutId={case.payout_id}&order=asc")).json()
    assert [row["status"] for row in listed["data"]] == ["rejected", "prepared"]
    assert listed["meta"]["total"] == 2
    one = (await staff.get(f"/api/reconciliations?payoutId={case.payout_id}&status=prepared&limit=1")).json()
    assert [row["id"] for row in one["data"]] == [second["id"]]
    assert (await staff.get("/api/reconciliations?status=lost")).status_code == 422


async def test_the_audit_names_an_unapproved_reversal(staff) -> None:
    case = await staff.reversed()
    await staff.prepared(case)
    [finding] = await staff.findings(case)
    assert finding.startswith("each paid transfer is posted once")
    for key, kind, accounts in (
        ("reversal", "reversal", ["gateway_cash", f"wallet:{case.vendor.id}"]),
        ("restitution", "restitution", ["gateway_cash", f"wallet:{case.vendor.id}"]),
    ):
        await staff.scenario.fetch(
            "SELECT ledger_post(gen_random_uuid(), $1, $2, 'NGN', '\\x00', $3, '{debit,credit}', '{f,t}', $4)",
            kind,
            f"{key}:{case.payout_id}",
            accounts,
            [1, -1],
        )
    findings = await staff.findings(case)
    assert any(finding.startswith("every reversal and recovery was approved") for finding in findings)
    assert any(finding.startswith("a failed payout is restituted and no other") for finding in findings)


async def test_a_payout_that_agrees_with_the_gateway_is_not_reconciled(staff) -> None:
    way = await staff.dispatched()
    only_received = await staff.dispatched()
    await staff.receive_webhook(only_received.reference, TransferFailed)
    arrived = await staff.dispatched()
    await staff.succeeds(arrived.reference)
    waiting = await staff.failed()
    assert (await staff.reset(waiting)).status_code == 200
    for case in (way, only_received, arrived, waiting):
        assert error_of(await staff.prepare(case)) == CONFLICT
        assert (await staff.get(f"/api/reconciliations?payoutId={case.payout_id}")).json()["data"] == []


async def test_a_stale_reconciliation_is_not_posted(staff) -> None:
    case = await staff.failed()
    prepared = await staff.prepared(case)
    await refund(staff, case.vendor, 1_000)
    response = await staff.approve(prepared)
    assert (response.status_code, "no longer" in response.json()["detail"]) == (409, True)
    assert await staff.returns(case) == []
    # A repeated failure changes nothing of the prepared reconciliation.
    other = await staff.failed()
    prepared = await staff.prepared(other)
    await staff.receive_webhook(other.reference, TransferFailed)
    assert (await staff.approve(prepared)).status_code == 200


async def test_a_reset_between_the_two_users_removes_its_approval(staff) -> None:
    case = await staff.failed()
    prepared = await staff.prepared(case)
    assert (await staff.reset(case)).status_code == 200
    assert (await staff.approve(prepared)).status_code == 409
    assert await staff.returns(case) == []


async def test_a_success_between_the_two_users_completes_the_payout_instead(staff) -> None:
    case = await staff.failed()
    prepared = await staff.prepared(case)
    await staff.settle_at_gateway(case.reference, "succeed")
    response = await staff.approve(prepared)
    assert (response.status_code, "no longer" in response.json()["detail"]) == (409, True)
    assert ((await staff.payout(case))["status"], await staff.returns(case)) == ("processed", [])
    await staff.assert_ledger_matches_gateway(case)


async def test_a_success_after_a_restitution_is_recovered_by_two_users(staff) -> None:
    case = await staff.failed()
    await staff.reconcile(case)
    await staff.scenario.release(case.vendor, 5_000)
    assert (await staff.scenario.request_payout(case.vendor, 30_000)).status_code == 201
    await staff.succeeds(case.reference)
    await staff.process_queued_transfers()
    payout = await staff.payout(case)
    assert (payout["status"], payout["transfer"]["status"]) == ("failed", "success")
    assert payout["openException"]["cause"] == "transfer_contradicted"
    assert await staff.minor_sent_by_gateway(case) - await staff.minor_sent_in_ledger(case) == AMOUNT
    [finding] = await staff.findings(case)
    assert finding.startswith("each paid transfer is posted once")

    reconciliation = await staff.reconcile(case)
    assert (reconciliation["kind"], reconciliation["postings"][0]["type"]) == ("recovery", "recovery")
    wallet = await staff.scenario.wallet(case.vendor)
    assert (wallet["availableMinor"], wallet["debtMinor"]) == (0, 25_000)
    assert [line["kind"] for line in (await staff.scenario.statement(case.vendor))[:2]] == ["recovery", "hold_released"]
    assert ((await staff.payout(case))["status"], (await staff.payout(case))["openException"]) == ("failed", None)
    assert (await staff.prepare(case)).status_code == 409
    await staff.assert_ledger_matches_gateway(case)

    # The bank returns it after all: the recovery is returned, debt first, once.
    await staff.settle_at_gateway(case.reference, "reverse")
    await staff.receive_webhook(case.reference, TransferReversed)
    assert (await staff.payout(case))["openException"]["cause"] == "reversed"
    reconciliation = await staff.reconcile(case)
    assert (reconciliation["kind"], reconciliation["postings"][0]["type"]) == ("recovery_returned", "recovery_returned")
    wallet = await staff.scenario.wallet(case.vendor)
    assert (wallet["availableMinor"], wallet["debtMinor"]) == (AMOUNT - 25_000, 0)
    lines = await staff.scenario.statement(case.vendor)
    assert [line["kind"] for line in lines[:2]] == ["debt_repaid", "recovery_returned"]
    assert ((await staff.payout(case))["status"], (await staff.payout(case))["openException"]) == ("failed", None)
    assert (await staff.prepare(case)).status_code == 409
    await staff.assert_ledger_matches_gateway(case)


async def test_a_success_after_a_returned_reversal_is_recovered_by_two_users(staff) -> None:
    case = await staff.reversed()
    await staff.reconcile(case)
    assert (await staff.scenario.wallet(case.vendor))["availableMinor"] == AMOUNT
    await staff.succeeds(case.reference)
    await staff.process_queued_transfers()
    payout = await staff.payout(case)
    assert (payout["status"], payout["transfer"]["status"]) == ("processed", "success")
    assert payout["openException"]["cause"] == "transfer_contradicted"

    reconciliation = await staff.reconcile(case)
    assert (reconciliation["kind"], reconciliation["postings"][0]["type"]) == ("recovery", "recovery")
    assert (await staff.scenario.wallet(case.vendor))["availableMinor"] == 0
    payout = await staff.payout(case)
    assert (payout["status"], payout["openException"]) == ("processed", None)
    assert (await staff.prepare(case)).status_code == 409
    await staff.assert_ledger_matches_gateway(case)


async def test_a_transfer_that_is_paid_and_returned_again_is_recovered_and_returned_again(staff: Staff) -> None:
    case = await staff.reversed()
    await staff.reconcile(case)
    transfer_id = (await staff.payout(case))["transfer"]["id"]
    for again in ("", ":2", ":3"):
        await staff.succeeds(case.reference)
        await staff.process_queued_transfers()
        assert (await staff.payout(case))["openException"]["cause"] == "transfer_contradicted"
        [posting] = (await staff.reconcile(case))["postings"]
        assert posting["postingKey"] == f"recovery:{transfer_id}{again}"
        assert (await staff.scenario.wallet(case.vendor))["availableMinor"] == 0
        assert (await staff.prepare(case)).status_code == 409
        await staff.assert_ledger_matches_gateway(case)

        await staff.settle_at_gateway(case.reference, "reverse")
        await staff.receive_webhook(case.reference, TransferReversed)
        await staff.process_queued_transfers()
        assert (await staff.payout(case))["openException"]["cause"] == "reversed"
        [posting] = (await staff.reconcile(case))["postings"]
        assert posting["postingKey"] == f"recovery_returned:{transfer_id}{again}"
        assert (await staff.scenario.wallet(case.vendor))["availableMinor"] == AMOUNT
        assert (await staff.prepare(case)).status_code == 409
        await staff.assert_ledger_matches_gateway(case)


async def test_a_success_after_an_unreturned_reversal_restores_the_transfer(staff) -> None:
    """Maker and checker reviewed the reversal and rejected its return; then the bank reports a success."""
    case = await staff.reversed()
    prepared = await staff.prepared(case)
    assert (await staff.payout(case))["transfer"]["status"] == "reversed"
    path = f"/api/reconciliations/{prepared['id']}/reject"
    rejected = await staff.post(path, staff.checker, "finance_checker", {"reason": "the bank looks into it"})
    assert rejected.status_code == 200
    await staff.succeeds(case.reference)
    await staff.process_queued_transfers()
    payout = await staff.payout(case)
    assert (payout["status"], payout["transfer"]["status"]) == ("processed", "success")
    assert payout["openException"]["cause"] == "reversed"
    assert (await staff.prepare(case)).status_code == 409
    await staff.assert_ledger_matches_gateway(case)


async def test_an_unavailable_gateway_stops_preparation_and_approval(staff) -> None:
    case = await staff.reversed()
    await staff.sandbox.faults(verify_call={"error_before": True})
    assert (await staff.prepare(case)).status_code == 503
    await staff.sandbox.faults(verify_call=None)
    prepared = await staff.prepared(case)
    await staff.sandbox.faults(verify_call={"error_before": True})
    assert (await staff.approve(prepared)).status_code == 503
    await staff.sandbox.faults(verify_call=None)
    assert await staff.returns(case) == []
    assert (await staff.approve(prepared)).status_code == 200


async def test_reconciliations_are_guarded_in_the_order_of_the_contract(staff) -> None:
    case = await staff.reversed()
    absent = "6f8c0ad7-31a5-4a79-9e36-4c41b7cd5f0e"
    prepare, approve = "/api/payouts/{}/reconciliations", "/api/reconciliations/{}/approve"
    reject = "/api/reconciliations/{}/reject"
    bad = {"nonsense": 1}
    knocks = [
        (prepare.format(case.payout_id), "finance_checker", True, bad, 403, "AUTH_FORBIDDEN"),
        (prepare.format(case.payout_id), "finance_maker", False, bad, 403, "AUTH_AAL2_REQUIRED"),
        (prepare.format(absent), "finance_maker", True, bad, 422, "VALIDATION_FAILED"),
        (prepare.format(absent), "finance_maker", True, {"reason": "x"}, 404, "RESOURCE_NOT_FOUND"),
        (approve.format(absent), "finance_maker", True, None, 403, "AUTH_FORBIDDEN"),
        (approve.format(absent), "finance_checker", False, None, 403, "AUTH_AAL2_REQUIRED"),
        (approve.format(absent), "finance_checker", True, bad, 422, "VALIDATION_FAILED"),
        (approve.format(absent), "finance_checker", True, None, 422, "VALIDATION_FAILED"),
        (approve.format(absent), "finance_checker", True, {}, 422, "VALIDATION_FAILED"),
        (approve.format(absent), "finance_checker", True, {"hash": "0" * 64}, 404, "RESOURCE_NOT_FOUND"),
        (reject.format(absent), "finance_checker", False, {"reason": "x"}, 403, "AUTH_AAL2_REQUIRED"),
        (reject.format(absent), "finance_checker", True, {"reason": "x"}, 404, "RESOURCE_NOT_FOUND"),
    ]
    for path, role, stepped_up, body, status, code in knocks:
        response = await staff.post(path, new_id(), role, body, stepped_up=stepped_up)
        assert error_of(response) == (status, code), (path, role, body)
    for role, status in (("finance_maker", 200), ("auditor", 200), ("ops_oncall", 403), ("merchant", 403)):
        assert (await staff.get("/api/reconciliations", role)).status_code == status


async def test_row_security_shows_and_changes_only_what_a_permission_opens(staff) -> None:
    case = await staff.failed()
    prepared = await staff.prepared(case)

    async def seen(statement, *roles, vendor_id=None):
        caller = Caller(
            user_id=staff.operator, roles=frozenset(roles), permissions=permissions_of(roles), vendor_id=vendor_id
        )
        async with staff.scenario.unit_of_work(caller) as uow:
            return len(await uow.fetch(statement))

    every = "SELECT id FROM reconciliations"
    assert await seen(every, "auditor") > 0
    assert await seen(every, "finance_checker") > 0
    assert await seen(every, "merchant", vendor_id=case.vendor.id) == 0
    assert await seen(every, "ops_oncall") == 0
    assert await seen("SELECT id FROM payout_requests", "ops_oncall") > 0
    for statement in (
        f"UPDATE reconciliations SET status = 'rejected' WHERE id = '{prepared['id']}'",
        "SELECT position FROM payout_acts",
        "UPDATE payout_requests SET retry_count = 0",
    ):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await seen(statement, "finance_checker", "finance_maker", "ops_oncall", "auditor")


async def test_the_database_refuses_a_second_return(staff) -> None:
    case = await staff.failed()
    await staff.reconcile(case)
    line = (
        "INSERT INTO wallet_lines (id, vendor_id, kind, source_key, payout_id, net_minor, balance_minor, at) "
        "VALUES (gen_random_uuid(), $1, 'reversal', 'reversal:' || $2::text, $2::uuid, 1, 1, now())"
    )
    with pytest.raises(asyncpg.UniqueViolationError, match="returned_once"):
        await staff.scenario.fetch(line, case.vendor.id, case.payout_id)
    for statement in ("UPDATE payout_acts SET reason = 'other'", "DELETE FROM payout_acts"):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await staff.scenario.fetch(statement)


async def test_the_entries_of_a_reconciliation_are_shown_with_the_balances_before_it(staff) -> None:
    case = await staff.reversed()
    prepared = await staff.prepared(case)
    planned = data_of(await staff.get(f"/api/reconciliations/{prepared['id']}/postings"))
    shown = [{name: entry[name] for name in ("account", "amountMinor")} for entry in planned]
    assert shown == prepared["postings"][0]["entries"]
    before = {entry["account"]: entry["balanceMinor"] for entry in planned}
    assert before[f"wallet:{case.vendor.id}"] == 0
    await staff.approve(prepared)
    after = data_of(await staff.get(f"/api/reconciliations/{prepared['id']}/postings"))
    assert {entry["account"]: entry["balanceMinor"] - entry["amountMinor"] for entry in after} == before
    assert (await staff.get(f"/api/reconciliations/{new_id()}/postings")).status_code == 404
    assert (await staff.get(f"/api/reconciliations/{prepared['id']}/postings", "buyer")).status_code == 403
