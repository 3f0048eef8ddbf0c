"""The caller's own devices and wishes: nobody else sees, takes or removes them."""

import asyncio

import pytest

from common.auth.caller import Caller
from common.primitives.ids import new_id
from contracts.identity import CredentialsChanged, EmailConfirmed
from contracts.payouts import PayoutProcessed
from notifications.templates.examples import example_of
from testkit.service_kit import OpenService

ALL_ON = {"push": True, "messaging": True, "sms": True, "email": True}


async def devices_of(story, user_id):
    return (await story.service.client.get("/api/devices", headers=story.service.headers(user_id))).json()["data"]


async def test_a_device_is_its_owner_s_alone_and_moves_with_its_token(open_story, every_channel):
    async with open_story(**every_channel, devices_max=3) as story:
        mine, theirs = new_id(), new_id()
        first = await story.register(mine, kind="android", token="token-1")
        assert first.status_code == 201
        assert set(first.json()["data"]) == {"id", "kind", "createdAt", "registeredAt"}
        again = await story.register(mine, kind="android", token="token-1")
        assert again.json()["data"]["id"] == first.json()["data"]["id"]
        assert len(await devices_of(story, mine)) == 1
        # Another signs in on the same phone.
        moved = await story.register(theirs, kind="android", token="token-1")
        assert moved.json()["data"]["id"] != first.json()["data"]["id"]
        assert (await devices_of(story, mine), len(await devices_of(story, theirs))) == ([], 1)
        path = f"/api/devices/{moved.json()['data']['id']}"
        remove = story.service.client.delete
        assert (await remove(path, headers=story.service.headers(mine))).status_code == 404
        async with story.service.runtime.database.unit_of_work(acting_as=Caller(user_id=mine)) as uow:
            assert await uow.fetch("SELECT * FROM user_devices") == []
        assert (await remove(path, headers=story.service.headers(theirs))).status_code == 204
        assert (await remove(path, headers=story.service.headers(theirs))).status_code == 404
        # Twenty at once, of which three have room.
        answers = await asyncio.gather(
            *(story.register(mine, kind="ios", token=f"token-{number}") for number in range(2, 12))
        )
        assert sorted(answer.status_code for answer in answers) == [201] * 3 + [409] * 7
        assert len(await devices_of(story, mine)) == 3
        assert (await story.service.client.get("/api/devices")).status_code == 401


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
async def test_a_device_that_cannot_be_reached_is_422(whole, device):
    assert (await whole.register(whole.buyer_id, **device)).status_code == 422
    assert await whole.service.fetch("SELECT 1 FROM user_devices") == []


async def test_an_endpoint_in_our_network_is_422(whole, outside):
    for endpoint in ("https://127.0.0.1/x", "http://push.example.com/x", "https://169.254.169.254/x"):
        answer = await whole.register(whole.buyer_id, kind="web", subscription=outside.browser.subscription(endpoint))
        assert answer.status_code == 422
        assert answer.json()["invalid_params"][0]["name"] == "subscription.endpoint"


async def put(service: OpenService, user_id, **body):
    return await service.client.put("/api/notification-preferences", json=body, headers=service.headers(user_id))


