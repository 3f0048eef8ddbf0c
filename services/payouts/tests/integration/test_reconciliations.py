"""Money that comes back to a wallet, prepared by one person and approved by another (contract sections 8, 14.4 and 14.6)."""

import hashlib
import json

import asyncpg
import pytest

from common.auth.caller import Caller
from common.primitives.ids import new_id
from contracts.payments import EscrowRefunded, TransferFailed, TransferReversed
from contracts.permissions import permissions_of

from .returns_desk import AMOUNT, Desk


@pytest.fixture
def desk(shared_story, shared_sandbox):
    return Desk(shared_story, shared_sandbox)


async def refund(desk, vendor, amount_minor):
    """A refund after release, from the vendor's earnings alone."""
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
    await desk.story.service.hear(event)


async def test_a_reversed_payout_is_returned_to_the_wallet_by_two_people_and_stays_processed(desk):
    case = await desk.reversed()
    answer = await desk.prepare(case)
    assert answer.status_code == 201, answer.text
    prepared = answer.json()["data"]
    account = f"wallet:{case.vendor.id}"
    assert (prepared["kind"], prepared["status"], prepared["payoutId"]) == ("reversal", "prepared", case.payout_id)
    assert (prepared["preparedBy"], prepared["decidedBy"]) == (str(desk.maker), None)
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
    assert (await desk.story.wallet(case.vendor))["availableMinor"] == 0

    approved = await desk.approve(prepared)
    assert approved.status_code == 200, approved.text
    assert (approved.json()["data"]["status"], approved.json()["data"]["decidedBy"]) == ("approved", str(desk.checker))
    assert approved.json()["data"]["hash"] == prepared["hash"]
    payout = await desk.payout(case)
    assert (payout["status"], payout["transfer"]["status"], payout["openException"]) == ("processed", "reversed", None)
    assert (await desk.story.wallet(case.vendor))["availableMinor"] == AMOUNT
    newest = (await desk.story.statement(case.vendor))[0]
    assert (newest["kind"], newest["netMinor"], newest["payoutId"]) == ("reversal", AMOUNT, case.payout_id)
    said = await desk.story.service.published("payouts.payout_reversed.v1")
    assert [event["reconciliationId"] for event in said if event["payoutId"] == case.payout_id] == [prepared["id"]]
    acts = await desk.story.service.fetch(
        "SELECT act, acted_by FROM payout_acts WHERE payout_id = $1 ORDER BY position", case.payout_id
    )
    assert [tuple(act) for act in acts] == [("prepared", desk.maker), ("approved", desk.checker)]
    await desk.assert_books_agree_with_the_gateway(case)

    assert (await desk.approve(prepared)).json()["data"]["status"] == "approved"
    assert (await desk.prepare(case)).status_code == 409
    assert await desk.returns(case) == ["reversal"]


async def test_a_payout_that_failed_for_good_is_restituted_and_repays_debt_first(desk):
    case = await desk.failed()
    await refund(desk, case.vendor, 15_000)
    prepared = await desk.prepared(case)
    assert {entry["account"]: entry["amountMinor"] for entry in prepared["postings"][0]["entries"]} == {
        f"in_transit:{case.payout_id}": AMOUNT,
        f"vendor_debt:{case.vendor.id}": -15_000,
        f"wallet:{case.vendor.id}": -25_000,
    }
    assert (await desk.approve(prepared)).status_code == 200
    payout, wallet = await desk.payout(case), await desk.story.wallet(case.vendor)
    assert (payout["status"], payout["openException"]) == ("failed", None)
    assert (wallet["availableMinor"], wallet["debtMinor"], wallet["inTransitMinor"]) == (25_000, 0, 0)
    assert [line["kind"] for line in (await desk.story.statement(case.vendor))[:2]] == ["debt_repaid", "restitution"]
    failed = [event["payoutId"] for event in await desk.story.service.published("payouts.payout_failed.v1")]
    assert failed.count(case.payout_id) == 1
    assert (await desk.reset(case)).status_code == 409
    await desk.assert_books_agree_with_the_gateway(case)


