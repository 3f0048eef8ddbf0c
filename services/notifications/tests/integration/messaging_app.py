"""Signed webhooks of the messaging app and their rows in the database, for the tests of that app."""

import hmac
import json

from .conftest import MESSAGING_SECRET, Scenario
from .providers import Providers

QUEUE = "notifications.support"
WEBHOOK = "/api/messaging/webhook"
BUYER = "2348030000001"


def signature(raw, secret=MESSAGING_SECRET, algorithm="sha256"):
    return f"{algorithm}=" + hmac.new(secret.encode(), raw, algorithm).hexdigest()


def body_of(*values, field="messages"):
    changes = [{"field": field, "value": {"messaging_product": "whatsapp", **value}} for value in values]
    return {"object": "whatsapp_business_account", "entry": [{"id": "1", "changes": changes}]}


def text(message_id, words, sender=BUYER, **more):
    message = {"from": sender, "id": message_id, "timestamp": "1767225600", "type": "text", "text": {"body": words}}
    return {**message, **more}


async def post(scenario: Scenario, body, headers=None):
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    sent = {"X-Hub-Signature-256": signature(raw)} if headers is None else headers
    return await scenario.client.post(WEBHOOK, content=raw, headers=sent)


async def process(scenario: Scenario, *values):
    """Post a signed body and process its work items."""
    response = await post(scenario, body_of(*values))
    assert (response.status_code, response.json()["data"]) == (200, {"received": True})
    while await scenario.work(QUEUE):
        pass


async def messages(scenario: Scenario):
    return await scenario.fetch("SELECT * FROM support_messages ORDER BY created_at, id")


async def tickets(scenario: Scenario):
    return await scenario.fetch("SELECT * FROM support_tickets ORDER BY created_at, id")


async def outcomes(scenario: Scenario):
    return {row["id"]: row["outcome"] for row in await scenario.fetch("SELECT id, outcome FROM messaging_items")}


def status(message_id, word, **more):
    return {"id": message_id, "status": word, "timestamp": "1767225600", "recipient_id": BUYER, **more}


async def queue_confirmation(scenario: Scenario, providers: Providers):
    """Queue an order confirmation to the messaging app."""
    await scenario.project_users()
    channels = {"push": False, "messaging": True, "sms": False, "email": False}
    await scenario.set_preferences(scenario.buyer_id, channels=channels)
    await scenario.project_order()
    await scenario.receive(scenario.held())
