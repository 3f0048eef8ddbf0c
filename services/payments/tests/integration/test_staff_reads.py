"""Reads and replays by staff, and the row policies."""

import asyncio
from uuid import UUID, uuid4

import asyncpg
import msgspec
import pytest

from common.messaging.faults import PermanentFault
from contracts.identity import ReferralOutcome, UserProvisioned
from payments.domain.webhooks import Arrival
from payments.store.webhooks import record_webhook_if_new
from payments.use_cases.webhooks.dead_letter_webhook import dead_letter_webhook
from providers.gateways import GatewayName

from .conftest import PaymentsApp
from .steps import dead_webhook, get_as_roles, replay_dead_webhook


async def test_a_webhook_after_its_last_retry_is_an_alerted_dead_letter(
    app: PaymentsApp,
) -> None:
    dead_letter_id = await dead_webhook(app)
    [dead_letter] = (await get_as_roles(app, "/api/dead-letter-webhooks", "auditor")).json()["data"]
    assert (dead_letter["id"], dead_letter["service"], dead_letter["eventId"]) == (
        dead_letter_id,
        "payments",
        "charge.success:5",
    )
    assert (dead_letter["eventType"], dead_letter["attempts"], dead_letter["outcome"]) == ("charge.success", 1, "dead")
    [alert] = await app.published("operations.alert_raised.v1")
    assert alert["severity"] == "SEV-2"
    assert "charge.success" in alert["title"]
    assert await app.outcomes() == ["dead"]
    assert (await get_as_roles(app, "/api/dead-letter-webhooks", "buyer")).status_code == 403


@pytest.mark.parametrize(
    ("sent_by", "raw", "payload"),
    [
        ("paystack", b'{"event": "odd.event", "data": {"id": 9}}', {"event": "odd.event", "data": {"id": 9}}),
        ("flutterwave", b'{"event": "odd.event", "note": "\\u0000"}', '{"event": "odd.event", "note": "\\u0000"}'),
    ],
)
async def test_a_dead_webhook_has_its_provider_and_its_payload(
    app: PaymentsApp, sent_by: GatewayName, raw: bytes, payload: object
) -> None:
    await record_webhook_if_new(app.database, sent_by, Arrival("odd.event:9", "odd.event"), raw, is_json=True)
    async with app.unit_of_work() as uow:
        await dead_letter_webhook(uow, "odd.event:9", "a test", 6)
    [stored] = await app.fetch("SELECT provider, payload FROM dead_letter_webhooks")
    assert (stored["provider"], stored["payload"]) == (sent_by, payload)
    response = await get_as_roles(app, "/api/dead-letter-webhooks", "auditor")
    [shown] = response.json()["data"]
    assert (shown["provider"], shown["eventId"], "payload" in shown) == (sent_by, "odd.event:9", False)


async def test_a_replay_needs_step_up_and_puts_the_webhook_back_once(app: PaymentsApp) -> None:
    dead_letter_id = await dead_webhook(app)
    assert (await replay_dead_webhook(app, dead_letter_id, stepped_up=False)).json()["code"] == "AUTH_AAL2_REQUIRED"
    assert (await replay_dead_webhook(app, dead_letter_id, roles=("auditor",))).json()["code"] == "AUTH_FORBIDDEN"
    assert (await replay_dead_webhook(app, str(uuid4()))).status_code == 404
    await app.fetch("UPDATE outbox SET published_at = now() RETURNING 1")

    replayed = (await replay_dead_webhook(app, dead_letter_id)).json()["data"]
    assert replayed == {"id": dead_letter_id, "eventId": "charge.success:5", "outcome": "queued", "requeued": True}
    assert (await replay_dead_webhook(app, dead_letter_id)).json()["data"]["requeued"] is False
    with pytest.raises(PermanentFault):
        await app.work("payments.webhooks")
    assert await app.published("operations.alert_cleared.v1") == []


async def test_a_failed_replay_joins_the_alert_of_its_webhook(app: PaymentsApp) -> None:
    dead_letter_id = await dead_webhook(app)
    await replay_dead_webhook(app, dead_letter_id)
    async with app.unit_of_work() as uow:
        await dead_letter_webhook(uow, "charge.success:5", "a test", 6)
    raised = await app.published("operations.alert_raised.v1")
    assert len(raised) == 2
    assert len({alert["dedupKey"] for alert in raised}) == 1
    assert await app.published("operations.alert_cleared.v1") == []


