"""Support through the running system: customers write in the app and in the messaging app, staff reply
(contract section 12).
"""

import io
import json
from uuid import uuid4

from PIL import Image

from contracts.demo import USERS
from operations.journey import Marketplace
from tests.end_to_end.steps import placed_order

from .conftest import Users

SUPPORT = next(user for user in USERS if user.name == "SUPPORT")
TICKETS = "/api/support-tickets"
WEBHOOK = "/api/messaging/webhook"


def image_bytes():
    out = io.BytesIO()
    Image.new("RGB", (400, 300), (0, 120, 0)).save(out, "JPEG")
    return out.getvalue()


async def test_the_messaging_app_subscribes_with_the_verify_token_only(market: Marketplace) -> None:
    requested = {
        "hub.mode": "subscribe",
        "hub.verify_token": market.secrets["MESSAGING_VERIFY_TOKEN"],
        "hub.challenge": "1158201444",
    }
    response = await market.http.get(WEBHOOK, params=requested)
    assert (response.status_code, response.text) == (200, "1158201444")
    assert response.headers["content-type"].startswith("text/plain")
    for wrong in ({"hub.verify_token": "guess"}, {"hub.challenge": ""}):
        refused = await market.http.get(WEBHOOK, params={**requested, **wrong})
        assert (refused.status_code, refused.json()["code"]) == (403, "AUTH_FORBIDDEN")
    body = json.dumps({"object": "whatsapp_business_account", "entry": []})
    for headers in ({}, {"X-Hub-Signature-256": "sha256=" + "0" * 64}):
        forged = await market.http.post(WEBHOOK, content=body, headers=headers)
        problem = forged.json()
        assert (forged.status_code, problem["code"], problem["error"]) == (
            401,
            "AUTH_UNAUTHORIZED",
            "Invalid signature",
        )


async def test_a_customer_writes_in_the_messaging_app_and_gets_a_reply_there(market: Marketplace, users: Users) -> None:
    phone = f"+234803{uuid4().int % 10**7:07d}"
    student = await market.sign_up(f"student.{uuid4().hex}@unilag.edu.ng", "Ngozi Eze", phone)
    await market.prove_number(student, phone)
    first = {"from": phone, "name": "Ngozi", "text": "Where is my rice?", "id": f"wamid.{uuid4().hex}"}
    second = {"from": phone, "message": {"type": "image", "image": {"caption": "the empty pot"}}}
    for message in (first, first, second):
        assert (await market.sandbox.post("/control/messaging/incoming", json=message)).status_code == 202

    async def conversation():
        tickets = await market.get(TICKETS, student)
        if len(tickets) != 1:
            return None
        output = await market.get(f"{TICKETS}/{tickets[0]['id']}/messages", student)
        return (tickets[0], output) if len(output) == 2 else None

    ticket, output = await market.until("both messages stand in one ticket", conversation, 60)
    assert sorted(one["text"] for one in output) == ["Where is my rice?", "[image] the empty pot"]
    assert (ticket["source"], ticket["status"]) == ("messaging", "open")
    await market.post(f"{TICKETS}/{ticket['id']}/messages", {"text": "It comes at five."}, users.support)

    async def responded():
        return await market.messages(phone, "messaging") or None

    [message] = await market.until("the answer is on the telephone", responded, 60)
    assert message["text"] == "It comes at five."
    assert message["payload"]["type"] == "text"
    read = {"id": message["provider_id"], "status": "read"}
    assert (await market.sandbox.post("/control/messaging/statuses", json=read)).status_code == 202

    async def reached():
        logs = await market.get("/api/notification-delivery-logs", users.auditor, params={"limit": 100})
        mine = [one for one in logs if one["providerMessageId"] == message["provider_id"] and one["status"] == "read"]
        return mine or None

    [log] = await market.until("staff see that it was read", reached, 60)
    assert (log["template"], log["channel"]) == ("ticket_reply", "messaging")
    assert phone not in str(log)

    async def notices():
        feed = await market.get("/api/notifications", student)
        return [one for one in feed if one["template"] == "ticket_reply"] or None

    assert len(await market.until("the notice in the app", notices, 60)) == 1


async def test_a_ticket_with_an_order_and_an_image_is_for_its_owner_and_for_staff(
    market: Marketplace, users: Users
) -> None:
    order = await placed_order(market, users)
    body = {"subject": "Wrong size", "message": "The shoes are too small.", "orderId": order["id"]}
    key = {"Idempotency-Key": str(uuid4())}
    opened = await market.http.post(TICKETS, json=body, headers={**users.buyer.headers, **key})
    assert opened.status_code == 201, opened.text
    again = await market.http.post(TICKETS, json=body, headers={**users.buyer.headers, **key})
    assert (again.content, again.headers["x-cache-lookup"]) == (opened.content, "HIT")
    ticket = opened.json()["data"]
    assert ticket["orderId"] == order["id"]
    foreign = await market.http.post(TICKETS, json=body, headers=users.other_buyer.headers)
    assert (foreign.status_code, foreign.json()["invalid_params"][0]["name"]) == (422, "orderId")

    url = f"{TICKETS}/{ticket['id']}"
    files = {"file": ("shoes.jpg", image_bytes(), "image/jpeg")}
    attached = await market.http.post(f"{url}/attachments", files=files, headers=users.buyer.headers)
    assert attached.status_code == 201, attached.text
    endpoint = attached.json()["data"]["url"]
    for member, status in (
        (users.buyer, 200),
        (users.support, 200),
        (users.auditor, 200),
        (users.other_buyer, 404),
    ):
        shown = await market.http.get(endpoint, headers=member.headers)
        assert shown.status_code == status
        assert status == 404 or (shown.headers["content-type"], shown.headers["cache-control"]) == (
            "image/webp",
            "no-store",
        )
        assert (await market.http.get(url, headers=member.headers)).status_code == status
        assert (await market.http.get(f"{url}/messages", headers=member.headers)).status_code == status
    assert (await market.http.get(endpoint)).status_code == 401

    assigned = await market.post(f"{url}/assign", {"assigneeId": str(SUPPORT.id)}, users.support)
    assert assigned["customer"]["name"] == "Chidi Okafor"
    assert assigned["customer"]["email"] == "b***@unilag.edu.ng"
    urgent = await market.http.patch(url, json={"priority": "urgent"}, headers=users.support.headers)
    assert urgent.json()["data"]["priority"] == "urgent"
    for member in (users.auditor, users.buyer):
        refused = await market.http.patch(url, json={"priority": "low"}, headers=member.headers)
        assert (refused.status_code, refused.json()["code"]) == (403, "AUTH_FORBIDDEN")
    written = await market.http.post(f"{url}/messages", json={"text": "Hi"}, headers=users.auditor.headers)
    assert written.status_code == 403
    assert (await market.post(f"{url}/close", {}, users.buyer))["status"] == "closed"
