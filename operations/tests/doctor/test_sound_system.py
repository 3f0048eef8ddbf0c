"""Doctor at sound accounts: where to enter the webhooks, and that it changes nothing."""

from typing import Any

import httpx

from operations.doctor.run import CHECKS

from .conftest import Sandbox, findings_of, lines


async def findings_of_sandbox(check: str, sandbox: Sandbox, **changes: str) -> list[Any]:
    environment = {**sandbox.environment(), **changes}
    return await findings_of(check, environment, resolver=sandbox.resolver(), tls=sandbox.trust())


async def test_each_webhook_in_use_is_called_and_shown_with_its_address(sandbox: Sandbox) -> None:
    findings = await findings_of_sandbox("edge", sandbox, SMS_FALLBACK_API_URL="https://campus@api.africastalking.com")
    assert lines(findings) == [
        # Without a name server, the host of the test is this machine.
        ("fault", "public address"),
        ("ok", "certificate"),
        ("ok", "payment webhook"),
        ("ok", "Flutterwave webhook"),
        ("ok", "messaging webhook"),
        ("ok", "SMS receipts"),
        ("ok", "SMS receipts"),
    ]
    africas_talking, termii = (finding.found for finding in findings[-2:])
    url = sandbox.environment()["BASE_URL"]
    assert "africas-talking?key= and the value of SMS_RECEIPT_KEY at its sender" in africas_talking
    assert f"enter {url}/functions/v1/sms-receipts/termii at its sender" in termii


async def test_doctor_sends_no_message_and_transfers_no_money(sandbox: Sandbox, control: httpx.AsyncClient) -> None:
    async def seen() -> list[Any]:
        paths = ("/control/messages", "/control/book/movements", "/control/webhooks")
        return [(await control.get(path)).json() for path in paths]

    before = await seen()
    for check in CHECKS:
        await findings_of_sandbox(check, sandbox)
    assert await seen() == before


async def test_the_sender_is_named_after_the_greeting_where_no_user_is_set(sandbox: Sandbox) -> None:
    """A server that is strict refuses the sender before EHLO; the sign-in would have sent it."""
    findings = await findings_of_sandbox(
        "mail", sandbox, SMTP_URL=f"smtp+starttls://localhost:{sandbox.submission_port}"
    )
    [sender] = [finding for finding in findings if finding.subject == "mail sender"]
    assert "HELO" not in sender.found
