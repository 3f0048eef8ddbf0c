"""A person who was erased is told nothing any more, and nothing here says how they were reached (events.md: user_erased)."""

import re

from common.auth.caller import THE_SERVICE
from common.primitives.ids import new_id
from contracts.identity import ErasureRefused, ProfileChanged, UserErased
from notifications.use_cases.deliveries.fail_delivery import fail_delivery

QUEUE = "notifications.deliveries"


async def test_an_erased_person_is_forgotten_and_no_older_news_brings_them_back(story, outside):
    await story.project_people()
    await story.project_order()
    await story.service.hear(story.held())
    await story.service.work(QUEUE)
    await story.service.hear(story.pin())
    erased = UserErased(user_id=story.buyer_id)
    heard = await story.service.hear(erased, sequence=9)
    await story.service.hear(erased, event_id=heard.event_id, sequence=9)
    await story.service.hear(ProfileChanged(user_id=story.buyer_id, email="chidi@unilag.edu.ng"), sequence=8)
    [contact] = await story.service.fetch("SELECT * FROM contacts WHERE user_id = $1", story.buyer_id)
    assert (contact["email"], contact["phone"], contact["full_name"]) == ("", None, None)
    rows = await story.service.fetch(
        "SELECT d.* FROM notification_deliveries d JOIN notifications n ON n.id = d.notification_id WHERE n.user_id = $1",
        story.buyer_id,
    )
    assert sorted(row["status"] for row in rows) == ["failed", "sent"]
    assert all(re.fullmatch(r"erased:[0-9a-f-]{36}", row["recipient"]) for row in rows)
    assert all(row["payload"] == {} and row["sealed"] == {} for row in rows)
    told = await story.service.fetch("SELECT title, body FROM notifications WHERE user_id = $1", story.buyer_id)
    assert {text for row in told for text in row.values()} <= {"", None}
    logs = await story.service.fetch(
        "SELECT recipient, error FROM notification_delivery_logs WHERE user_id = $1", story.buyer_id
    )
    assert {tuple(row.values()) for row in logs} == {("erased", None)}
    texts = len(outside.texts)
    await story.service.work(QUEUE)
    assert len(outside.texts) == texts


async def test_news_of_an_erased_persons_order_is_told_to_nobody_and_to_the_others_as_ever(story, outside):
    await story.project_people()
    await story.project_order()
    await story.service.hear(UserErased(user_id=story.buyer_id))
    await story.service.hear(story.held())
    await story.service.hear(story.pin())
    await story.service.work(QUEUE)
    assert sorted(mail["To"] for mail in outside.mails) == ["ada@unilag.edu.ng", "chidi@unilag.edu.ng"]
    assert [mail["Subject"] for mail in outside.mails if mail["To"].startswith("chidi")] == ["Your account is erased"]
    assert outside.texts == []
    assert await story.service.fetch("SELECT 1 FROM dead_letters") == []


async def traces(story, text):
    """The tables in which the text stands."""
    rows = await story.service.fetch(
        "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = 'public'::regnamespace"
    )
    names = {row["relname"] for row in rows} - {"alembic_version"}
    found = [
        await story.service.fetch(f'SELECT 1 FROM "{name}" t WHERE t::text ILIKE $1 LIMIT 1', f"%{text}%")
        for name in names
    ]
    return {name for name, lines in zip(names, found, strict=True) if lines}


async def sealed_addresses(story):
    return await story.service.fetch("SELECT status FROM notification_deliveries WHERE sealed ? 'address'")


async def test_the_last_mail_goes_to_the_address_that_leaves_and_then_nobody_knows_it(story, outside):
    await story.project_people()
    erased = UserErased(user_id=story.buyer_id)
    heard = await story.service.hear(erased, sequence=9)
    await story.service.hear(erased, event_id=heard.event_id, sequence=9)
    await story.service.hear(erased, sequence=10)
    assert [row["status"] for row in await sealed_addresses(story)] == ["queued"]
    assert await traces(story, "chidi") == set()
    await story.service.work(QUEUE)
    await story.service.work(QUEUE)
    [mail] = outside.mails
    assert (mail["To"], mail["Subject"]) == ("chidi@unilag.edu.ng", "Your account is erased")
    assert (await sealed_addresses(story), await traces(story, "chidi")) == ([], set())
    shown = await story.service.client.get("/api/notifications", headers=story.service.headers(story.buyer_id))
    assert shown.json()["data"] == []


async def test_a_last_mail_that_is_given_up_forgets_its_address_too(story):
    await story.project_people()
    await story.service.hear(UserErased(user_id=story.buyer_id), sequence=9)
    [row] = await story.service.fetch("SELECT id FROM notification_deliveries WHERE sealed ? 'address'")
    async with story.service.dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await fail_delivery(uow, row["id"], "the mail server is away")
    assert (await sealed_addresses(story), await traces(story, "chidi")) == ([], set())


async def test_who_cannot_be_erased_is_told_why_in_plain_words(story, outside):
    await story.project_people()
    matters = ("open_orders", "wallet_balance", "open_exceptions", "undecided_reconciliations", "a_word_of_tomorrow")
    refused = ErasureRefused(user_id=story.buyer_id, request_id=new_id(), open_matters=matters)
    heard = await story.service.hear(refused)
    await story.service.hear(refused, event_id=heard.event_id, sequence=heard.sequence)
    await story.service.hear(refused)
    await story.service.work(QUEUE)
    [mail] = outside.mails
    told = mail.get_body(("plain",)).get_content()
    words = "something that is still under way; a payout that we are checking; an order that is not finished; money in your wallet"
    assert (mail["To"], words.split("; ")) == (
        "chidi@unilag.edu.ng",
        told.split("under way: ", 1)[1].split(".")[0].split("; "),
    )
    shown = await story.service.client.get("/api/notifications", headers=story.service.headers(story.buyer_id))
    [line] = shown.json()["data"]
    assert (line["title"], "money in your wallet" in line["body"]) == ("Account not erased", True)


async def test_a_message_to_an_erased_person_is_refused_as_one_without_an_address(story):
    await story.project_people()
    await story.service.hear(UserErased(user_id=story.buyer_id))
    answer = await story.service.client.post(
        "/functions/v1/deliver-notification",
        json={
            "notificationId": str(story.order_id),
            "userId": str(story.buyer_id),
            "channel": "email",
            "template": "order_dispatched",
            "data": {"orderId": str(story.order_id), "businessName": "Ada's Kitchen"},
        },
        headers={"Authorization": f"Bearer {story.service.settings.service_role_key}"},
    )
    assert (answer.status_code, answer.json()["invalid_params"][0]["name"]) == (422, "channel")


async def test_a_person_reads_what_they_were_told_and_how_they_are_reached_and_nobody_elses(story):
    await story.project_people()
    await story.project_order()
    await story.service.hear(story.held())
    path = "/api/personal-records/notifications?limit=100"
    answer = await story.service.client.get(path, headers=story.service.headers(story.buyer_id))
    assert answer.status_code == 200, answer.text
    found = {line["section"]: line["record"] for line in answer.json()["data"]}
    assert set(found) == {"contact", "notifications"}
    assert found["contact"]["email"] == "chidi@unilag.edu.ng"
    assert "ada@" not in answer.text
