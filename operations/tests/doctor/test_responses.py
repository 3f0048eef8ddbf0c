"""Responses in the providers' documented shapes that no fault of the sandbox changes, and malformed ones."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import dns.asyncresolver
import httpx
import pytest

from common.primitives.tls import client_tls
from operations.doctor.examination import Examination
from operations.doctor.findings import Finding
from operations.doctor.run import CHECKS, run_check

from .conftest import LIVE_KEY, Sandbox, findings_of, only_line

Reply = tuple[int, Any]


async def findings_from(
    check: str, environment: dict[str, str], respond: Callable[[httpx.Request], Reply], **more: Any
) -> list[Finding]:
    """Return the findings where a function responds in the providers' place."""

    def transport(request: httpx.Request) -> httpx.Response:
        status, document = respond(request)
        return httpx.Response(status, json=document)

    async with httpx.AsyncClient(transport=httpx.MockTransport(transport)) as http:
        resolver = dns.asyncresolver.Resolver(configure=False)
        return await run_check(CHECKS[check], Examination(environment, http, client_tls(), resolver, **more))


@pytest.mark.parametrize(
    ("settled_days_ago", "state", "found"),
    [(1, "fault", "was settled to a bank account"), (90, "ok", "the last settlement"), (None, "ok", "never settled")],
)
async def test_automatic_settlement_is_found_by_its_latest_settlement(
    settled_days_ago: int | None, state: str, found: str
) -> None:
    def respond(request: httpx.Request) -> Reply:
        rows: list[dict[str, Any]] = []
        if request.url.path == "/settlement" and settled_days_ago is not None:
            date = datetime.now(UTC) - timedelta(days=settled_days_ago)
            rows = [{"id": 1, "status": "success", "settlement_date": date.strftime("%Y-%m-%dT00:00:00.000Z")}]
        return 200, {"status": True, "message": "Retrieved", "data": rows}

    environment = {"GATEWAY_API_URL": "https://api.paystack.co", "GATEWAY_SECRET_KEY": LIVE_KEY}
    findings = await findings_from("gateway", environment, respond)
    assert found in only_line(findings, state, "gateway settlement").found


@pytest.mark.parametrize(
    ("states", "state", "found"),
    [
        ({"delivery_pin": "APPROVED", "payout_sent": "APPROVED"}, "ok", "2 are approved"),
        ({"delivery_pin": "APPROVED", "payout_sent": "PENDING"}, "warning", "payout_sent is PENDING"),
        ({"delivery_pin": "REJECTED", "payout_sent": "APPROVED"}, "fault", "delivery_pin is REJECTED"),
        ({"delivery_pin": "APPROVED", "payout_sent": "PAUSED"}, "fault", "payout_sent is PAUSED"),
        ({}, "fault", "none is registered"),
    ],
)
async def test_each_template_of_every_page_must_be_approved(states: dict[str, str], state: str, found: str) -> None:
    def respond(request: httpx.Request) -> Reply:
        if not request.url.path.endswith("/message_templates"):
            return 200, {"status": "CONNECTED", "id": "1"}
        position = int(request.url.params.get("after", "0"))
        rows = [{"name": name, "status": state, "language": "en"} for name, state in states.items()]
        page = {"data": rows[position : position + 1], "paging": {"cursors": {"after": str(position + 1)}}}
        if position + 1 < len(rows):
            page["paging"]["next"] = "https://graph.facebook.com/next"
        return 200, page

    environment = {"MESSAGING_API_URL": "https://graph.facebook.com", "MESSAGING_BUSINESS_ACCOUNT_ID": "102"}
    findings = await findings_from("messaging", environment, respond)
    assert found in only_line(findings, state, "messaging templates").found
    if states:
        findings = await findings_from("messaging", environment, respond, templates=frozenset({*states, "refund_sent"}))
        assert [finding.found for finding in findings if "refund_sent" in finding.found] == [
            "refund_sent is not registered"
        ]


ODD_DOCUMENTS: list[Any] = [
    None,
    [],
    "text",
    {"data": None, "paging": [], "cluster": [], "UserData": 5, "balance": "many", "error": []},
    {"data": [None, 5, {}], "content": "text", "paging": {"next": "x", "cursors": 5}, "status": {}},
]


@pytest.mark.parametrize("document", ODD_DOCUMENTS)
@pytest.mark.parametrize("status", [200, 400, 500])
async def test_an_odd_response_is_a_finding_and_never_ends_the_report(
    status: int, document: Any, sandbox: Sandbox
) -> None:
    environment = {**sandbox.environment(), "GATEWAY_PROVIDER": "flutterwave", "FLUTTERWAVE_SECRET_KEY": "FLWSECK-1"}
    environment |= {"FLUTTERWAVE_API_URL": "https://api.flutterwave.com/v3", "SMS_FALLBACK_SHAPE": "twilio"}
    environment |= {"SMS_FALLBACK_API_URL": "https://AC1@api.twilio.com", "SMS_FALLBACK_API_KEY": "token"}
    for shape in ("termii", "africas_talking"):
        environment |= {"SMS_SHAPE": shape, "SMS_API_URL": "https://campus@sms.ng"}
        for check in ("gateway", "messaging", "sms", "push", "model", "on-call"):
            assert await findings_from(check, environment, lambda _: (status, document))


async def test_a_secret_that_a_provider_repeats_is_not_printed() -> None:
    environment = {
        "AI_BASE_URL": "https://model.ng",
        "AI_API_KEY": "sk-abcdef",
        "SMTP_URL": "smtp://campus:the-word@mail.ng",
    }
    document = {"error": {"message": "Incorrect API key provided: sk-abcdef, the-word"}}
    [finding] = await findings_from("model", environment, lambda _: (401, document))
    assert finding.found.endswith("Incorrect API key provided: [secret], [secret]")


async def test_a_malformed_address_is_a_finding() -> None:
    findings = await findings_of("mail", {"SMTP_URL": "smtp://mail.ng:many"})
    assert "malformed" in only_line(findings, "fault", "settings").found
