"""Webhooks by WhatsApp's documentation: every documented shape has its reading, and no odd shape breaks the webhook."""

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest

from notifications.support.domain.messaging_webhook import errors_of, event_type_of, items_of, read_body
from testkit.cases import for_each
from testkit.providers.whatsapp.checking import check_webhook

NUMBER, USER_ID, PARENT_ID = "2348030000001", "NG.13491208655302741918", "NG.ENT.11815799212886844830"
WAMID = "wamid.HBgNMjM0ODAzMDAwMDAwMRUCABIYFDNB"
AT = "1749416383"


def webhook(field="messages", **value):
    metadata = {"display_phone_number": "2348000000000", "phone_number_id": "106540352242922"}
    whole = {"messaging_product": "whatsapp", "metadata": metadata, **value} if field == "messages" else value
    return {
        "object": "whatsapp_business_account",
        "entry": [{"id": "1022", "changes": [{"field": field, "value": whole}]}],
    }


def received(kind, content=None, **more):
    own = {} if content is None else {kind: content}
    message = {"from": NUMBER, "from_user_id": USER_ID, "id": WAMID, "timestamp": AT, "type": kind, **own, **more}
    contact = {"profile": {"name": "Tolu"}, "wa_id": NUMBER, "user_id": USER_ID}
    return webhook(contacts=[contact], messages=[message])


def without_number(**more):
    body = received("text", {"body": "Hello"}, **more)
    value = body["entry"][0]["changes"][0]["value"]
    del value["messages"][0]["from"], value["contacts"][0]["wa_id"]
    value["contacts"][0]["profile"]["username"] = "tolu.ade"
    return body


def media(**more):
    return {
        "id": "1003383421387256",
        "mime_type": "image/jpeg",
        "sha256": "SfInY0g",
        "url": "https://look.example/x",
        **more,
    }


CONTEXT = {"context": {"from": "2348000000000", "id": "wamid.HBgL"}}
ERROR_OF_TYPE = {
    "code": 131051,
    "title": "Message type unknown",
    "message": "Message type unknown",
    "error_data": {"details": "Not supported."},
}
UNAVAILABLE = {"code": 131060, "title": "This message is currently unavailable."}

