"""Devices and preferences belong to their user."""

import asyncio
from typing import Any

import httpx
import pytest

from common.auth.caller import Caller
from common.primitives.ids import new_id
from contracts.identity import CredentialsChanged, EmailConfirmed
from contracts.payouts import PayoutProcessed

from ..conftest import OpenScenario, Scenario
from ..providers import Providers

ALL_ON = {"push": True, "messaging": True, "sms": True, "email": True}


async def devices_of(scenario: Scenario, user_id):
    return (await scenario.client.get("/api/devices", headers=scenario.headers(user_id))).json()["data"]


async def test_a_token_changes_its_user_after_the_owner_removed_the_device(
    open_scenario: OpenScenario, every_channel: dict[str, Any]
) -> None:
    async with open_scenario(**every_channel, devices_max=3) as scenario:
        owner_id, other_id = new_id(), new_id()
        first = await scenario.register(owner_id, kind="android", token="token-1")
        assert first.status_code == 201
        assert set(first.json()["data"]) == {"id", "kind", "createdAt", "registeredAt"}
        again = await scenario.register(owner_id, kind="android", token="token-1")
        assert again.json()["data"]["id"] == first.json()["data"]["id"]
        assert len(await devices_of(scenario, owner_id)) == 1
        # A copied token, or another user on the same phone.
        refused = await scenario.register(other_id, kind="android", token="token-1")
        assert (refused.status_code, refused.json()["code"]) == (409, "CONCURRENCY_CONFLICT")
        assert (len(await devices_of(scenario, owner_id)), await devices_of(scenario, other_id)) == (1, [])
        first_path = f"/api/devices/{first.json()['data']['id']}"
        assert (await scenario.client.delete(first_path, headers=scenario.headers(owner_id))).status_code == 204
        moved = await scenario.register(other_id, kind="android", token="token-1")
        assert moved.json()["data"]["id"] != first.json()["data"]["id"]
        assert (await devices_of(scenario, owner_id), len(await devices_of(scenario, other_id))) == ([], 1)
        path = f"/api/devices/{moved.json()['data']['id']}"
        remove = scenario.client.delete
        assert (await remove(path, headers=scenario.headers(owner_id))).status_code == 404
        async with scenario.unit_of_work(Caller(user_id=owner_id)) as uow:
            assert await uow.fetch("SELECT * FROM user_devices") == []
        assert (await remove(path, headers=scenario.headers(other_id))).status_code == 204
        assert (await remove(path, headers=scenario.headers(other_id))).status_code == 404
        # Ten registrations at once for three free slots.
        responses = await asyncio.gather(
            *(scenario.register(owner_id, kind="ios", token=f"token-{number}") for number in range(2, 12))
        )
        assert sorted(response.status_code for response in responses) == [201] * 3 + [409] * 7
        assert len(await devices_of(scenario, owner_id)) == 3
        assert (await scenario.client.get("/api/devices")).status_code == 401


@pytest.mark.parametrize(
    "device",
    [
        {"kind": "web", "token": "x"},
        {"kind": "android", "subscription": {"endpoint": "https://push.example.com/x", "keys": {}}},
        {"kind": "android"},
        {"kind": "android", "token": None},
        {"kind": "android", "token": ""},
        {"kind": "android", "token": "with space"},
        {"kind": "android", "token": "x" * 2_049},
        {"kind": "fridge", "token": "x"},
        {"kind": "android", "token": "x", "userId": "somebody"},
        {
            "kind": "web",
            "subscription": {"endpoint": "https://push.example.com/x", "keys": {"p256dh": "AA", "auth": "AA"}},
        },
        {"kind": "web", "subscription": "https://push.example.com/x"},
    ],
)
async def test_a_device_that_cannot_be_reached_is_422(full_scenario: Scenario, device) -> None:
    assert (await full_scenario.register(full_scenario.buyer_id, **device)).status_code == 422
    assert await full_scenario.fetch("SELECT 1 FROM user_devices") == []


async def test_an_endpoint_in_our_network_is_422(full_scenario: Scenario, providers: Providers) -> None:
    for endpoint in ("https://127.0.0.1/x", "http://push.example.com/x", "https://169.254.169.254/x"):
        response = await full_scenario.register(
            full_scenario.buyer_id, kind="web", subscription=providers.browser.subscription(endpoint)
        )
        assert response.status_code == 422
        assert response.json()["invalid_params"][0]["name"] == "subscription.endpoint"