async def test_the_maker_decides_nothing_under_another_role_or_session(desk):
    case = await desk.reversed()
    prepared = await desk.prepared(case)
    path = f"/api/reconciliations/{prepared['id']}"
    for roles in (("finance_checker",), ("finance_maker", "finance_checker")):
        for act, body in (("approve", {"hash": prepared["hash"]}), ("reject", {"reason": "mine"})):
            answer = await desk.post(f"{path}/{act}", desk.maker, roles, body)
            assert (answer.status_code, answer.json()["code"]) == (403, "AUTH_FORBIDDEN")
    assert (await desk.get(path)).json()["data"]["status"] == "prepared"
    assert await desk.returns(case) == []
    with pytest.raises(asyncpg.CheckViolationError, match="decided_by_another"):
        await desk.story.service.fetch(
            "UPDATE reconciliations SET status = 'approved', decided_by = prepared_by, decided_at = now() WHERE id = $1",
            prepared["id"],
        )


async def test_an_approval_names_the_hash_that_was_prepared(desk):
    case = await desk.reversed()
    prepared = await desk.prepared(case)
    path = f"/api/reconciliations/{prepared['id']}/approve"
    for body, status, code in (
        (None, 422, "VALIDATION_FAILED"),
        ({}, 422, "VALIDATION_FAILED"),
        ({"hash": "0" * 64}, 409, "CONCURRENCY_CONFLICT"),
    ):
        answer = await desk.post(path, desk.checker, "finance_checker", body)
        assert (answer.status_code, answer.json()["code"]) == (status, code), body
    assert await desk.returns(case) == []
    assert (await desk.get(f"/api/reconciliations/{prepared['id']}")).json()["data"]["status"] == "prepared"
    assert (await desk.approve(prepared)).status_code == 200


async def test_a_rejected_reconciliation_posts_nothing_and_is_prepared_anew(desk):
    case = await desk.failed()
    first = await desk.prepared(case)
    again = await desk.prepare(case)
    assert (again.status_code, "prepared already" in again.json()["detail"]) == (409, True)
    path = f"/api/reconciliations/{first['id']}/reject"
    assert (await desk.post(path, desk.checker, "finance_checker", {"reason": " "})).status_code == 422
    for _ in range(2):
        rejected = await desk.post(path, desk.checker, "finance_checker", {"reason": "wrong payout"})
        assert (rejected.status_code, rejected.json()["data"]["rejectionReason"]) == (200, "wrong payout")
    assert (await desk.approve(first)).status_code == 409
    assert await desk.returns(case) == []
    assert await desk.in_transit(case) == AMOUNT
    second = await desk.prepared(case)
    assert (second["hash"], second["id"] != first["id"]) == (first["hash"], True)
    listed = (await desk.get(f"/api/reconciliations?payoutId={case.payout_id}&order=asc")).json()
    assert [row["status"] for row in listed["data"]] == ["rejected", "prepared"]
    assert listed["meta"]["total"] == 2
    one = (await desk.get(f"/api/reconciliations?payoutId={case.payout_id}&status=prepared&limit=1")).json()
    assert [row["id"] for row in one["data"]] == [second["id"]]
    assert (await desk.get("/api/reconciliations?status=lost")).status_code == 422


async def test_the_audit_names_a_reversal_that_nobody_approved_and_a_payout_that_came_back_twice(desk):
    case = await desk.reversed()
    await desk.prepared(case)
    [said] = await desk.findings(case)
    assert said.startswith("each transfer that the gateway paid stands in the book once")
    for key, kind, accounts in (
        ("reversal", "reversal", ["gateway_cash", f"wallet:{case.vendor.id}"]),
        ("restitution", "restitution", ["gateway_cash", f"wallet:{case.vendor.id}"]),
    ):
        await desk.story.service.fetch(
            "SELECT ledger_post(gen_random_uuid(), $1, $2, 'NGN', '\\x00', $3, '{debit,credit}', '{f,t}', $4)",
            kind,
            f"{key}:{case.payout_id}",
            accounts,
            [1, -1],
        )
    findings = await desk.findings(case)
    assert any(said.startswith("every reversal and recovery was approved") for said in findings)
    assert any(said.startswith("a failed payout was restituted and no other was") for said in findings)


