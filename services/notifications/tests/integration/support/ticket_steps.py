"""Steps that the tests of tickets share."""

import io

from PIL import Image

from common.primitives.ids import new_id

from ..conftest import Scenario

QUEUE = "notifications.support"
DELIVERIES = "notifications.deliveries"
TICKETS = "/api/support-tickets"
STAFF = new_id()
AUDITOR = new_id()
OTHER_USER = new_id()


def headers_by_role(scenario: Scenario):
    headers = scenario.headers
    return {
        "owner": headers(scenario.buyer_id),
        "staff": headers(STAFF, roles=["support_agent"]),
        "auditor": headers(AUDITOR, roles=["auditor"]),
        "stranger": headers(OTHER_USER, roles=["buyer"]),
        "ops": headers(new_id(), roles=["ops_oncall"]),
    }


async def request(scenario: Scenario, method, path, who="owner", **more):
    return await scenario.client.request(method, path, headers=headers_by_role(scenario)[who], **more)


async def open_ticket(scenario: Scenario, who="owner", **more):
    body = {"subject": "Late", "message": "Where is my rice?", **more}
    response = await request(scenario, "POST", TICKETS, who, json=body)
    assert response.status_code == 201, response.text
    return response.json()["data"]


async def write(scenario: Scenario, ticket, who, words="Hello"):
    return await request(scenario, "POST", f"{TICKETS}/{ticket['id']}/messages", who, json={"text": words})


async def texts_of(scenario: Scenario, ticket, who):
    return (await request(scenario, "GET", f"{TICKETS}/{ticket['id']}/messages", who)).json()["data"]


def png_image(form="PNG"):
    out = io.BytesIO()
    Image.new("RGB", (40, 30), (120, 0, 0)).save(out, form)
    return out.getvalue()


async def note(scenario: Scenario, ticket, who, words="Calls often."):
    return await request(scenario, "POST", f"{TICKETS}/{ticket['id']}/notes", who, json={"text": words})
