"""A recorded key that arrives with other content: kept, counted, alerted, never processed; the gateway is queried (section 9.2)."""

import asyncio
import json
from datetime import timedelta
from typing import Any

import pytest

from payments.domain.revisions import REVISIONS_STORED_MAX
from payments.metrics import WEBHOOKS_ACCEPTED
from payments.timers import query_revised_webhooks_once

ALERT = "operations.alert_raised.v1"


def _accepted(arrival: str) -> float:
    return float(WEBHOOKS_ACCEPTED.labels(arrival)._value.get())


async def _query(story: Any) -> int:
    answers = await query_revised_webhooks_once(story.service.dependencies)
    await story.service.work("payments.webhooks")
    return int(answers)


async def _revised(story: Any) -> list[tuple[int, int, bool]]:
    """Revisions counted, revisions kept, whether a query is due."""
    rows = await story.service.fetch("SELECT * FROM revised_webhooks ORDER BY webhook_id")
    return [(row["revisions"], row["kept"], row["due_at"] is not None) for row in rows]


async def _paid_at_the_gateway(story: Any, amount_minor: int = 500_000) -> tuple[Any, dict[str, Any]]:
    """An order whose charge the gateway holds and has sent, and the body that it sent."""
    placed = await story.place_order()
    intent = await story.open_intent(placed.order_id)
    body = story.charge(intent["reference"], amount_minor)
    story.gateway.initialized[intent["reference"]] = body["data"]
    await story.tell(body)
    return placed, body


async def test_the_same_content_in_other_bytes_is_a_duplicate(story: Any) -> None:
    _, body = await _paid_at_the_gateway(story)
    before = await story.everything()
    turned = {"data": dict(reversed(body["data"].items())), "event": body["event"]}
    for raw in (json.dumps(turned, indent=2), json.dumps(turned, separators=(",", ":")), json.dumps(body) + "\n"):
        assert (await story.send(raw.encode())).status_code == 200
    assert await story.everything() == before


async def test_other_content_is_kept_counted_and_alerted_and_not_processed(story: Any) -> None:
    _, body = await _paid_at_the_gateway(story)
    book, counted = await story.balances(), _accepted("revised")
    revision = {"event": body["event"], "data": {**body["data"], "amount": 900_000, "channel": "ussd"}}
    raw = json.dumps(revision).encode()
    for _ in range(3):
        answer = await story.send(raw)
        assert (answer.status_code, answer.json()["data"]) == (200, {"received": True})
    assert await story.service.work("payments.webhooks") == 0
    assert await story.balances() == book
    assert _accepted("revised") - counted == 1, "the same revision again is a duplicate"
    [kept] = await story.service.fetch("SELECT * FROM webhook_revisions")
    assert (kept["webhook_id"], bytes(kept["raw"])) == (f"charge.success:{body['data']['id']}", raw)
    [first] = await story.service.fetch("SELECT raw FROM processed_webhook_events")
    assert json.loads(bytes(first["raw"])) == body
    [alert] = await story.service.published(ALERT)
    assert (alert["severity"], alert["runbook"]) == ("SEV-3", "revised-webhook")
    assert "data.amount, data.channel" in alert["detail"]
    assert "900000" not in alert["detail"]


async def test_the_gateways_answer_is_recorded_and_processed_in_the_place_of_the_revision(story: Any) -> None:
    """The first body said less than the gateway holds: what the answer says pays nothing twice."""
    placed, body = await _paid_at_the_gateway(story)
    await story.send({"event": body["event"], "data": {**body["data"], "amount": 900_000}})
    assert await _query(story) == 1
    assert await _revised(story) == [(1, 1, False)]
    assert await story.balances() == {"gateway_cash": 500_000, f"escrow:{placed.order_id}": -500_000}
    [answer] = await story.service.fetch("SELECT * FROM processed_webhook_events WHERE id LIKE 'answer:%'")
    assert (answer["event_type"], answer["outcome"]) == ("charge.success", "ignored")
    assert answer["payload"] == {"event": "charge.success", "data": body["data"]}
    assert await _query(story) == 0, "an answered key is not queried again"


