"""The part of `GET /api/work` that payments counts (contract section 13.6)."""

from typing import Any
from uuid import UUID, uuid4

from testkit.work import own_actions_of, work_of

from .conftest import PaymentsApp
from .steps import CONTEST, FAR, MISMATCH, RETRY, SandboxApp, dead_webhook, disputed_charge, replay_dead_webhook


async def _work(app: PaymentsApp, *roles: str, user: UUID | None = None) -> dict[str, dict[str, Any]]:
    return await work_of(app.client, app.headers(user or uuid4(), roles=roles))


async def _kinds(app: PaymentsApp, *roles: str, user: UUID | None = None) -> dict[str, int]:
    return {kind: item["count"] for kind, item in (await _work(app, *roles, user=user)).items()}


async def test_a_quarantined_charge_waits_for_a_maker_and_then_for_another_checker(app: PaymentsApp) -> None:
    _, charge_id = await app.quarantined(500_300, **MISMATCH)
    await app.quarantined(500_300, **MISMATCH)
    assert await _kinds(app, "finance_maker") == {"quarantined_charges_to_prepare": 2}
    assert await _kinds(app, "finance_checker") == {}
    maker = uuid4()
    body = {"outcome": "accept", "reason": "the payer called"}
    await app.post_as(f"/api/quarantined-charges/{charge_id}/prepare", body, "finance_maker", maker)
    assert await _kinds(app, "finance_maker") == {"quarantined_charges_to_prepare": 1}
    assert await _kinds(app, "finance_checker") == {"quarantined_charges_to_approve": 1}
    # Under any role: the maker never approves.
    assert await _kinds(app, "finance_maker", "finance_checker", user=maker) == {"quarantined_charges_to_prepare": 1}
    await app.approve(f"/api/quarantined-charges/{charge_id}")
    assert await _kinds(app, "finance_checker") == {}


async def test_a_failed_refund_waits_for_a_maker_and_then_for_another_checker(app: PaymentsApp) -> None:
    refund_id, maker = await app.failed_refund(), uuid4()
    assert await _kinds(app, "finance_maker") == {"refunds_to_prepare": 1}
    await app.post_as(f"/api/refunds/{refund_id}/prepare", RETRY, "finance_maker", maker)
    assert await _kinds(app, "finance_maker") == {}
    assert await _kinds(app, "finance_checker") == {"refunds_to_approve": 1}
    assert await _kinds(app, "finance_checker", user=maker) == {}
    await app.post_as(f"/api/refunds/{refund_id}/reject", {"reason": "not yet"}, "finance_checker")
    assert await _kinds(app, "finance_maker") == {"refunds_to_prepare": 1}
    assert await _kinds(app, "finance_checker") == {}


async def test_an_open_chargeback_waits_for_one_response_until_its_date(sandbox_app: SandboxApp) -> None:
    app, sandbox = sandbox_app
    _, chargeback, _ = await disputed_charge(app, sandbox)
    work = await _work(app, "finance_checker")
    assert (work["chargebacks_to_answer"]["count"], work["chargebacks_to_answer"]["respondBy"]) == (1, FAR)
    responded = await app.post_as(f"/api/chargebacks/{chargeback['id']}/resolve", CONTEST, "finance_maker")
    assert responded.status_code == 200, responded.text
    assert await _kinds(app, "finance_maker") == {}


async def test_a_reconciliation_case_waits_for_who_may_close_it(app: PaymentsApp) -> None:
    now = app.clock.now()
    await app.fetch(
        """
        INSERT INTO reconciliation_cases (
            id, kind, subject, reference, ours_minor, theirs_minor, unexplained_minor, currency, detail, status,
            opened_at, seen_at
        ) VALUES ($1, 'charge_differs', 'ch-1', 'ch-1', 1, 2, 1, 'NGN', 'one kobo', 'open', $2, $2)
        """,
        uuid4(),
        now,
    )
    for role in ("finance_maker", "ops_oncall"):
        assert await _kinds(app, role) == {"reconciliation_cases": 1}
    for role in ("finance_checker", "auditor", "support_agent"):
        assert await _kinds(app, role) == {}


async def test_a_dead_webhook_waits_for_its_replay(app: PaymentsApp) -> None:
    dead_letter_id = await dead_webhook(app)
    assert await _kinds(app, "ops_oncall") == {"dead_webhooks": 1}
    assert await _kinds(app, "auditor") == {}
    await replay_dead_webhook(app, dead_letter_id)
    assert await _kinds(app, "ops_oncall") == {}


async def test_finance_reads_the_decisions_that_they_made(app: PaymentsApp) -> None:
    maker, checker = uuid4(), uuid4()
    _, charge_id = await app.quarantined(500_300, **MISMATCH)
    body = {"outcome": "accept", "reason": "the payer called"}
    await app.post_as(f"/api/quarantined-charges/{charge_id}/prepare", body, "finance_maker", maker)
    refund_id = await app.failed_refund()
    await app.post_as(f"/api/refunds/{refund_id}/prepare", RETRY, "finance_maker", maker)
    await app.post_as(f"/api/refunds/{refund_id}/reject", {"reason": "not yet"}, "finance_checker", checker)

    async def actions(user: UUID, role: str) -> set[tuple[str, str]]:
        return set(await own_actions_of(app.client, app.headers(user, roles=(role,))))

    prepared = {("quarantine_prepared", str(charge_id)), ("refund_prepared", str(refund_id))}
    assert await actions(maker, "finance_maker") == prepared
    assert await actions(checker, "finance_checker") == {("refund_rejected", str(refund_id))}
    assert await actions(uuid4(), "finance_checker") == set()