async def test_nothing_is_prepared_for_a_payout_whose_books_agree_with_the_gateway(desk):
    way = await desk.dispatched()
    only_heard = await desk.dispatched()
    await desk.heard(only_heard.reference, TransferFailed)
    arrived = await desk.dispatched()
    await desk.succeeds(arrived.reference)
    waiting = await desk.failed()
    assert (await desk.reset(waiting)).status_code == 200
    for case in (way, only_heard, arrived, waiting):
        answer = await desk.prepare(case)
        assert (answer.status_code, answer.json()["code"]) == (409, "CONCURRENCY_CONFLICT")
        assert (await desk.get(f"/api/reconciliations?payoutId={case.payout_id}")).json()["data"] == []


async def test_what_changed_since_it_was_prepared_is_not_posted(desk):
    case = await desk.failed()
    prepared = await desk.prepared(case)
    await refund(desk, case.vendor, 1_000)
    answer = await desk.approve(prepared)
    assert (answer.status_code, "no longer" in answer.json()["detail"]) == (409, True)
    assert await desk.returns(case) == []
    # A repetition of the failure changes nothing of what was prepared.
    other = await desk.failed()
    prepared = await desk.prepared(other)
    await desk.heard(other.reference, TransferFailed)
    assert (await desk.approve(prepared)).status_code == 200


async def test_a_reset_between_the_two_people_leaves_nothing_to_approve(desk):
    case = await desk.failed()
    prepared = await desk.prepared(case)
    assert (await desk.reset(case)).status_code == 200
    assert (await desk.approve(prepared)).status_code == 409
    assert await desk.returns(case) == []


async def test_a_success_between_the_two_people_completes_the_payout_instead(desk):
    case = await desk.failed()
    prepared = await desk.prepared(case)
    await desk.at_the_gateway(case.reference, "succeed")
    answer = await desk.approve(prepared)
    assert (answer.status_code, "no longer" in answer.json()["detail"]) == (409, True)
    assert ((await desk.payout(case))["status"], await desk.returns(case)) == ("processed", [])
    await desk.assert_books_agree_with_the_gateway(case)


async def test_a_success_after_a_restitution_is_an_exception_until_two_people_take_it_back(desk):
    case = await desk.failed()
    await desk.reconcile(case)
    await desk.story.release(case.vendor, 5_000)
    assert (await desk.story.ask(case.vendor, 30_000)).status_code == 201
    await desk.succeeds(case.reference)
    await desk.questions()
    payout = await desk.payout(case)
    assert (payout["status"], payout["transfer"]["status"]) == ("failed", "success")
    assert payout["openException"]["cause"] == "unclassified"
    assert await desk.left_the_gateway(case) - await desk.left_our_cash(case) == AMOUNT
    [said] = await desk.findings(case)
    assert said.startswith("each transfer that the gateway paid stands in the book once")

    reconciliation = await desk.reconcile(case)
    assert (reconciliation["kind"], reconciliation["postings"][0]["type"]) == ("recovery", "recovery")
    wallet = await desk.story.wallet(case.vendor)
    assert (wallet["availableMinor"], wallet["debtMinor"]) == (0, 25_000)
    assert [line["kind"] for line in (await desk.story.statement(case.vendor))[:2]] == ["recovery", "debt_taken"]
    assert ((await desk.payout(case))["status"], (await desk.payout(case))["openException"]) == ("failed", None)
    assert (await desk.prepare(case)).status_code == 409
    await desk.assert_books_agree_with_the_gateway(case)

    # The bank sends it back after all: what was taken for it is given back, the debt of it first, once.
    await desk.at_the_gateway(case.reference, "reverse")
    await desk.heard(case.reference, TransferReversed)
    assert (await desk.payout(case))["openException"]["cause"] == "reversed"
    reconciliation = await desk.reconcile(case)
    assert (reconciliation["kind"], reconciliation["postings"][0]["type"]) == ("recovery_returned", "recovery_returned")
    wallet = await desk.story.wallet(case.vendor)
    assert (wallet["availableMinor"], wallet["debtMinor"]) == (AMOUNT - 25_000, 0)
    lines = await desk.story.statement(case.vendor)
    assert [line["kind"] for line in lines[:2]] == ["debt_repaid", "recovery_returned"]
    assert ((await desk.payout(case))["status"], (await desk.payout(case))["openException"]) == ("failed", None)
    assert (await desk.prepare(case)).status_code == 409
    await desk.assert_books_agree_with_the_gateway(case)