async def test_an_answer_settles_what_the_first_body_could_not(story: Any) -> None:
    """The first body is unreadable and dead; the revision is not believed, and the gateway's answer pays the order."""
    placed = await story.place_order()
    intent = await story.open_intent(placed.order_id)
    good = story.charge(intent["reference"], 500_000)
    story.gateway.initialized[intent["reference"]] = good["data"]
    await story.send({"event": "charge.success", "data": {**good["data"], "amount": "500000"}})
    await story.service.fetch("UPDATE processed_webhook_events SET outcome = 'dead' RETURNING 1")
    await story.send(good)
    assert await story.order_status(placed.order_id) == "Processing"
    assert await _query(story) == 1
    assert await story.order_status(placed.order_id) == "paid_escrow"


async def test_a_revision_that_names_another_reference_has_both_queried(story: Any) -> None:
    _, body = await _paid_at_the_gateway(story)
    other = await story.open_intent((await story.place_order()).order_id)
    data = {**body["data"], "reference": other["reference"]}
    await story.send({"event": body["event"], "data": data})
    story.gateway.calls.clear()
    await _query(story)
    asked = [call for call in story.gateway.calls if "verify" in call]
    assert asked == [
        f"GET /transaction/verify/{body['data']['reference']}",
        f"GET /transaction/verify/{other['reference']}",
    ]


async def test_a_transfer_that_arrives_again_after_it_came_back_follows_the_gateways_answer(story: Any) -> None:
    data = {"id": 81, "reference": "po-81", "amount": 500, "currency": "NGN", "transfer_code": "TRF_81"}
    arrived = {"event": "transfer.success", "data": {**data, "updatedAt": "2026-11-21T10:00:00.000Z"}}
    for _ in range(2):
        await story.tell(arrived)
    await story.tell({"event": "transfer.reversed", "data": data})
    again = {**data, "updatedAt": "2026-11-23T10:00:00.000Z"}
    story.gateway.transfers["po-81"] = {**again, "status": "success"}
    for _ in range(2):
        await story.tell({"event": "transfer.success", "data": again})
    await story.tell(arrived)
    assert len(await story.service.published("payments.transfer_succeeded.v1")) == 1
    assert await _query(story) == 1
    assert len(await story.service.published("payments.transfer_succeeded.v1")) == 2
    assert len(await story.service.published("payments.transfer_reversed.v1")) == 1


async def test_a_refunds_revision_is_answered_by_the_refund_itself(story: Any) -> None:
    refund_id = await story.failed_refund()
    refund = story.gateway.refunds[-1]
    data = {"id": refund["id"], "amount": 500_000, "currency": "NGN", "reason": "another reason"}
    await story.send({"event": "refund.failed", "data": data})
    refund["status"] = "processed"
    assert await _query(story) == 1
    [row] = await story.service.fetch("SELECT id, status FROM refunds")
    assert (str(row["id"]), row["status"]) == (refund_id, "settled")


async def test_an_event_that_the_gateway_cannot_be_queried_about_is_kept_and_alerted(story: Any) -> None:
    for number in range(2):
        await story.tell({"event": "subscription.create", "data": {"id": 10, "plan": number}})
    assert await _revised(story) == [(1, 1, False)]
    assert len(await story.service.published(ALERT)) == 1
    assert await story.outcomes() == ["ignored"]


async def test_a_flood_of_revisions_is_bounded_in_bytes_alerts_and_queries(story: Any) -> None:
    _, body = await _paid_at_the_gateway(story)
    story.gateway.calls.clear()

    async def flood(begin: int) -> None:
        bodies = [
            {"event": body["event"], "data": {**body["data"], "note": number}} for number in range(begin, begin + 30)
        ]
        answers = await asyncio.gather(*(story.send(one) for one in bodies))
        assert {answer.status_code for answer in answers} == {200}

    await flood(0)
    await _query(story)
    await flood(30)
    assert await _query(story) == 0, "a key is queried once in thirty seconds"
    assert await _revised(story) == [(60, REVISIONS_STORED_MAX, True)]
    assert len(await story.service.fetch("SELECT FROM webhook_revisions")) == REVISIONS_STORED_MAX
    alerts = await story.service.published(ALERT)
    assert len(alerts) == REVISIONS_STORED_MAX
    assert len({alert["dedupKey"] for alert in alerts}) == 1
    assert len(story.gateway.calls) == 1
    story.clock.advance(timedelta(seconds=31))
    await _query(story)
    assert len(story.gateway.calls) == 2
    assert await _revised(story) == [(60, REVISIONS_STORED_MAX, False)]
    await story.check_books()


