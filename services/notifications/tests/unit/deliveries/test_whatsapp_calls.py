"""Calls of the messaging app's client by WhatsApp's API: every body conforms, and every documented response is
classified.
"""

import json
from typing import Any
from uuid import uuid4

import httpx
import pytest

from notifications.deliveries.clients.message_templates import MessageTemplates
from notifications.deliveries.clients.messaging import Messaging
from notifications.deliveries.domain.deliveries import Message, OutboundMessage
from notifications.deliveries.domain.errors import (
    AccountFault,
    FreeTextRejected,
    ProviderRejected,
    ProviderTimeout,
    ProviderUnavailable,
    RecipientUnreachable,
)
from notifications.deliveries.domain.templates import CATALOG
from notifications.deliveries.templates.examples import example_of
from notifications.deliveries.templates.registration import registrations
from notifications.deliveries.templates.renderer import RECIPIENT_NAME, MessageRenderer
from notifications.deliveries.use_cases.templates.compare_templates import compare_templates
from notifications.deliveries.use_cases.templates.push_templates import push_templates
from testkit.cases import for_each
from testkit.providers.whatsapp.checking import check_registration, check_request, check_response

NUMBER, USER_ID = "+2348030000001", "NG.13491208655302741918"
SENT = {
    "messaging_product": "whatsapp",
    "contacts": [{"input": "2348030000001", "wa_id": "2348030000001"}],
    "messages": [{"id": "wamid.HBgNMjM0ODAzMDAwMDAwMRUCABEYEjc"}],
}
PACED = {**SENT, "messages": [{"id": "wamid.HBgN", "message_status": "held_for_quality_assessment"}]}
HIDDEN = {**SENT, "contacts": [{"input": USER_ID, "user_id": USER_ID}]}
RENDERER = MessageRenderer()
MESSAGES = sorted(name for name, template in CATALOG.items() if "messaging" in template.channels)
EXPECTED = registrations("en")