async def test_a_success_after_a_reversal_that_was_returned_is_an_exception_until_two_people_take_it_back(desk):
    case = await desk.reversed()
    await desk.reconcile(case)
    assert (await desk.story.wallet(case.vendor))["availableMinor"] == AMOUNT
    await desk.succeeds(case.reference)
    await desk.questions()
    payout = await desk.payout(case)
    assert (payout["status"], payout["transfer"]["status"]) == ("processed", "success")
    assert payout["openException"]["cause"] == "unclassified"

    reconciliation = await desk.reconcile(case)
    assert (reconciliation["kind"], reconciliation["postings"][0]["type"]) == ("recovery", "recovery")
    assert (await desk.story.wallet(case.vendor))["availableMinor"] == 0
    payout = await desk.payout(case)
    assert (payout["status"], payout["openException"]) == ("processed", None)
    assert (await desk.prepare(case)).status_code == 409
    await desk.assert_books_agree_with_the_gateway(case)


async def test_a_success_after_a_confirmed_reversal_that_nobody_returned_stands_in_the_transfer_again(desk):
    """Two people looked at the reversal and rejected its return; then the bank says that the money left after all."""
    case = await desk.reversed()
    prepared = await desk.prepared(case)
    assert (await desk.payout(case))["transfer"]["status"] == "reversed"
    path = f"/api/reconciliations/{prepared['id']}/reject"
    rejected = await desk.post(path, desk.checker, "finance_checker", {"reason": "the bank looks into it"})
    assert rejected.status_code == 200
    await desk.succeeds(case.reference)
    await desk.questions()
    payout = await desk.payout(case)
    assert (payout["status"], payout["transfer"]["status"]) == ("processed", "success")
    assert payout["openException"]["cause"] == "reversed"
    assert (await desk.prepare(case)).status_code == 409
    await desk.assert_books_agree_with_the_gateway(case)


async def test_a_gateway_that_does_not_answer_stops_both_people_and_changes_nothing(desk):
    case = await desk.reversed()
    await desk.sandbox.faults(verify_call={"error_before": True})
    assert (await desk.prepare(case)).status_code == 503
    await desk.sandbox.faults(verify_call=None)
    prepared = await desk.prepared(case)
    await desk.sandbox.faults(verify_call={"error_before": True})
    assert (await desk.approve(prepared)).status_code == 503
    await desk.sandbox.faults(verify_call=None)
    assert await desk.returns(case) == []
    assert (await desk.approve(prepared)).status_code == 200


async def test_reconciliations_are_guarded_in_the_order_of_the_contract(desk):
    case = await desk.reversed()
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
        answer = await desk.post(path, new_id(), role, body, stepped_up=stepped_up)
        assert (answer.status_code, answer.json()["code"]) == (status, code), (path, role, body)
    for role, status in (("finance_maker", 200), ("auditor", 200), ("ops_oncall", 403), ("merchant", 403)):
        assert (await desk.get("/api/reconciliations", role)).status_code == status


async def test_row_security_shows_and_changes_only_what_a_permission_opens(desk):
    case = await desk.failed()
    prepared = await desk.prepared(case)

    async def seen(statement, *roles, vendor_id=None):
        caller = Caller(
            user_id=desk.operator, roles=frozenset(roles), permissions=permissions_of(roles), vendor_id=vendor_id
        )
        async with desk.story.service.runtime.database.unit_of_work(acting_as=caller) as uow:
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


async def test_the_database_refuses_a_second_return_and_a_changed_act(desk):
    case = await desk.failed()
    await desk.reconcile(case)
    line = (
        "INSERT INTO wallet_lines (id, vendor_id, kind, source_key, payout_id, net_minor, balance_minor, at) "
        "VALUES (gen_random_uuid(), $1, 'reversal', 'reversal:' || $2::text, $2::uuid, 1, 1, now())"
    )
    with pytest.raises(asyncpg.UniqueViolationError, match="returned_once"):
        await desk.story.service.fetch(line, case.vendor.id, case.payout_id)
    for statement in ("UPDATE payout_acts SET reason = 'other'", "DELETE FROM payout_acts"):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await desk.story.service.fetch(statement)