# Each documented message, with sender, kind and text of its reading.
MESSAGES = {
    "text": (received("text", {"body": "Where is it?"}), NUMBER, "Where is it?"),
    "reply": (received("text", {"body": "This one"}, **CONTEXT), NUMBER, "This one"),
    "forwarded": (received("text", {"body": "Look"}, context={"frequently_forwarded": True}), NUMBER, "Look"),
    "from an advertisement": (
        received("text", {"body": "Hi"}, referral={"source_url": "https://fb.me/x", "source_type": "ad"}),
        NUMBER,
        "Hi",
    ),
    "no number": (without_number(), USER_ID, "Hello"),
    "no number, parent id": (without_number(from_parent_user_id=PARENT_ID), USER_ID, "Hello"),
    "image": (received("image", media(caption="Broken")), NUMBER, "[image] Broken"),
    "image without caption": (received("image", media()), NUMBER, "[image]"),
    "video": (received("video", media(mime_type="video/mp4")), NUMBER, "[video]"),
    "voice": (received("audio", media(mime_type="audio/ogg; codecs=opus", voice=True)), NUMBER, "[audio]"),
    "document": (
        received("document", media(filename="receipt.pdf", caption="Here")),
        NUMBER,
        "[document] receipt.pdf Here",
    ),
    "sticker": (received("sticker", media(mime_type="image/webp", animated=False)), NUMBER, "[sticker]"),
    "location": (
        received(
            "location",
            {"latitude": 6.51, "longitude": 3.39, "name": "Akoka", "address": "Yaba", "url": "https://x.example"},
        ),
        NUMBER,
        "[location] Akoka Yaba",
    ),
    "current location": (received("location", {"latitude": 6.51, "longitude": 3.39}), NUMBER, "[location]"),
    "contacts": (
        received("contacts", [{"name": {"formatted_name": "Dami"}, "phones": [{"phone": "+234", "wa_id": "234"}]}]),
        NUMBER,
        "[contacts] Dami",
    ),
    "reaction": (
        received("reaction", {"message_id": WAMID, "emoji": "\N{THUMBS UP SIGN}"}),
        NUMBER,
        "[reaction] \N{THUMBS UP SIGN}",
    ),
    "reaction taken back": (received("reaction", {"message_id": WAMID}), NUMBER, "[reaction]"),
    "button": (received("button", {"payload": "stop", "text": "Stop"}, **CONTEXT), NUMBER, "Stop"),
    "button reply": (
        received("interactive", {"type": "button_reply", "button_reply": {"id": "1", "title": "Yes"}}, **CONTEXT),
        NUMBER,
        "Yes",
    ),
    "list reply": (
        received(
            "interactive",
            {"type": "list_reply", "list_reply": {"id": "1", "title": "Refund", "description": "By card"}},
        ),
        NUMBER,
        "Refund By card",
    ),
    "flow": (
        received(
            "interactive", {"type": "nfm_reply", "nfm_reply": {"name": "flow", "body": "Sent", "response_json": "{}"}}
        ),
        NUMBER,
        "[interactive] Sent",
    ),
    "interactive without its object": (received("interactive", **CONTEXT), NUMBER, "[interactive]"),
    "order": (
        received(
            "order", {"catalog_id": "35", "text": "Two", "product_items": [{"product_retailer_id": "R", "quantity": 2}]}
        ),
        NUMBER,
        "[order] Two",
    ),
    "edit": (
        received(
            "edit",
            {
                "original_message_id": WAMID,
                "message": {"context": {"id": "M0"}, "type": "text", "text": {"body": "Not it"}},
            },
        ),
        NUMBER,
        "[edited] Not it",
    ),
    "edited caption": (
        received("edit", {"original_message_id": WAMID, "message": {"type": "image", "image": media(caption="Now")}}),
        NUMBER,
        "[edited] [image] Now",
    ),
    "deleted": (received("revoke", {"original_message_id": WAMID}), NUMBER, "[revoke] The customer deleted a message."),
    "changed number": (
        received(
            "system", {"body": "User A changed from 1 to 2", "wa_id": "2348030000002", "type": "user_changed_number"}
        ),
        NUMBER,
        "[system] The customer has another phone number now.",
    ),
    "changed id": (
        received("system", {"body": "User A changed", "user_id": "NG.2", "type": "user_changed_user_id"}),
        NUMBER,
        "[system] The customer has another id in the app now.",
    ),
    "changed identity": (
        received(
            "system", {"body": "User identity changed", "type": "customer_identity_changed"}, identity={"hash": "x"}
        ),
        NUMBER,
        "",
    ),
    "unsupported": (received("unsupported", errors=[ERROR_OF_TYPE]), NUMBER, "[unsupported]"),
    "unsupported poll": (
        received("unsupported", {"type": "poll_update"}, errors=[ERROR_OF_TYPE]),
        NUMBER,
        "[unsupported] poll_update",
    ),
    "unavailable": (received("unsupported", {"type": "errors"}, errors=[UNAVAILABLE]), NUMBER, "[unsupported] errors"),
    "welcome": (received("request_welcome"), NUMBER, ""),
    "group": (received("text", {"body": "All"}, group_id="Y2FwaV9ncm91cDo"), "", "All"),
}


@for_each("name", MESSAGES)
def test_a_documented_message_has_its_reading(name: str) -> None:
    body, sender, text = MESSAGES[name]
    check_webhook(body)
    [item] = items_of(read_body(json.dumps(body).encode()))
    assert (item.kind, item.key) == ("message", f"message:{WAMID}")
    assert (item.content["from"], item.content["text"], item.content["at"]) == (sender, text, int(AT))


def reported(word, *, errors=None, contacts=True, **more):
    listed = {} if errors is None else {"errors": errors}
    status = {"id": WAMID, "status": word, "timestamp": AT, "recipient_id": NUMBER, **more, **listed}
    known = [{"profile": {"name": "Tolu"}, "wa_id": NUMBER, "user_id": USER_ID}]
    return webhook(statuses=[status], **({"contacts": known} if contacts else {}))


