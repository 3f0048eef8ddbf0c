import asyncio

import pytest

from contracts.payments import TransferFailed, TransferReversed, TransferSucceeded
from payouts.domain.errors import TransferUnheardOf

KEY = "6f8c0ad7-31a5-4a79-9e36-4c41b7cd5f0e"
AMOUNT = 40_000


def news(event, reference, **changes):
    values = {
        "reference": reference,
        "transfer_code": "TRF_1",
        "amount_minor": AMOUNT,
        "currency": "NGN",
        "status": "success",
        "gateway_event_id": "7",
        "occurred_at": "2026-01-01T00:00:00.000Z",
        "reason": "Account number is invalid" if event is TransferFailed else None,
        **changes,
    }
    return event(**values)


@pytest.fixture
async def sent(story):
    """A payout on its way: its id and the reference of its transfer."""
    vendor = await story.ready_vendor(100_000)
    payout_id = await story.payout(vendor, AMOUNT)
    [transfer] = (await story.dispatch(KEY)).json()["data"]["transfers"]
    assert transfer["status"] == "pending"
    return payout_id, transfer["reference"]


async def exceptions(story):
    headers = story.service.headers(story.staff, roles=("ops_oncall",))
    return (await story.service.client.get("/api/payout-exceptions", headers=headers)).json()["data"]


async def assert_paid_once(story, payout_id):
    payout = await story.read_payout(payout_id)
    assert (payout["status"], payout["transfer"]["status"]) == ("processed", "success")
    assert await story.balance(f"in_transit:{payout_id}") == 0
    assert await story.balance("gateway_cash") == -AMOUNT
    assert len(await story.service.published("payouts.payout_processed.v1")) == 1


async def assert_still_in_transit(story, payout_id):
    payout = await story.read_payout(payout_id)
    assert (payout["status"], payout["transfer"]["status"]) == ("pending", "pending")
    assert -await story.balance(f"in_transit:{payout_id}") == AMOUNT
    assert await story.balance("gateway_cash") == 0


async def test_a_success_completes_the_payout_once_however_often_it_is_said(story, sent):
    payout_id, reference = sent
    received = await story.service.hear(news(TransferSucceeded, reference))
    await story.service.hear(news(TransferSucceeded, reference), event_id=received.event_id)
    await asyncio.gather(*(story.service.hear(news(TransferSucceeded, reference), sequence=9) for _ in range(6)))
    await assert_paid_once(story, payout_id)
    assert await exceptions(story) == []
    assert (await story.read_payout(payout_id))["transferCode"] is not None


@pytest.mark.parametrize("event", [TransferFailed, TransferReversed])
async def test_bad_news_opens_one_exception_and_changes_no_payout_or_transfer_row(story, sent, event):
    payout_id, reference = sent
    rows = "SELECT p.*, t.* FROM payout_requests AS p JOIN payout_transfers AS t ON t.payout_id = p.id"
    before = await story.service.fetch(rows)
    await asyncio.gather(*(story.service.hear(news(event, reference), sequence=9) for _ in range(6)))
    assert await story.service.fetch(rows) == before
    await assert_still_in_transit(story, payout_id)
    [exception] = await exceptions(story)
    assert (exception["payoutId"], exception["severity"], exception["status"]) == (payout_id, "SEV-3", "open")
    assert exception["cause"] == ("reversed" if event is TransferReversed else "account_number_invalid")
    assert exception["respondBy"] == "2026-01-01T04:00:00.000Z"
    assert (await story.read_payout(payout_id))["openException"]["id"] == exception["id"]
    [alert] = await story.service.published("operations.alert_raised.v1")
    assert (alert["severity"], alert["subject"]) == ("SEV-3", payout_id)
    [delayed] = await story.service.published("payouts.payout_delayed.v1")
    assert (delayed["payoutId"], delayed["cause"]) == (payout_id, exception["cause"])
    [opened] = await story.service.published("payouts.exception_opened.v1")
    assert opened["exceptionId"] == exception["id"]


async def test_a_reversal_after_success_is_no_stale_event(story, sent):
    payout_id, reference = sent
    await story.service.hear(news(TransferSucceeded, reference))
    await story.service.hear(news(TransferReversed, reference))
    await assert_paid_once(story, payout_id)
    [exception] = await exceptions(story)
    assert exception["cause"] == "reversed"