class Platform:
    """Returns the responses in turn, and checks every request and response against the schemas."""

    def __init__(self, *responses: tuple[int, Any], is_conform: bool = True) -> None:
        self.responses, self.requests, self.is_conform = list(responses), [], is_conform

    def __call__(self, request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content) if request.content else None
        check_request(request.method, request.url.path, dict(request.url.params), body)
        assert request.headers["authorization"] == "Bearer token"
        self.requests.append(body if body is not None else dict(request.url.params))
        status, response = self.responses.pop(0)
        if self.is_conform:
            check_response(request.method, request.url.path, status, response)
        return httpx.Response(status, json=response)

    def client(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(transport=httpx.MockTransport(self))


def outbound(template="order_dispatched", address=NUMBER, text="", values=None):
    given = {**example_of(template), RECIPIENT_NAME: "Chidi", **(values or {})}
    message = Message(text=text) if text else RENDERER.message("messaging", template, given)
    return OutboundMessage(uuid4(), uuid4(), template, address, message, sensitive=False)


async def send(platform, one):
    async with platform.client() as http:
        return await Messaging(http, "https://graph.example", "v21.0", "106540352242922", "token", "en").send(one)


@for_each("name", MESSAGES)
async def test_every_message_is_a_conforming_call(name) -> None:
    platform = Platform((200, SENT))
    assert await send(platform, outbound(name)) == SENT["messages"][0]["id"]
    hostile = {
        parameter: "a\n\n\tb" + " " * 9 + "c" for parameter in example_of(name) if parameter not in ("items", "purpose")
    }
    kinds = CATALOG[name].parameters
    hostile = {parameter: value for parameter, value in hostile.items() if kinds.get(parameter, "text") == "text"}
    await send(Platform((200, SENT)), outbound(name, values=hostile))


@pytest.mark.parametrize(
    ("one", "response"),
    [
        (outbound(), PACED),
        (outbound("ticket_reply", text="On its way.\nWrite again."), SENT),
        (outbound("ticket_reply", address=USER_ID, text="On its way."), HIDDEN),
        (outbound("ticket_reply", address="NG.ENT.11815799212886844830"), HIDDEN),
    ],
    ids=["paced", "text", "text to an id", "template to an id"],
)
async def test_documented_successes_are_read(one, response) -> None:
    assert await send(Platform((200, response)), one) == response["messages"][0]["id"]


def error(code, message="(#0) Failed", details=None, **more):
    data = {} if details is None else {"error_data": {"messaging_product": "whatsapp", "details": details}}
    return {"error": {"message": message, "type": "OAuthException", "code": code, **data, "fbtrace_id": "Az8", **more}}


# The documented errors: HTTP status, body, and the reading.
ERRORS = [
    (401, error(0, "We were unable to authenticate the app user"), AccountFault),
    (401, error(190, "Error validating access token", error_subcode=463), AccountFault),
    (403, error(10, "(#10) Application does not have permission"), AccountFault),
    (403, error(200, "(#200) Missing permission"), AccountFault),
    (403, error(131005, "(#131005) Access denied", "Permission is not granted"), AccountFault),
    (403, error(368, "(#368) Temporarily blocked for policies violations"), AccountFault),
    (403, error(131031, "(#131031) Business Account locked", "Disabled"), AccountFault),
    (403, error(130497, "(#130497) Restricted in this country"), AccountFault),
    (400, error(131042, "(#131042) Business eligibility payment issue", "No payment method"), AccountFault),
    (400, error(33, "(#33) Parameter value is not valid"), AccountFault),
    (400, error(100, "Unsupported post request", error_subcode=33), AccountFault),
    (500, error(131045, "(#131045) Incorrect certificate"), AccountFault),
    (400, error(133010, "(#133010) Account not registered"), AccountFault),
    (400, error(4, "(#4) Application request limit reached", is_transient=True), ProviderUnavailable),
    (400, error(80007, "(#80007) Rate limit issues"), ProviderUnavailable),
    (400, error(130429, "(#130429) Rate limit hit", "Throughput"), ProviderUnavailable),
    (400, error(131048, "(#131048) Spam rate limit hit"), ProviderUnavailable),
    (400, error(131056, "(#131056) Pair rate limit hit"), ProviderUnavailable),
    (503, error(2, "Service temporarily unavailable"), ProviderUnavailable),
    (500, error(131000, "(#131000) Something went wrong"), ProviderUnavailable),
    (500, error(131016, "(#131016) Service unavailable"), ProviderUnavailable),
    (500, error(131057, "(#131057) Account in maintenance mode"), ProviderUnavailable),
    (400, error(131026, "(#131026) Message undeliverable", "Unable to deliver"), RecipientUnreachable),
    (400, error(131049, "(#131049) Meta chose not to deliver"), RecipientUnreachable),
    (400, error(130472, "(#130472) User is part of an experiment"), RecipientUnreachable),
    (400, error(131021, "(#131021) Recipient cannot be sender"), RecipientUnreachable),
    (400, error(131062, "(#131062) Recipient id is not supported"), RecipientUnreachable),
    (400, error(131047, "(#131047) Re-engagement message"), RecipientUnreachable),
    (400, error(100, "(#100) Invalid parameter", "Parameter to is missing"), ProviderRejected),
    (400, error(131008, "(#131008) Required parameter is missing"), ProviderRejected),
    (400, error(131009, "(#131009) Parameter value is not valid"), ProviderRejected),
    (400, error(131051, "(#131051) Unsupported message type"), ProviderRejected),
    (400, error(132000, "(#132000) Number of parameters does not match"), ProviderRejected),
    (404, error(132001, "(#132001) Template does not exist", "in en"), ProviderRejected),
    (400, error(132005, "(#132005) Translated text too long"), ProviderRejected),
    (400, error(132007, "(#132007) Character policy violated"), ProviderRejected),
    (400, error(132012, "(#132012) Parameter format mismatch"), ProviderRejected),
    (400, error(132015, "(#132015) Template is paused"), ProviderRejected),
    (400, error(132016, "(#132016) Template is disabled"), ProviderRejected),
]


@pytest.mark.parametrize(("status", "response", "kind"), ERRORS, ids=[str(one[1]["error"]["code"]) for one in ERRORS])
async def test_documented_errors_are_read(status: int, response, kind) -> None:
    with pytest.raises(kind) as raised:
        await send(Platform((status, response)), outbound())
    assert type(raised.value) is kind
    assert raised.value.reason.startswith(f"{status} {response['error']['code']} ")


async def test_a_free_text_outside_the_window_is_not_lost() -> None:
    with pytest.raises(FreeTextRejected):
        await send(Platform((400, error(131047))), outbound("ticket_reply", text="Hello"))


ODD_RESPONSES = [
    (200, {}),
    (200, []),
    (200, {"messages": None}),
    (200, {"messages": [{}]}),
    (200, {"messages": [{"id": 7}]}),
    (200, {"messages": {"id": "wamid.1"}}),
    (400, {"error": "a text"}),
    (400, {"error": {"code": "131026"}}),
    (400, {"error": {"code": None, "message": None, "error_data": None}}),
    (400, {"error": {"code": {"value": 1}, "error_data": "[]"}}),
    (302, {}),
    (418, None),
]


@pytest.mark.parametrize(("status", "response"), ODD_RESPONSES)
async def test_odd_responses_are_faults_of_the_provider(status: int, response) -> None:
    with pytest.raises((ProviderUnavailable, ProviderRejected)) as raised:
        await send(Platform((status, response), is_conform=False), outbound())
    assert not isinstance(raised.value, ProviderTimeout)


def test_every_exported_template_conforms() -> None:
    for registration in EXPECTED:
        check_registration(registration)


def item(registration, template_id, status="APPROVED", **changes):
    """Return a template in the list, as the platform shows it."""
    return {
        **{name: registration[name] for name in ("name", "language", "category", "components")},
        "id": str(1_689_556_908_000_000 + template_id),
        "status": status,
        "rejected_reason": "NONE",
        **changes,
    }


def page(items, after=None):
    paging = {"cursors": {"before": "QVFI", "after": after or "QVFJ"}}
    return {"data": items, "paging": {**paging, **({"next": "https://graph.example/next"} if after else {})}}


async def with_templates(platform, use_case, expected):
    async with platform.client() as http:
        return await use_case(
            MessageTemplates(http, "https://graph.example", "v21.0", "102290129340398", "token"), expected
        )


async def test_a_push_registers_what_is_missing_and_replaces_what_differs() -> None:
    items = [item(one, number) for number, one in enumerate(EXPECTED)]
    old = [{"type": "BODY", "text": "An older text for you"}]
    items[0] |= {"components": old}
    items[1] |= {"components": old, "status": "REJECTED", "rejected_reason": "INVALID_FORMAT"}
    items[2] |= {"components": old, "status": "PENDING"}
    missing = items.pop(3)
    registered = {"id": missing["id"], "status": "PENDING", "category": missing["category"]}
    platform = Platform(
        (200, page(items[:20], after="QVFI")),
        (200, page(items[20:])),
        (200, {"success": True}),
        (
            400,
            error(
                100, "Invalid parameter", error_subcode=2388299, error_user_title="T", error_user_msg="Leading variable"
            ),
        ),
        (200, registered),
    )
    pushed = await with_templates(platform, push_templates, EXPECTED)
    assert [one.action for one in pushed[:5]] == ["replaced", "rejected", "unchanged", "registered", "unchanged"]
    assert {one.action for one in pushed[5:]} == {"unchanged"}
    assert pushed[1].error == "400 100 Leading variable"
    first, second, *changes = platform.requests
    assert ("after" in first, second["after"]) == (False, "QVFI")
    # The category of an approved template is fixed.
    assert [sorted(change) for change in changes[:2]] == [["components"], ["category", "components"]]
    assert changes[2] == EXPECTED[3]


async def test_a_second_push_changes_nothing() -> None:
    platform = Platform((200, page([item(one, number) for number, one in enumerate(EXPECTED)])))
    pushed = await with_templates(platform, push_templates, EXPECTED)
    assert {one.action for one in pushed} == {"unchanged"}


@pytest.mark.parametrize(
    ("status", "response", "kind"),
    [
        (401, error(190), AccountFault),
        (400, error(100, error_subcode=33), AccountFault),
        (400, error(80008), ProviderUnavailable),
        (200, {"data": None}, ProviderUnavailable),
        (200, [], ProviderUnavailable),
        (200, {"data": [None, 7, {}], "paging": {"next": "x", "cursors": None}}, None),
        (200, {"data": []}, None),
    ],
)
async def test_odd_lists_are_read_or_reported(status: int, response, kind) -> None:
    platform = Platform((status, response), is_conform=False)
    if kind is None:
        states = await with_templates(platform, compare_templates, EXPECTED)
        assert {one.state for one in states} == {"missing"}
        return
    with pytest.raises(kind) as raised:
        await with_templates(platform, compare_templates, EXPECTED)
    assert type(raised.value) is kind