async def test_a_gateway_that_does_not_answer_is_queried_again_seldomer(story: Any) -> None:
    _, body = await _paid_at_the_gateway(story)
    await story.send({"event": body["event"], "data": {**body["data"], "note": 1}})
    story.gateway.fail_before = [503, 503]
    waits = []
    for _ in range(2):
        assert await _query(story) == 0
        [row] = await story.service.fetch("SELECT due_at FROM revised_webhooks")
        waits.append(row["due_at"] - story.clock.now())
        story.clock.advance(waits[-1])
    assert waits == [timedelta(minutes=1), timedelta(minutes=2)]
    assert await _query(story) == 1
    assert await _revised(story) == [(1, 1, False)]


async def test_a_key_that_is_revised_while_the_gateway_answers_is_queried_once_more(
    story: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, body = await _paid_at_the_gateway(story)
    await story.send({"event": body["event"], "data": {**body["data"], "note": 1}})
    find, late = type(story.service.dependencies.gateway).find_transaction, {**body["data"], "note": 2}

    async def slow(gateway: Any, reference: str) -> Any:
        answer = await find(gateway, reference)
        assert (await story.send({"event": body["event"], "data": late})).status_code == 200
        return answer

    with monkeypatch.context() as patched:
        patched.setattr(type(story.service.dependencies.gateway), "find_transaction", slow)
        await _query(story)
    assert await _revised(story) == [(2, 2, True)]
    story.clock.advance(timedelta(seconds=31))
    await _query(story)
    assert await _revised(story) == [(2, 2, False)]


@pytest.mark.parametrize("deaths", [1, 2])
async def test_a_death_between_the_steps_loses_no_revision_and_no_answer(
    story: Any, owner_of: Any, deaths: int
) -> None:
    placed = await story.place_order()
    intent = await story.open_intent(placed.order_id)
    good = story.charge(intent["reference"], 500_000)
    story.gateway.initialized[intent["reference"]] = good["data"]
    await story.tell({"event": "charge.success", "data": {**good["data"], "status": "reversed"}})
    async with owner_of(story) as owner:
        await owner.execute(
            "CREATE FUNCTION crash() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'crash'; END $$"
        )
        crash = "CREATE TRIGGER crash BEFORE {} ON {} FOR EACH ROW EXECUTE FUNCTION crash()"
        await owner.execute(crash.format("INSERT", "outbox"))
        for _ in range(deaths):
            # Neither row nor alert is left behind: the gateway sends the revision again.
            assert (await story.send(good)).status_code == 500
            assert await _revised(story) == []
        await owner.execute("DROP TRIGGER crash ON outbox")
        assert (await story.send(good)).status_code == 200
        for table, moment in (("outbox", "INSERT"), ("revised_webhooks", "UPDATE OF answered_at")):
            await owner.execute(crash.format(moment, table))
            for _ in range(deaths):
                # The answer was not recorded, and then was recorded but not marked: the query stays due.
                with pytest.raises(Exception, match="crash"):
                    await query_revised_webhooks_once(story.service.dependencies)
                assert [due for _, _, due in await _revised(story)] == [True]
                story.clock.advance(timedelta(hours=1))
            await owner.execute(f"DROP TRIGGER crash ON {table}")
    await _query(story)
    await story.service.work("payments.webhooks")
    assert await _revised(story) == [(1, 1, False)]
    assert await story.order_status(placed.order_id) == "paid_escrow"
    assert await story.balances() == {"gateway_cash": 500_000, f"escrow:{placed.order_id}": -500_000}
    assert len(await story.service.published("payments.escrow_held.v1")) == 1


async def test_the_first_of_many_contents_at_once_is_processed_and_the_others_are_revisions(story: Any) -> None:
    placed = await story.place_order()
    intent = await story.open_intent(placed.order_id)
    body = story.charge(intent["reference"], 500_000)
    bodies = [{"event": body["event"], "data": {**body["data"], "note": number % 4}} for number in range(20)]
    answers = await asyncio.gather(*(story.send(one) for one in bodies))
    assert {answer.status_code for answer in answers} == {200}
    assert await _revised(story) == [(3, 3, True)]
    assert await story.service.work("payments.webhooks") == 1
    assert len(await story.service.published("payments.escrow_held.v1")) == 1