async def test_a_successful_replay_clears_the_alert_of_its_webhook(app: PaymentsApp) -> None:
    dead_letter_id = await dead_webhook(app)
    mended = b'{"event": "transfer.unknown", "data": {"id": 5, "reference": "ch-5"}}'
    await app.fetch_as_owner(
        "UPDATE processed_webhook_events SET raw = $1, event_type = 'transfer.unknown' RETURNING 1", mended
    )
    await app.fetch("UPDATE outbox SET published_at = now() RETURNING 1")
    await replay_dead_webhook(app, dead_letter_id)
    assert await app.work("payments.webhooks") == 1
    [alert], [cleared] = [await app.published(f"operations.alert_{word}.v1") for word in ("raised", "cleared")]
    assert cleared["dedupKey"] == alert["dedupKey"]
    assert await app.outcomes() == ["ignored"]


async def test_a_replay_of_a_processed_event_does_nothing(app: PaymentsApp) -> None:
    dead_letter_id = await dead_webhook(app)
    await app.fetch("UPDATE processed_webhook_events SET outcome = 'done' RETURNING 1")
    await app.fetch("UPDATE outbox SET published_at = now() RETURNING 1")
    replayed = (await replay_dead_webhook(app, dead_letter_id)).json()["data"]
    assert (replayed["outcome"], replayed["requeued"]) == ("done", False)
    assert await app.work("payments.webhooks") == 0
    assert len(await app.published("operations.alert_cleared.v1")) == 1


async def test_concurrent_replays_requeue_a_webhook_once(app: PaymentsApp) -> None:
    dead_letter_id = await dead_webhook(app)
    await app.fetch("UPDATE outbox SET published_at = now() RETURNING 1")
    responses = await asyncio.gather(*(replay_dead_webhook(app, dead_letter_id) for _ in range(5)))
    assert sorted(response.json()["data"]["requeued"] for response in responses) == [False] * 4 + [True]
    [work] = await app.fetch("SELECT count(*) AS items FROM outbox WHERE published_at IS NULL AND queue IS NOT NULL")
    assert work["items"] == 1


async def test_dead_webhooks_are_found_by_event_type_outcome_and_event(app: PaymentsApp) -> None:
    dead_letter_id = await dead_webhook(app)
    path = "/api/dead-letter-webhooks"
    for query, total in (
        ("eventType=charge.success", 1),
        ("eventType=refund.failed", 0),
        ("outcome=dead", 1),
        ("outcome=done", 0),
        ("eventId=charge.success:5&outcome=dead", 1),
        ("eventId=charge.success:6", 0),
    ):
        assert (await get_as_roles(app, f"{path}?{query}", "ops_oncall")).json()["meta"]["total"] == total, query
    assert (await get_as_roles(app, f"{path}?outcome=lost", "ops_oncall")).status_code == 422
    await replay_dead_webhook(app, dead_letter_id)
    assert (await get_as_roles(app, f"{path}?outcome=queued", "ops_oncall")).json()["meta"]["total"] == 1


async def test_refunds_on_their_way_are_kept_and_change_nothing(app: PaymentsApp) -> None:
    for number, event in enumerate(
        ("refund.pending", "refund.processing", "charge.dispute.forget", "subscription.create")
    ):
        await app.process_webhook({"event": event, "data": {"id": number, "amount": 5, "currency": "NGN"}})
    assert await app.outcomes() == ["ignored"] * 4
    assert await app.balances() == {}


async def test_auditors_and_finance_read_the_ledger(app: PaymentsApp) -> None:
    placed = await app.paid_order()
    await app.process_webhook(app.charge("ch-x", 700), is_last_attempt=True)
    for role in ("auditor", "finance_maker", "finance_checker"):
        listed = (await get_as_roles(app, "/api/transactions?sort=amount&order=desc", role)).json()
        assert [entry["type"] for entry in listed["data"]] == ["charge", "quarantine"]
        assert listed["meta"]["total"] == 2
    assert listed["data"][0]["entries"] == [
        {"account": f"escrow:{placed.order_id}", "amountMinor": -500_000},
        {"account": "gateway_cash", "amountMinor": 500_000},
    ]
    assert listed["data"][0]["postingKey"].startswith("charge:ch-")
    accounts = (await get_as_roles(app, "/api/ledger/accounts?order=asc&limit=2", "auditor")).json()
    assert accounts["meta"] | {"total": 3, "total_pages": 2, "page": 1, "limit": 2} == accounts["meta"]
    in_naira = {"currency": "NGN", "orderNumber": None}
    assert accounts["data"] == [
        {"account": f"escrow:{placed.order_id}", **in_naira, "balanceMinor": -500_000, "side": "credit"},
        {"account": "gateway_cash", **in_naira, "balanceMinor": 500_700, "side": "debit"},
    ]
    [quarantined] = (await get_as_roles(app, "/api/quarantined-charges", "auditor")).json()["data"]
    assert (quarantined["reference"], quarantined["orderId"], quarantined["amountMinor"]) == ("ch-x", None, 700)
    assert (quarantined["reason"], quarantined["status"]) == ("unknown_reference", "quarantined")
    for path in ("/api/transactions", "/api/ledger/accounts", "/api/quarantined-charges"):
        assert (await get_as_roles(app, path, "buyer")).status_code == 403
        assert (await get_as_roles(app, f"{path}?sort=account", "auditor")).status_code == 422
        assert (await get_as_roles(app, f"{path}?limit=101", "auditor")).status_code == 422


