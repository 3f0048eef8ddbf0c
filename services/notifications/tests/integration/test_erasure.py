"""Erasure: no message to an erased user, and no trace of their addresses (events.md: user_erased)."""

import re

import httpx

from common.auth.caller import THE_SERVICE
from common.primitives.ids import new_id
from contracts.identity import ErasureRefused, ProfileChanged, UserErased
from notifications.deliveries.use_cases.deliveries.fail_delivery import fail_delivery
from testkit.service_kit import OpenService

from .conftest import Scenario
from .providers import Providers, text_of


async def test_an_older_event_does_not_restore_an_erased_user(scenario: Scenario, providers: Providers) -> None:
    await scenario.project_users()
    await scenario.project_order()
    await scenario.receive(scenario.held())
    await scenario.send_queued()
    await scenario.receive(scenario.pin())
    erased = UserErased(user_id=scenario.buyer_id)
    await scenario.receive_twice(erased, sequence=9)
    await scenario.receive(ProfileChanged(user_id=scenario.buyer_id, email="chidi@unilag.edu.ng"), sequence=8)
    [contact] = await scenario.fetch("SELECT * FROM contacts WHERE user_id = $1", scenario.buyer_id)
    assert (contact["email"], contact["phone"], contact["full_name"]) == ("", None, None)
    rows = await scenario.fetch(
        (
            "SELECT d.* FROM notification_deliveries d JOIN notifications n ON n.id = d.notification_id WHERE "
            "n.user_id = $1"
        ),
        scenario.buyer_id,
    )
    assert sorted(row["status"] for row in rows) == ["failed", "sent"]
    assert all(re.fullmatch(r"erased:[0-9a-f-]{36}", row["recipient"]) for row in rows)
    assert all(row["payload"] == {} and row["sealed"] == {} for row in rows)
    notifications = await scenario.fetch("SELECT title, body FROM notifications WHERE user_id = $1", scenario.buyer_id)
    assert {text for row in notifications for text in row.values()} <= {"", None}
    logs = await scenario.fetch(
        "SELECT recipient, error FROM notification_delivery_logs WHERE user_id = $1", scenario.buyer_id
    )
    assert {tuple(row.values()) for row in logs} == {("erased", None)}
    texts = len(providers.texts)
    await scenario.send_queued()
    assert len(providers.texts) == texts


async def test_events_after_an_erasure_notify_only_the_other_users(scenario: Scenario, providers: Providers) -> None:
    await scenario.project_users()
    await scenario.project_order()
    await scenario.receive(UserErased(user_id=scenario.buyer_id))
    await scenario.receive(scenario.held())
    await scenario.receive(scenario.pin())
    await scenario.send_queued()
    assert sorted(mail["To"] for mail in providers.mails) == ["ada@unilag.edu.ng", "chidi@unilag.edu.ng"]
    assert [mail["Subject"] for mail in providers.mails if mail["To"].startswith("chidi")] == [
        "Your account has been erased"
    ]
    assert providers.texts == []
    assert await scenario.fetch("SELECT 1 FROM dead_letters") == []


async def encrypted_addresses(scenario: Scenario):
    return await scenario.fetch("SELECT status FROM notification_deliveries WHERE sealed ? 'address'")


async def test_the_last_mail_reaches_the_erased_address(scenario: Scenario, providers: Providers) -> None:
    await scenario.project_users()
    erased = UserErased(user_id=scenario.buyer_id)
    await scenario.receive_twice(erased, sequence=9)
    await scenario.receive(erased, sequence=10)
    assert [row["status"] for row in await encrypted_addresses(scenario)] == ["queued"]
    assert await scenario.tables_with("chidi") == set()
    await scenario.send_queued()
    await scenario.send_queued()
    [mail] = providers.mails
    assert (mail["To"], mail["Subject"]) == ("chidi@unilag.edu.ng", "Your account has been erased")
    assert (await encrypted_addresses(scenario), await scenario.tables_with("chidi")) == ([], set())
    shown = await scenario.feed()
    assert shown.json()["data"] == []


async def test_a_failed_last_mail_deletes_its_address(scenario: Scenario, app: OpenService) -> None:
    await scenario.project_users()
    await scenario.receive(UserErased(user_id=scenario.buyer_id), sequence=9)
    [row] = await scenario.fetch("SELECT id FROM notification_deliveries WHERE sealed ? 'address'")
    async with app.dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await fail_delivery(uow, row["id"], "the mail server is away")
    assert (await encrypted_addresses(scenario), await scenario.tables_with("chidi")) == ([], set())


async def test_a_refused_erasure_names_its_obligations(scenario: Scenario, providers: Providers) -> None:
    await scenario.project_users()
    obligations = (
        "open_orders",
        "wallet_balance",
        "open_exceptions",
        "undecided_reconciliations",
        "a_word_of_tomorrow",
    )
    rejected = ErasureRefused(user_id=scenario.buyer_id, request_id=new_id(), open_matters=obligations)
    await scenario.receive_twice(rejected)
    await scenario.receive(rejected)
    await scenario.send_queued()
    [mail] = providers.mails
    text = text_of(mail)
    words = (
        "something that is still under way; a payout that we are checking; an order that is not finished; money "
        "in your wallet"
    )
    assert (mail["To"], words.split("; ")) == (
        "chidi@unilag.edu.ng",
        text.split("under way: ", 1)[1].split(".")[0].split("; "),
    )
    shown = await scenario.feed()
    [line] = shown.json()["data"]
    assert (line["title"], "money in your wallet" in line["body"]) == ("Account not erased", True)


async def test_a_message_to_an_erased_user_is_422(scenario: Scenario) -> None:
    await scenario.project_users()
    await scenario.receive(UserErased(user_id=scenario.buyer_id))
    response = await scenario.request_delivery("email", "order_dispatched")
    assert (response.status_code, response.json()["invalid_params"][0]["name"]) == (422, "channel")


async def test_personal_records_belong_to_their_user(scenario: Scenario, client: httpx.AsyncClient) -> None:
    await scenario.project_users()
    await scenario.project_order()
    await scenario.receive(scenario.held())
    path = "/api/personal-records/notifications?limit=100"
    response = await client.get(path, headers=scenario.headers(scenario.buyer_id))
    assert response.status_code == 200, response.text
    found = {line["section"]: line["record"] for line in response.json()["data"]}
    assert set(found) == {"contact", "notifications"}
    assert found["contact"]["email"] == "chidi@unilag.edu.ng"
    assert isinstance(found["contact"]["phoneConfirmed"], bool)
    assert "ada@" not in response.text