async def test_preferences_are_replaced_at_their_revision(scenario: Scenario, client: httpx.AsyncClient) -> None:
    owner_id = scenario.buyer_id
    path = "/api/notification-preferences"
    default = (await client.get(path, headers=scenario.headers(owner_id))).json()["data"]
    assert default == {
        "channels": {**ALL_ON, "messaging": False},
        "optionalMail": True,
        "quietHours": None,
        "locale": "en",
        "revision": 0,
    }
    quiet = {"from": "22:00", "to": "06:30", "timezone": "Europe/Berlin"}
    changed = await scenario.set_preferences(owner_id, channels=ALL_ON, quietHours=quiet, locale="en-NG", revision=0)
    stored = changed.json()["data"]
    assert stored == {
        "channels": ALL_ON,
        "optionalMail": True,
        "quietHours": quiet,
        "locale": "en-NG",
        "revision": 1,
    }
    assert (await client.get(path, headers=scenario.headers(owner_id))).json()["data"] == stored
    assert (await scenario.set_preferences(owner_id, channels=ALL_ON, revision=0)).status_code == 409
    assert changed.headers["etag"] == '"1"'
    for tag, status in (('"0"', 409), ("1", 422)):
        headers = {**scenario.headers(owner_id), "If-Match": tag}
        rejected = await client.put(path, json={"channels": ALL_ON}, headers=headers)
        assert rejected.status_code == status, tag
    assert (await scenario.set_preferences(owner_id, channels=ALL_ON)).json()["data"]["quietHours"] is None
    other_id = await client.get(path, headers=scenario.headers(new_id()))
    assert other_id.json()["data"]["revision"] == 0
    async with scenario.unit_of_work(Caller(user_id=new_id())) as uow:
        assert await uow.fetch("SELECT * FROM notification_preferences") == []
    concurrent = await asyncio.gather(
        *(scenario.set_preferences(owner_id, channels=ALL_ON, revision=2) for _ in range(5))
    )
    assert sorted(response.status_code for response in concurrent) == [200, 409, 409, 409, 409]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"channels": {"push": True}},
        {"channels": {**ALL_ON, "push": "yes"}},
        {"channels": {**ALL_ON, "pigeon": True}},
        {"channels": ALL_ON, "quietHours": {"from": "22:00"}},
        {"channels": ALL_ON, "quietHours": {"from": "22:00", "to": "22:00"}},
        {"channels": ALL_ON, "quietHours": {"from": "24:00", "to": "07:00"}},
        {"channels": ALL_ON, "quietHours": {"from": 22, "to": "07:00"}},
        {"channels": ALL_ON, "quietHours": {"from": "22:00", "to": "07:00", "timezone": "Nowhere"}},
        {"channels": ALL_ON, "locale": "not a locale"},
        {"channels": ALL_ON, "userId": "somebody"},
    ],
)
async def test_preferences_that_make_no_sense_are_422_and_change_nothing(scenario: Scenario, body) -> None:
    assert (await scenario.set_preferences(scenario.buyer_id, **body)).status_code == 422
    assert await scenario.fetch("SELECT 1 FROM notification_preferences") == []


async def test_security_notices_ignore_opt_outs(scenario: Scenario, providers: Providers) -> None:
    await scenario.project_users()
    off = dict.fromkeys(ALL_ON, False)
    assert (await scenario.set_preferences(scenario.owner_id, channels=off)).is_success
    owner = {"userId": str(scenario.owner_id)}
    repeated = {**owner, "notificationId": str(new_id())}
    for _ in range(2):
        rejected = await scenario.request_delivery("email", "payout_processed", **repeated)
        assert (rejected.status_code, rejected.json()["data"]["status"]) == (200, "failed")
    [attempt] = await scenario.attempts()
    assert (attempt["status"], attempt["error"]) == ("failed", "the user has switched this channel off")
    assert await scenario.published("operations.alert_raised.v1") == []
    for template in ("bank_details_changed", "one_time_code"):
        assert (await scenario.request_delivery("email", template, **owner)).status_code == 200
    # A notification of our consumers is in the feed, and sends no mail.
    await scenario.receive(PayoutProcessed(payout_id=new_id(), vendor_id=scenario.vendor_id, amount_minor=100))
    # Security notices ignore opt-outs, and are not in the feed.
    await scenario.receive(CredentialsChanged(user_id=scenario.owner_id, change="password_reset"))
    await scenario.send_queued()
    assert [mail["Subject"] for mail in providers.mails][2:] == ["Your account: the password was reset"]
    feed = await scenario.feed(scenario.owner_id)
    assert sorted(line["template"] for line in feed.json()["data"]) == [
        "bank_details_changed",
        "payout_processed",
        "payout_processed",
    ]


async def test_devices_of_before_the_first_proof_of_the_address_are_forgotten(
    open_scenario: OpenScenario, every_channel: dict[str, Any]
) -> None:
    async with open_scenario(**every_channel) as scenario:
        owner, other = new_id(), new_id()
        for user_id, token in ((owner, "of-somebody-before"), (owner, "of-the-owner"), (other, "of-another")):
            await scenario.register(user_id, kind="android", token=token)
        for token, second in (("of-somebody-before", 1), ("of-the-owner", 3), ("of-another", 1)):
            await scenario.fetch(
                "UPDATE user_devices SET registered_at = '2026-01-01'::timestamptz + make_interval(secs => $2) "
                "WHERE address = $1",
                token,
                second,
            )
        for _ in range(2):
            await scenario.receive(EmailConfirmed(user_id=owner, confirmed_at="2026-01-01T00:00:02.000Z"))
        kept = await scenario.fetch("SELECT address FROM user_devices ORDER BY address")
        assert [row["address"] for row in kept] == ["of-another", "of-the-owner"]
