"""The exported templates: complete for every message, within the provider's rules for a review, and compared."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from common.primitives.json_records import read_record
from notifications.deliveries.domain.approved_templates import (
    APPROVED_TEMPLATES,
    BODY_MAX,
    CODE_MAX,
    PARAMETER_MAX,
    placeholders_of,
)
from notifications.deliveries.domain.registered_templates import ReportedTemplate, compare_template, read_registered
from notifications.deliveries.domain.templates import CATALOG
from notifications.deliveries.templates.examples import example_of
from notifications.deliveries.templates.registration import manage_templates, registrations
from notifications.deliveries.templates.renderer import RECIPIENT_NAME, MessageRenderer
from testkit.cases import for_each

EXPORT = {one["name"]: one for one in registrations("en")}
MESSAGES = sorted(name for name, template in CATALOG.items() if "messaging" in template.channels)
UTILITY = sorted(name for name, template in APPROVED_TEMPLATES.items() if template.category == "UTILITY")
RENDERER = MessageRenderer()


def body_of(registration):
    return next(one for one in registration["components"] if one["type"] == "BODY")


@for_each("name", MESSAGES)
def test_every_message_has_an_exported_template_with_its_number_of_variables(name) -> None:
    parameters = RENDERER.message("messaging", name, {**example_of(name), RECIPIENT_NAME: "Chidi"}).parameters
    registration = EXPORT[name]
    if registration["category"] == "AUTHENTICATION":
        assert len(parameters) == 1
    else:
        assert placeholders_of(body_of(registration)["text"]) == list(range(1, len(parameters) + 1))
        assert body_of(registration)["example"]["body_text"] == [list(parameters)]


def test_nothing_else_is_exported() -> None:
    assert sorted(EXPORT) == MESSAGES


@for_each("name", UTILITY)
def test_a_text_satisfies_the_rules_of_the_review(name) -> None:
    text = body_of(EXPORT[name])["text"]
    count = len(placeholders_of(text))
    assert re.fullmatch(r"[a-z0-9_]{1,512}", name)
    assert len(text) <= BODY_MAX
    # A variable is neither the first nor the last word, and never next to another one.
    assert re.match(r"\w", text)
    assert re.search(r"\w[^{}]*$", text.rpartition("}}")[2])
    assert re.search(r"\}\}[^\w]*\{\{", text) is None
    words = re.findall(r"\w+", re.sub(r"\{\{[0-9]+\}\}", " ", text))
    assert len(words) >= 2 * count + 1
    assert "\n" not in text
    assert all(0 < len(value) <= PARAMETER_MAX for value in body_of(EXPORT[name])["example"]["body_text"][0])


def test_codes_and_pins_use_authentication_templates_with_a_copy_button() -> None:
    secret = {name for name, template in CATALOG.items() if template.secrets and "messaging" in template.channels}
    assert secret == set(MESSAGES) - set(UTILITY) == {"one_time_code", "delivery_pin"}
    for name in secret:
        [parameter] = APPROVED_TEMPLATES[name].parameters
        assert {parameter} == CATALOG[name].secrets
        body, buttons = EXPORT[name]["components"]
        assert set(body) == {"type", "add_security_recommendation"}
        assert buttons == {
            "type": "BUTTONS",
            "buttons": [{"type": "OTP", "otp_type": "COPY_CODE", "text": "Copy code"}],
        }
        assert len(example_of(name)[parameter]) <= CODE_MAX
    # Buyers give a PIN to the seller; a code stays secret.
    assert body_of(EXPORT["one_time_code"])["add_security_recommendation"] is True
    assert body_of(EXPORT["delivery_pin"])["add_security_recommendation"] is False


def test_the_export_needs_no_settings(tmp_path: Path) -> None:
    file = tmp_path / "templates.json"
    assert manage_templates(["export", "--out", str(file), "--language", "en_GB"], pytest.fail) == 0
    exported = json.loads(file.read_text(encoding="utf-8"))
    assert [one["name"] for one in exported] == list(APPROVED_TEMPLATES)
    assert {one["language"] for one in exported} == {"en_GB"}


EXPECTED = EXPORT["order_dispatched"]


def registered(**changes):
    item = {
        "id": "1689556908129832",
        "name": "order_dispatched",
        "language": "en",
        "category": "UTILITY",
        "status": "APPROVED",
        "rejected_reason": "NONE",
        "components": [{"type": "BODY", "text": body_of(EXPECTED)["text"]}],
    }
    found = read_registered(read_record({**item, **changes}, ReportedTemplate))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("changes", "state", "reason"),
    [
        ({}, "approved", ""),
        ({"category": "MARKETING"}, "approved", ""),
        ({"id": 1689556908129832, "quality_score": {"score": "UNKNOWN"}}, "approved", ""),
        ({"status": "PENDING"}, "pending", ""),
        ({"status": "IN_APPEAL", "components": []}, "pending", ""),
        ({"status": "REJECTED", "rejected_reason": "INVALID_FORMAT"}, "rejected", "INVALID_FORMAT"),
        (
            {"status": "REJECTED", "rejected_reason": "SCAM", "rejection_info": {"reason": "Asks for a payment."}},
            "rejected",
            "SCAM Asks for a payment.",
        ),
        ({"components": [{"type": "body", "text": "Another text"}]}, "differs", ""),
        ({"status": "PAUSED", "components": None}, "differs", ""),
        ({"status": "PAUSED"}, "unavailable", ""),
        ({"status": "DISABLED", "components": []}, "unavailable", ""),
        ({"status": "PENDING_DELETION"}, "unavailable", ""),
        ({"status": None, "category": None, "rejected_reason": None}, "unavailable", ""),
        ({"category": "AUTHENTICATION"}, "differs", ""),
        ({"language": "en_US"}, "missing", ""),
    ],
)
def test_a_registered_template_has_a_state(changes: dict[str, Any], state: str, reason: str) -> None:
    found = compare_template(EXPECTED, [registered(**changes)])
    assert (found.state, found.reason) == (state, reason)
    assert found.is_approved is (state == "approved")


def test_the_provider_writes_the_text_of_an_authentication_template() -> None:
    template = registered(
        name="one_time_code",
        category="AUTHENTICATION",
        components=[
            {"type": "BODY", "text": "*{{1}}* is your verification code.", "add_security_recommendation": True}
        ],
    )
    assert compare_template(EXPORT["one_time_code"], [template]).state == "approved"


@pytest.mark.parametrize("item", [None, 7, "x", [], {}, {"id": "1"}, {"id": True, "name": "x", "language": "en"}])
def test_an_odd_item_of_the_list_is_skipped(item) -> None:
    assert read_registered(read_record(item, ReportedTemplate)) is None
