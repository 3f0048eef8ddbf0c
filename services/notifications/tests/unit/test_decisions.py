"""The pure rules of notifications."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from common.primitives.ids import new_id
from common.primitives.problems import ValidationFailed
from notifications.deliveries.domain.alerts import (
    PAGE_AGAIN_AFTER,
    Alert,
    CountOnly,
    PageNow,
    dialect_of,
    evaluate_repetition,
    page_bodies,
)
from notifications.deliveries.domain.channels import redelivery_policy
from notifications.deliveries.domain.deliveries import (
    ATTEMPTS_MAX,
    CLAIM_LIFETIME,
    AttemptsExhausted,
    Claimable,
    Contact,
    InProgress,
    OutcomeUnknown,
    RedeliveryPolicy,
    evaluate_claim,
    masked,
    notification_id_of,
    pin_channel,
    redacted,
)
from notifications.deliveries.domain.erasure_obligations import OTHER, obligations_text
from notifications.deliveries.domain.templates import CATALOG, TEXT_MAX, check_complete, read_parameters, template_of
from notifications.deliveries.templates.examples import example_of
from notifications.settings import Settings
from testkit.cases import for_each

NOW = datetime(2026, 1, 1, tzinfo=UTC)
LATER = timedelta(milliseconds=1)


@pytest.mark.parametrize(
    ("claimed_at", "attempts", "verdict"),
    [
        (None, 0, Claimable()),
        (None, ATTEMPTS_MAX - 1, Claimable()),
        (None, ATTEMPTS_MAX, AttemptsExhausted()),
        (NOW, 1, InProgress()),
        (NOW, ATTEMPTS_MAX, InProgress()),
        (NOW - CLAIM_LIFETIME, 1, InProgress()),
        (NOW - CLAIM_LIFETIME - LATER, 1, Claimable()),
        (NOW - CLAIM_LIFETIME - LATER, ATTEMPTS_MAX, AttemptsExhausted()),
    ],
)
def test_a_delivery_is_claimable_without_an_unexpired_claim(claimed_at, attempts, verdict) -> None:
    assert evaluate_claim(claimed_at, attempts, NOW, RedeliveryPolicy(CLAIM_LIFETIME, may_redeliver=True)) == verdict


def test_an_unknown_outcome_is_redelivered_only_where_harmless() -> None:
    assert {
        (template, channel): redelivery_policy(template, channel, reports_statuses=True).may_redeliver
        for template, channel in [
            ("delivery_pin", "sms"), ("one_time_code", "email"), ("bank_details_changed", "email"),
                ("order_dispatched", "push"),
            ("order_dispatched", "messaging"), ("order_dispatched", "email"), ("order_dispatched", "sms"),
        ]
    } == {
        ("delivery_pin", "sms"): True, ("one_time_code", "email"): True, ("bank_details_changed", "email"): True,
        ("order_dispatched", "push"): True, ("order_dispatched", "messaging"): True,
            ("order_dispatched", "email"): False,
        ("order_dispatched", "sms"): False,
    }  # fmt: skip
    deaf = redelivery_policy("order_dispatched", "messaging", reports_statuses=False)
    assert evaluate_claim(NOW - deaf.claim_lifetime, 1, NOW, deaf) == InProgress()
    assert evaluate_claim(NOW - deaf.claim_lifetime - LATER, 1, NOW, deaf) == OutcomeUnknown()
    assert evaluate_claim(None, 1, NOW, deaf) == Claimable()


@pytest.mark.parametrize(
    ("recipient", "shown"),
    [
        ("chidi@unilag.edu.ng", "c***@unilag.edu.ng"),
        ("+2348030000001", "+234******0001"),
        ("+23480", "***"),
        ("", "***"),
        ('"a@b"@unilag.edu.ng', '"***@unilag.edu.ng'),
    ],
)
def test_addresses_are_masked(recipient: str, shown: str) -> None:
    assert masked(recipient) == shown


def test_a_providers_error_is_stored_without_secrets() -> None:
    assert redacted({"pin": "042917", "empty": ""}, "cannot send 'PIN 042917'") == "cannot send 'PIN ***'"
    assert len(redacted({}, "x" * 1000)) == 200


def test_a_pin_goes_by_sms_when_there_is_a_proven_phone() -> None:
    with_phone = Contact(new_id(), "a@b.ng", "+2348030000001", None)
    assert pin_channel(replace(with_phone, phone_confirmed=True)) == ("sms", "delivery_pin")
    assert pin_channel(with_phone) == ("email", "delivery_pin_ready")
    assert pin_channel(Contact(new_id(), "a@b.ng", None, None)) == ("email", "delivery_pin_ready")


@pytest.mark.parametrize(("full_name", "greeted"), [("Chidi Okafor", "Chidi"), (None, "there"), ("  ", "there")])
def test_users_are_greeted_by_their_first_name(full_name: str | None, greeted: str) -> None:
    assert Contact(new_id(), "a@b.ng", None, full_name).first_name == greeted


@pytest.mark.parametrize(
    ("full_name", "greeted"),
    [
        ("https://evil.example/win Okafor", "there"),
        ("www.evil.example", "there"),
        ("\u202edihC Okafor", "there"),
        ("call+2348030000000", "there"),
        ("A" * 41, "there"),
        ("O'Brien-Ade, Dayọ̀", "O'Brien-Ade"),
        ("Ọláolúwa Ade", "Ọláolúwa"),
        ("Dr. Ade", "Dr"),
    ],
)
def test_a_greeting_contains_a_name_and_no_link(full_name, greeted: str) -> None:
    assert Contact(new_id(), "a@b.ng", None, full_name).first_name == greeted


def test_the_same_fact_has_the_same_id() -> None:
    order_id = new_id()
    assert notification_id_of("delivery_pin", order_id, 1) == notification_id_of("delivery_pin", order_id, 1)
    assert notification_id_of("delivery_pin", order_id, 1) != notification_id_of("delivery_pin", order_id, 2)
    assert notification_id_of("delivery_pin", order_id, 1) != notification_id_of("order_confirmation", order_id, 1)


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ({}, ["data.payoutId", "data.businessName", "data.amountMinor"]),
        ({"payoutId": "p", "businessName": "b", "amountMinor": 1.5}, ["data.amountMinor"]),
        ({"payoutId": "p", "businessName": "b", "amountMinor": True}, ["data.amountMinor"]),
        ({"payoutId": "p", "businessName": "b", "amountMinor": -1}, ["data.amountMinor"]),
        ({"payoutId": "", "businessName": "b" * 501, "amountMinor": 1}, ["data.payoutId", "data.businessName"]),
        ({"payoutId": "p", "businessName": "b", "amountMinor": 1, "role": "admin"}, ["data.role"]),
    ],
)
def test_parameters_of_a_consumer_that_do_not_fit_are_named(values, names) -> None:
    with pytest.raises(ValidationFailed) as rejected:
        check_complete(CATALOG["payout_processed"], values)
    assert [param.name for param in rejected.value.invalid_params] == names


@pytest.mark.parametrize(
    "line", [{"quantity": 1}, "x", {"name": ""}, {"name": "x", "quantity": "1"}, {"name": "x", "lineTotalMinor": -1}]
)
def test_lines_have_a_name_and_counts_of_the_right_kind(line) -> None:
    with pytest.raises(ValidationFailed) as rejected:
        read_parameters(CATALOG["vendor_dispatch_alert"], {**example_of("vendor_dispatch_alert"), "items": [line]})
    assert [param.name for param in rejected.value.invalid_params] == ["data.items"]


@pytest.mark.parametrize(
    "line", [{"name": "x", "quantity": 1}, {"name": "x", "quantity": 1, "lineTotalMinor": None}, {"name": "x"}, "x"]
)
def test_the_lines_of_a_consumer_are_whole(line) -> None:
    values = {"orderId": "o", "businessName": "b", "items": [line]}
    with pytest.raises(ValidationFailed):
        check_complete(CATALOG["vendor_dispatch_alert"], values)


def test_a_message_uses_only_the_parameters_of_its_template() -> None:
    items = [{"name": "x", "quantity": 1, "sku": "s"}]
    values = {**example_of("order_confirmation"), "admin": "yes", "items": items}
    assert read_parameters(CATALOG["order_confirmation"], values) == {
        **example_of("order_confirmation"),
        "items": [{"name": "x", "quantity": 1, "lineTotalMinor": None}],
    }
    given = {"orderId": "o", "outcome": None}
    assert read_parameters(CATALOG["return_request_update"], given) == {"orderId": "o"}


@for_each("name", CATALOG)
def test_each_missing_parameter_is_named_with_its_kind(name) -> None:
    template = CATALOG[name]
    needed = [one for one in (*template.parameters, *template.secrets) if one not in template.optional]
    for left_out in needed:
        with pytest.raises(ValidationFailed) as rejected:
            read_parameters(template, {**example_of(name), left_out: None})
        [param] = rejected.value.invalid_params
        assert param.name == f"data.{left_out}"
        assert re.match("is required by this template and must be .+", param.reason)
    if needed:
        with pytest.raises(ValidationFailed) as rejected:
            read_parameters(template, {})
        assert [param.name for param in rejected.value.invalid_params] == [f"data.{one}" for one in needed]


@pytest.mark.parametrize(
    ("name", "values", "named"),
    [
        ("order_confirmation", {"orderId": 7, "totalMinor": "5000"}, ["data.orderId", "data.totalMinor"]),
        ("order_confirmation", {"totalMinor": 1.5}, ["data.totalMinor"]),
        ("return_request_update", {"refundMinor": True, "outcome": "approved"}, ["data.refundMinor"]),
        ("one_time_code", {"purpose": "fun"}, ["data.purpose"]),
        ("delivery_pin", {"pin": 42917}, ["data.pin"]),
        ("delivery_pin", {"pin": ""}, ["data.pin"]),
    ],
)
def test_a_value_of_the_wrong_kind_is_refused_by_name(name: str, values: dict[str, Any], named) -> None:
    with pytest.raises(ValidationFailed) as rejected:
        read_parameters(CATALOG[name], {**example_of(name), **values})
    assert [param.name for param in rejected.value.invalid_params] == named


def test_every_template_has_its_channels() -> None:
    every = {"push", "messaging", "sms", "email"}
    assert {name: every - template.channels for name, template in CATALOG.items() if template.channels != every} == {
        "delivery_pin": {"email"},
        "account_erased": every - {"email"},
        "already_registered": every - {"email"},
        "charge_quarantined": every - {"email"},
        "confirm_email": every - {"email"},
        "back_in_stock": every - {"push"},
        "order_arrived": {"messaging", "sms"},
        "order_line_cancelled": {"messaging", "sms"},
        "order_to_pack": {"messaging", "sms"},
        "parcel_coming": every - {"push"},
        "new_message": every - {"push"},
        "price_drop": every - {"push"},
    }


def test_every_documented_obligation_has_a_text() -> None:
    page = (Path(__file__).parents[4] / "docs/privacy.md").read_text()
    matters = set(re.findall(r"`([a-z_]+)`", page.partition("| Service | Open matters |")[2]))
    assert len(matters) > 15
    assert all(OTHER not in obligations_text([matter]) for matter in matters)
    assert obligations_text([]) == obligations_text(["a_word_of_tomorrow"]) == OTHER
    everything = obligations_text([*matters, *matters])
    assert len(everything) <= TEXT_MAX
    assert everything.endswith(OTHER)


@pytest.mark.parametrize(("name", "channel"), [("no_such_message", "email"), ("delivery_pin", "email")])
def test_an_unknown_message_or_channel_is_refused(name: str, channel: str) -> None:
    with pytest.raises(ValidationFailed):
        template_of(name, channel)


@pytest.mark.parametrize(
    ("was", "paged_ago", "now_severity", "verdict"),
    [
        ("SEV-2", timedelta(minutes=1), "SEV-2", CountOnly()),
        ("SEV-2", timedelta(minutes=1), "SEV-3", CountOnly()),
        ("SEV-2", timedelta(minutes=1), "SEV-1", PageNow()),
        ("SEV-2", PAGE_AGAIN_AFTER, "SEV-2", PageNow()),
        ("SEV-2", None, "SEV-2", PageNow()),
    ],
)
def test_a_repeated_alert_is_paged_when_worse_or_old(was: str, paged_ago, now_severity: str, verdict) -> None:
    paged_at = None if paged_ago is None else NOW - paged_ago
    assert evaluate_repetition(was_severity=was, was_paged_at=paged_at, severity=now_severity, now=NOW) == verdict


ALERT = Alert(
    "a-1", "SEV-1", "Balance empty", "Top up", "balance", "balance:low", "b-1", "payouts", "2026-01-01T00:00:00.000Z"
)


@pytest.mark.parametrize(
    ("url", "dialect"),
    [
        ("http://alerts:9093/api/v2/alerts", "alertmanager"),
        ("http://alerts/prefix/api/v2/alerts/", "alertmanager"),
        ("https://events.pagerduty.com/v2/enqueue", "pagerduty"),
        ("https://chat.example/hooks/1?path=/v2/enqueue", "webhook"),
        ("", "webhook"),
    ],
)
def test_the_url_selects_the_page_format(url: str, dialect: str) -> None:
    assert dialect_of(url) == dialect


def test_alertmanager_joins_pages_by_their_labels() -> None:
    [[page]] = page_bodies("alertmanager", ALERT, "")
    assert (page["labels"]["severity"], page["labels"]["dedup_key"]) == ("SEV-1", "balance:low")
    assert page["annotations"]["description"] == "Top up"


def test_alertmanager_is_led_to_the_page_of_the_runbook() -> None:
    [[page]] = page_bodies("alertmanager", ALERT, "")
    assert page["annotations"]["runbook"] == f"docs/runbooks/{ALERT.runbook}.md"
    assert "runbook" not in page["labels"]


def test_alertmanager_resolves_the_previous_severity() -> None:
    grown = replace(ALERT, severity="SEV-2", is_repeated=True)
    [[now, before]] = page_bodies("alertmanager", grown, "")
    assert (now["labels"]["severity"], "endsAt" in now) == ("SEV-2", False)
    assert (before["labels"]["severity"], before["endsAt"]) == ("SEV-3", grown.raised_at)
    [over] = page_bodies("alertmanager", replace(grown, closed_at="2026-03-01T13:00:00Z"), "")
    assert {page["endsAt"] for page in over} == {"2026-03-01T13:00:00Z"}


def test_pagerduty_joins_pages_by_the_dedup_key() -> None:
    [page] = page_bodies("pagerduty", ALERT, "route")
    assert (page["routing_key"], page["dedup_key"], page["event_action"]) == ("route", "balance:low", "trigger")
    assert page["payload"]["severity"] == "critical"


def test_a_start_without_the_key_that_pagerduty_needs_is_refused() -> None:
    values = {
        "port": 1,
        "jwks_url": "http://x",
        "api_database_url": "postgresql://x",
        "service_database_url": "postgresql://x",
        "broker_url": "amqp://x",
        "cursor_key": "x" * 16,
        "message_key": "x" * 16,
        "code_delivery_key": "x" * 16,
        "pin_delivery_key": "x" * 16,
        "sms_api_url": "http://x",
        "smtp_url": "smtp://x",
        "on_call_url": "https://events.pagerduty.com/v2/enqueue",
    }
    with pytest.raises(ValidationError, match="ON_CALL_KEY"):
        Settings(**values)
    assert Settings(**values, on_call_key="k").on_call_key == "k"