PRICING = {"billable": True, "pricing_model": "PMP", "type": "regular", "category": "utility"}
CONVERSATION = {"id": "72704", "expiration_timestamp": "1698339900", "origin": {"type": "service"}}
UNDELIVERABLE = {
    "code": 131026,
    "title": "Message undeliverable",
    "message": "Message undeliverable",
    "error_data": {"details": "Message Undeliverable."},
    "href": "https://developers.facebook.com/docs/whatsapp/cloud-api/support/error-codes/",
}
SHORT_ERROR = {"code": 131047, "title": "Re-engagement message"}
STATUSES = {
    "sent": (reported("sent", conversation=CONVERSATION, pricing=PRICING), "sent", None),
    "sent of v24": (reported("sent", pricing=PRICING, recipient_user_id=USER_ID), "sent", None),
    "delivered": (reported("delivered", pricing={**PRICING, "pricing_model": "CBP"}), "delivered", None),
    "read": (reported("read", biz_opaque_callback_data="019a"), "read", None),
    "to an id": (reported("delivered", recipient_user_id=USER_ID), "delivered", None),
    "failed": (reported("failed", errors=[UNDELIVERABLE], contacts=False), "failed", 131026),
    "failed, short": (reported("failed", errors=[SHORT_ERROR], contacts=False), "failed", 131047),
    "played": (reported("played"), None, None),
    "deleted": (reported("deleted"), None, None),
}


@pytest.mark.parametrize("name", STATUSES)
def test_a_documented_status_has_its_reading(name: str) -> None:
    body, word, code = STATUSES[name]
    check_webhook(body)
    [item] = items_of(read_body(json.dumps(body).encode()))
    assert (item.kind, item.content["id"], item.content["status"]) == ("status", WAMID, word)
    assert (item.content["error"] or {}).get("code") == code


ACCOUNT_ERROR = webhook(
    errors=[
        {"code": 130429, "title": "Rate limit hit", "message": "Rate limit hit", "error_data": {"details": "Too many"}}
    ]
)
REVIEWED = webhook(
    "message_template_status_update",
    event="REJECTED",
    message_template_id=1689556908129835,
    message_template_name="order_confirmation",
    message_template_language="en",
    reason="INVALID_FORMAT",
    message_template_category="UTILITY",
)


def test_errors_of_an_account_and_other_fields_are_no_items() -> None:
    for body in (ACCOUNT_ERROR, REVIEWED):
        check_webhook(body)
        assert items_of(body) == []
    assert [(error.code, error.text) for error in errors_of(ACCOUNT_ERROR)] == [(130429, "Too many")]
    assert (errors_of(REVIEWED), event_type_of(REVIEWED)) == ([], "message_template_status_update")


DOCUMENTED = [body for body, *_ in (*MESSAGES.values(), *STATUSES.values())] + [ACCOUNT_ERROR, REVIEWED]
ODD_VALUES: tuple[Any, ...] = (None, 7, 1.5, True, "x", "", [], {}, [None], {"id": {}}, [[]], "\x00\ud800", 10**30)


def places_of(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every member of a document."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, inner in members:
        yield (*path, name)
        yield from places_of(inner, (*path, name))


def changed_at(body: Any, path: tuple[Any, ...], value: Any, *, removed: bool = False) -> Any:
    changed = copy.deepcopy(body)
    holder = changed
    for name in path[:-1]:
        holder = holder[name]
    if removed:
        del holder[path[-1]]
    else:
        holder[path[-1]] = value
    return changed


@for_each("body", DOCUMENTED, ids=lambda body: body["entry"][0]["changes"][0]["field"])
def test_no_odd_member_breaks_the_webhook(body) -> None:
    for path in places_of(body):
        for odd in ODD_VALUES:
            read_everything(changed_at(body, path, odd))
        read_everything(changed_at(body, path, None, removed=True))


def read_everything(body: Any) -> None:
    """Items that PostgreSQL can store, and errors, of any body."""
    stored = json.dumps([item.content for item in items_of(body)], ensure_ascii=False)
    assert "\\u0000" not in stored
    stored.encode()
    errors_of(body)
    assert event_type_of(body)


def test_unknown_members_change_no_reading() -> None:
    for body in DOCUMENTED:
        grown = copy.deepcopy(body)
        for path in list(places_of(body)):
            holder = grown
            for name in path:
                holder = holder[name]
            if isinstance(holder, dict):
                holder["a_member_of_next_year"] = {"x": [1]}
        assert items_of(grown) == items_of(body)
        assert errors_of(grown) == errors_of(body)