async def test_preferences_are_replaced_as_a_whole_and_by_who_read_them_last(story):
    service, mine = story.service, story.buyer_id
    path = "/api/notification-preferences"
    unasked = (await service.client.get(path, headers=service.headers(mine))).json()["data"]
    assert unasked == {
        "channels": {**ALL_ON, "messaging": False},
        "quietHours": None,
        "locale": "en",
        "revision": 0,
    }
    quiet = {"from": "22:00", "to": "06:30", "timezone": "Europe/Berlin"}
    changed = await put(service, mine, channels=ALL_ON, quietHours=quiet, locale="en-NG", revision=0)
    shown = changed.json()["data"]
    assert shown == {"channels": ALL_ON, "quietHours": quiet, "locale": "en-NG", "revision": 1}
    assert (await service.client.get(path, headers=service.headers(mine))).json()["data"] == shown
    assert (await put(service, mine, channels=ALL_ON, revision=0)).status_code == 409
    assert changed.headers["etag"] == '"1"'
    for tag, status in (('"0"', 409), ("1", 422)):
        headers = {**service.headers(mine), "If-Match": tag}
        refused = await service.client.put(path, json={"channels": ALL_ON}, headers=headers)
        assert refused.status_code == status, tag
    assert (await put(service, mine, channels=ALL_ON)).json()["data"]["quietHours"] is None
    theirs = await service.client.get(path, headers=service.headers(new_id()))
    assert theirs.json()["data"]["revision"] == 0
    async with service.runtime.database.unit_of_work(acting_as=Caller(user_id=new_id())) as uow:
        assert await uow.fetch("SELECT * FROM notification_preferences") == []
    at_once = await asyncio.gather(*(put(service, mine, channels=ALL_ON, revision=2) for _ in range(5)))
    assert sorted(answer.status_code for answer in at_once) == [200, 409, 409, 409, 409]


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
async def test_preferences_that_make_no_sense_are_422_and_change_nothing(story, body):
    assert (await put(story.service, story.buyer_id, **body)).status_code == 422
    assert await story.service.fetch("SELECT 1 FROM notification_preferences") == []


async def test_a_channel_that_is_switched_off_is_left_out_but_not_for_the_bank_account_and_the_sign_in(story, outside):
    await story.project_people()
    off = dict.fromkeys(ALL_ON, False)
    assert (await put(story.service, story.owner_id, channels=off)).is_success
    body = {
        "notificationId": str(new_id()),
        "userId": str(story.owner_id),
        "channel": "email",
        "template": "payout_processed",
        "data": example_of("payout_processed"),
    }
    key = {"Authorization": "Bearer service-role-key-of-these-tests"}
    for _ in range(2):
        refused = await story.service.client.post("/functions/v1/deliver-notification", json=body, headers=key)
        assert (refused.status_code, refused.json()["data"]["status"]) == (200, "failed")
    [attempt] = await story.attempts()
    assert (attempt["status"], attempt["error"]) == ("failed", "the user has switched this channel off")
    assert await story.service.published("operations.alert_raised.v1") == []
    for template in ("bank_details_changed", "one_time_code"):
        told = {**body, "notificationId": str(new_id()), "template": template, "data": example_of(template)}
        answer = await story.service.client.post("/functions/v1/deliver-notification", json=told, headers=key)
        assert answer.status_code == 200
    # What our own consumers tell stays out of the mailbox, and stands in the feed.
    await story.service.hear(PayoutProcessed(payout_id=new_id(), vendor_id=story.vendor_id, amount_minor=100))
    # A thief would switch the mail off before they set another password, and would read the feed.
    await story.service.hear(CredentialsChanged(user_id=story.owner_id, change="password_reset"))
    await story.service.work("notifications.deliveries")
    assert [mail["Subject"] for mail in outside.mails][2:] == ["Your account: the password was set anew"]
    feed = await story.service.client.get("/api/notifications", headers=story.service.headers(story.owner_id))
    assert sorted(line["template"] for line in feed.json()["data"]) == [
        "bank_details_changed",
        "payout_processed",
        "payout_processed",
    ]


async def test_devices_of_before_the_first_proof_of_the_address_are_forgotten(open_story, every_channel):
    async with open_story(**every_channel) as story:
        owner, other = new_id(), new_id()
        for person, token in ((owner, "of-somebody-before"), (owner, "of-the-owner"), (other, "of-another")):
            await story.register(person, kind="android", token=token)
        for token, second in (("of-somebody-before", 1), ("of-the-owner", 3), ("of-another", 1)):
            await story.service.fetch(
                "UPDATE user_devices SET registered_at = '2026-01-01'::timestamptz + make_interval(secs => $2) "
                "WHERE address = $1",
                token,
                second,
            )
        for _ in range(2):
            await story.service.hear(EmailConfirmed(user_id=owner, confirmed_at="2026-01-01T00:00:02.000Z"))
        kept = await story.service.fetch("SELECT address FROM user_devices ORDER BY address")
        assert [row["address"] for row in kept] == ["of-another", "of-the-owner"]