async def test_a_referral_reward_is_credited_once_and_read_by_its_owner(app: PaymentsApp) -> None:
    event = UserProvisioned(
        user_id=app.buyer,
        email="new@unilag.edu.ng",
        role="buyer",
        referral=ReferralOutcome(applied=True, reward_minor=50_000, referrer_id=uuid4()),
        email_confirmed=True,
    )
    received = await app.receive(event)
    await app.receive(event, event_id=received.event_id)
    await app.receive(event)
    assert await app.balances() == {"referral_expense": 50_000, f"buyer_balance:{app.buyer}": -50_000}
    assert await app.published("payments.reward_credited.v1") == [
        {"userId": str(app.buyer), "amountMinor": 50_000, "reason": "referral"}
    ]
    own = (await get_as_roles(app, "/api/rewards/balance", "buyer", user=app.buyer)).json()["data"]
    foreign = (await get_as_roles(app, "/api/rewards/balance", "buyer")).json()["data"]
    assert (own, foreign) == ({"balanceMinor": 50_000}, {"balanceMinor": 0})


SETTINGS = "SELECT set_config('app.user_id', $1, true), set_config('app.permissions', $2, true)"
GUARDED = {
    "payment_intents": "ledger:read",
    "quarantined_charges": "ledger:read",
    "quarantine_decisions": "ledger:read",
    "refund_decisions": "ledger:read",
    "ledger_transactions": "ledger:read",
    "ledger_entries": "ledger:read",
    "ledger_balances": "ledger:read",
    "payable_orders": "escrow:release",
    "escrows": "escrow:release",
    "releases": "escrow:release",
    "dead_letter_webhooks": "dead_letters:read",
}


async def test_the_policies_hold_when_a_query_forgets_its_filter(app: PaymentsApp) -> None:
    await app.paid_order()
    await app.process_webhook(app.charge("ch-x", 700), is_last_attempt=True)
    await dead_webhook(app)
    own = ("payment_intents", "payable_orders", "payment_references", "payment_intent_keys")
    async with app.connected("api") as api:

        async def seen(table: str, user: UUID, permissions: str) -> int:
            async with api.transaction():
                await api.fetch(SETTINGS, str(user), permissions)
                return int(await api.fetchval(f"SELECT count(*) FROM {table}"))

        for table in {*GUARDED, *own}:
            assert await seen(table, uuid4(), "orders:place") == 0, table
        for table in own:
            assert await seen(table, app.buyer, "orders:place") == 1, table
        for table, permission in GUARDED.items():
            expected = 0 if table in ("releases", "refunds", "quarantine_decisions", "refund_decisions") else 1
            assert await seen(table, uuid4(), permission) >= expected, table
        for table in ("charges", "failed_refund_attempts", "inbox", "dead_letters"):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await seen(table, app.buyer, "ledger:read")
        for column in ("payload", "raw"):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await api.fetch(f"SELECT {column} FROM processed_webhook_events")
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await api.execute("UPDATE payable_orders SET status = 'paid_escrow'")


async def test_payloads_of_work_are_plain_references(app: PaymentsApp) -> None:
    """A work item contains no content of its webhook."""
    await app.send({"event": "charge.success", "data": {"id": 1, "authorization": {"last4": "4081"}}})
    [work] = await app.fetch("SELECT payload FROM outbox")
    assert msgspec.json.decode(bytes(work["payload"])) == {"webhookId": "charge.success:1"}