async def test_a_success_after_a_reversal_completes_and_keeps_the_exception(story, sent):
    payout_id, reference = sent
    await story.service.hear(news(TransferReversed, reference))
    await story.service.hear(news(TransferSucceeded, reference))
    await story.service.hear(news(TransferReversed, reference))
    await assert_paid_once(story, payout_id)
    [exception] = await exceptions(story)
    assert (exception["cause"], exception["status"]) == ("reversed", "open")


async def test_a_failure_after_success_is_an_exception_and_a_query_and_takes_nothing_back(story, sent, sandbox):
    payout_id, reference = sent
    await sandbox.client.post(f"/control/transfers/{reference}/succeed", json={})
    await story.service.hear(news(TransferSucceeded, reference))
    await story.service.hear(news(TransferFailed, reference))
    [exception] = await exceptions(story)
    assert exception["cause"] == "unclassified"
    assert await story.service.work("payouts.transfers") == 1
    await assert_paid_once(story, payout_id)


async def test_a_success_after_a_failure_pays_only_when_the_gateway_asked_confirms_it(story, sent, sandbox):
    payout_id, reference = sent
    await story.service.hear(news(TransferFailed, reference))
    await story.service.hear(news(TransferSucceeded, reference))
    await assert_still_in_transit(story, payout_id)
    await sandbox.client.post(f"/control/transfers/{reference}/succeed", json={})
    await story.service.work("payouts.transfers")
    await assert_paid_once(story, payout_id)
    [exception] = await exceptions(story)
    assert exception["status"] == "closed"
    assert len(await story.service.published("payouts.exception_closed.v1")) == 1


@pytest.mark.parametrize("changes", [{"amount_minor": AMOUNT - 1}, {"currency": "GHS"}])
async def test_a_success_over_other_money_pays_nothing_and_is_looked_into(story, sent, changes):
    payout_id, reference = sent
    await story.service.hear(news(TransferSucceeded, reference, **changes))
    await assert_still_in_transit(story, payout_id)
    assert len(await exceptions(story)) == 1


async def test_news_of_a_transfer_nobody_wrote_down_climbs_the_ladder(story, sent):
    with pytest.raises(TransferUnheardOf):
        await story.service.hear(news(TransferSucceeded, "po-" + "0" * 32))
    assert await story.service.fetch("SELECT id FROM transfer_observations WHERE heard_from = 'webhook'") == []


async def test_what_the_gateway_said_is_kept_and_never_edited(story, sent):
    _, reference = sent
    for event in (TransferSucceeded, TransferSucceeded, TransferReversed, TransferFailed):
        await story.service.hear(news(event, reference))
    rows = await story.service.fetch("SELECT heard_from, status, verdict FROM transfer_observations ORDER BY position")
    assert [tuple(row) for row in rows] == [
        ("call", "pending", "advanced"),
        ("webhook", "success", "advanced"),
        ("webhook", "success", "repeated"),
        ("webhook", "reversed", "advanced"),
        ("webhook", "failed", "stale"),
    ]
    import asyncpg

    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await story.service.fetch("UPDATE transfer_observations SET status = 'success'")


async def test_a_large_payout_answers_within_the_hour(story):
    vendor = await story.ready_vendor(30_000_000)
    payout_id = await story.payout(vendor, 20_000_001)
    [transfer] = (await story.dispatch(KEY)).json()["data"]["transfers"]
    await story.service.hear(news(TransferFailed, transfer["reference"], amount_minor=20_000_001))
    [exception] = await exceptions(story)
    assert (exception["payoutId"], exception["severity"]) == (payout_id, "SEV-2")
    assert exception["respondBy"] == "2026-01-01T01:00:00.000Z"


async def test_exceptions_are_read_by_those_who_may(story, sent):
    _, reference = sent
    await story.service.hear(news(TransferFailed, reference))
    [exception] = await exceptions(story)
    path = f"/api/payout-exceptions/{exception['id']}"

    async def status(roles, path=path):
        headers = story.service.headers(story.staff, roles=roles)
        return (await story.service.client.get(path, headers=headers)).status_code

    for role in ("finance_maker", "finance_checker", "ops_oncall", "auditor"):
        assert await status((role,)) == 200
    assert await status(("buyer", "merchant")) == 403
    assert await status(("auditor",), f"/api/payout-exceptions/{reference}") == 404
    assert await status(("auditor",), "/api/payout-exceptions?sort=severity&order=desc&status=open") == 200
    assert await status(("auditor",), "/api/payout-exceptions?status=lost") == 422
