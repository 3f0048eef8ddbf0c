"""The people on call: a failed transfer becomes an exception, is classified, asked about and closed; dead letters are
replayed.
"""

import json
import re
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID, uuid4

import asyncpg
import pytest
import pytest_asyncio

from campus_tools.guides.runbooks import RUNBOOKS, build_runbooks
from campus_tools.guides.site import DOCS
from campus_tools.launcher.system import System
from operations.journey import Marketplace
from tests.console.browser import short_reference
from tests.console.conftest import Arrival
from tests.end_to_end.conftest import Users
from tests.end_to_end.steps import insert_dead_webhook, open_shop, signed

AMOUNT_MINOR = 50_000
SCREENS = (
    "/alerts",
    "/payout-exceptions",
    "/payout-exceptions/observations",
    "/dead-letters",
    "/dead-letters/payments",
    "/dead-letter-webhooks",
    "/system-health",
)


@pytest.fixture(scope="module", autouse=True)
def _runbooks() -> None:
    build_runbooks(RUNBOOKS)


@pytest_asyncio.fixture(loop_scope="session")
async def failed(market: Marketplace, users: Users) -> Any:
    """Yield the exception of a payout whose transfer the bank rejected, with the transfer's reference."""
    before = (await market.sandbox.get("/control/settings")).json()["transfer_settlement"]
    await market.sandbox.put("/control/settings", json={"transfer_settlement": "manual"})
    try:
        shop = await open_shop(market, users)
        assert (await shop.set_account(market, shop.accounts[0]))[0] == 200
        payout = await market.request_payout(shop.owner, AMOUNT_MINOR)
        [transfer] = (await market.dispatch_payouts(users.maker, [payout["id"]]))["transfers"]
        await report(market, transfer["reference"], "fail", reason="Account number is invalid")

        async def opened() -> Any:
            found = await market.get("/api/payout-exceptions", users.ops, params={"payoutId": payout["id"]})
            return found[0] if found else None

        yield await market.until("the exception", opened, 60), transfer["reference"]
    finally:
        await market.sandbox.put("/control/settings", json={"transfer_settlement": before})


async def report(market: Marketplace, reference: str, act: str, **why: str) -> None:
    """Make the gateway's own decision about a transfer."""
    (await market.sandbox.post(f"/control/transfers/{reference}/{act}", json=why)).raise_for_status()


async def test_a_failed_transfer_is_classified_and_closed_by_the_gateways_report(
    visitor: Arrival, market: Marketplace, users: Users, failed: Any
) -> None:
    exception, reference = failed
    one = await visitor("ops")
    await one.open(f"/payout-exceptions?status=open&payoutId={exception['payoutId']}")
    await one.check_page()
    await one.click("account number invalid", "link")
    assert "Account number is invalid" in await one.text()
    assert short_reference(reference) in await one.text()
    assert "left" in await one.text()
    await one.check_page()

    await one.open_section("Close the exception")
    await one.fill("Evidence", "It looks fine")
    await one.click("Close the exception")
    assert "CONCURRENCY_CONFLICT" in await one.page.get_by_role("alert").inner_text()
    assert one.page.url == f"{one.console_url}/payout-exceptions/{exception['id']}"
    assert await one.page.get_by_label("Evidence", exact=True).input_value() == "It looks fine"

    await one.open_section("Classify")
    await one.page.get_by_label("Severity", exact=True).select_option("SEV-1")
    await one.page.get_by_label("Cause", exact=True).select_option("bank_switch_error")
    await one.fill("Note", "<b>The bank</b> says that its switch was down")
    await one.click("Save the classification")
    assert await one.notice() == "The exception is classified."
    text = await one.text()
    assert "account number invalid → bank switch error" in text
    assert "<b>The bank</b> says that its switch was down" in text
    assert "Wait until the gateway reports the bank as up" in text

    await one.click("Ask the gateway")
    assert await one.notice() == "The gateway reports the transfer as failed."

    await report(market, reference, "succeed")

    async def closed() -> Any:
        shown = await market.get(f"/api/payout-exceptions/{exception['id']}", users.ops)
        return shown["status"] == "closed" or None

    await market.until("the end of the exception", closed, 60)
    await one.open(f"/payout-exceptions/{exception['id']}")
    assert "closed" in await one.heading()
    assert await one.page.get_by_role("button", name="Ask the gateway").count() == 0
    await one.check_page()


async def test_an_alert_opens_the_exception_that_it_is_about(
    visitor: Arrival, market: Marketplace, users: Users, failed: Any
) -> None:
    exception, reference = failed
    one = await visitor("ops")

    async def raised() -> Any:
        found = await market.get("/api/alerts", users.ops, params={"status": "open", "limit": 100})
        return next((alert for alert in found if alert["subject"] == exception["payoutId"]), None)

    alert = await market.until("the alert", raised, 60)
    await one.open("/alerts?status=open")
    await one.page.locator(f"main a[href='/alerts/{alert['id']}']").click()
    await one.check_page()
    await one.click("Acknowledge")
    assert await one.notice() == "The alert is acknowledged. It is not escalated."
    await one.open_section("Add a note…")
    await one.fill("Note", "<b>The bank</b> has the wrong number")
    await one.click("Add the note")
    history = await one.page.get_by_role("region", name="Alert", exact=True).inner_text()
    assert "Acknowledged by you" in history
    assert "<b>The bank</b> has the wrong number" in history
    # A step of the runbook leads to the page that carries it out.
    runbook = one.page.get_by_role("region", name="Runbook")
    step = runbook.get_by_role("listitem").filter(has_text="queries the gateway for the reference").first
    await step.get_by_role("link", name="Open here").first.click()
    assert one.page.url == f"{one.console_url}/payout-exceptions/{exception['id']}"
    assert exception["payoutNumber"] in await one.text()
    await one.click("Ask the gateway")
    history = await one.page.locator("section", has=one.page.get_by_role("heading", name="History")).last.inner_text()
    assert "Queried the gateway about every transfer of the payout." in history
    # Audits of other tests find a failed transfer that is open.
    await report(market, reference, "succeed")

    async def closed() -> bool | None:
        shown = await market.get(f"/api/payout-exceptions/{exception['id']}", users.ops)
        return shown["status"] == "closed" or None

    await market.until("the end of the exception", closed, 60)


@pytest_asyncio.fixture(loop_scope="session")
async def two_alerts(system: System) -> AsyncIterator[dict[str, str]]:
    """Yield the ids of two open alerts by their titles."""
    url = urlsplit(system.secrets["DATABASE_URL"])._replace(path="/campus_notifications").geturl()
    connection = await asyncpg.connect(url)
    alerts = {f"Drill {uuid4().hex[:8]}": uuid4() for _ in range(2)}
    for title, alert_id in alerts.items():
        await connection.execute(
            "INSERT INTO alerts (id, severity, title, detail, runbook, dedup_key, source, raised_at, last_raised_at) "
            "VALUES ($1, 'SEV-3', $2, 'A test', 'outbox-age', $2, 'orders', now(), now())",
            alert_id,
            title,
        )
    yield {title: str(alert_id) for title, alert_id in alerts.items()}
    await connection.execute("UPDATE alerts SET closed_at = now() WHERE id = ANY ($1)", list(alerts.values()))
    await connection.close()


async def test_several_alerts_are_acknowledged_at_once(
    visitor: Arrival, market: Marketplace, users: Users, two_alerts: dict[str, str]
) -> None:
    one = await visitor("ops")
    await one.open("/alerts?status=open")
    await one.open_section("Acknowledge several…")
    for title in two_alerts:
        await one.page.get_by_role("checkbox", name=title).check()
    await one.check_page()
    await one.click("Acknowledge the chosen alerts")
    assert await one.notice() == "2 alerts are acknowledged."
    for alert_id in two_alerts.values():
        assert (await market.get(f"/api/alerts/{alert_id}", users.ops))["acknowledgedAt"] is not None


async def test_lost_messages_are_discarded_on_the_page_of_their_alert(
    visitor: Arrival, market: Marketplace, users: Users, system: System, two_alerts: dict[str, str]
) -> None:
    alert_id, *_ = two_alerts.values()
    connection = await asyncpg.connect(
        urlsplit(system.secrets["DATABASE_URL"])._replace(path="/campus_notifications").geturl()
    )
    try:
        await connection.execute(
            "UPDATE alerts SET dedup_key = 'delivery-failed:sms:' || title, runbook = 'notification-not-delivered' "
            "WHERE id = $1",
            UUID(alert_id),
        )
    finally:
        await connection.close()
    one = await visitor("ops")
    await one.open(f"/alerts/{alert_id}")
    await one.open_section("Discard its messages…")
    await one.page.get_by_label("Reason").fill("The number does not exist")
    await one.check_page()
    await one.click("Discard")
    assert await one.notice() == "The messages are discarded. The alert is closed."
    assert "Messages discarded by you" in await one.text()
    assert (await market.get(f"/api/alerts/{alert_id}", users.ops))["closeReason"] == "The number does not exist"


async def test_every_runbook_is_a_page_of_the_console(visitor: Arrival) -> None:
    one = await visitor("ops")
    for path in sorted((DOCS / "runbooks").glob("*.md")):
        page = await one.fetch(f"/runbooks/{path.stem}")
        assert page.status == 200, path.stem
        assert not re.search(r"[a-z]Minor\b", await page.text()), path.stem
    await one.open("/runbooks/payout-exceptions")
    await one.check_page()
    # A step of another role names that role.
    steps = one.page.get_by_role("listitem").filter(has_text="POST /api/payouts/:id/reconciliations")
    assert "not for your role: finance maker may do it" in await steps.first.inner_text()
    text = await one.text()
    assert "not for your role: finance checker may do it" in text
    assert "staff on call may do it" not in text
    assert (await one.fetch("/runbooks/none")).status == 404


async def test_a_reset_sends_the_payout_again_and_closes_the_exception(
    visitor: Arrival, market: Marketplace, users: Users, failed: Any
) -> None:
    exception, _ = failed
    one = await visitor("ops")
    await one.open(f"/payout-exceptions/{exception['id']}")
    await one.open_section("Reset the payout")
    await one.fill("Reason for the reset", "The bank was down")
    await one.click("Send ₦500.00 again")
    assert "is sent by itself" in await one.notice()
    payout = await market.get(f"/api/payouts/{exception['payoutId']}", users.maker)
    assert (payout["retryCount"], payout["status"]) == (1, "pending")
    assert "closed" in await one.heading()


async def _unheard_webhook(market: Marketplace, system: System) -> str:
    """Deliver an event that the gateway does not document, and return its id."""
    event, number = f"unheard.{uuid4().hex[:12]}", uuid4().int % 2**40
    body = json.dumps({"event": event, "data": {"id": number}}).encode()
    response = await market.http.post("/functions/v1/gateway-webhook", content=body, headers=signed(system, body))
    assert response.status_code == 200
    return f"{event}:{number}"


async def test_a_dead_webhook_is_read_and_replayed(
    visitor: Arrival, market: Marketplace, users: Users, system: System
) -> None:
    key = await _unheard_webhook(market, system)
    letter_id = await insert_dead_webhook(system, key)
    one = await visitor("ops")
    await one.open("/dead-letters")
    assert "webhooks" in await one.text()
    await one.open(f"/dead-letter-webhooks?outcome=dead&eventId={key}")
    await one.page.locator(f"a[href='/dead-letter-webhooks/{letter_id}']").click()
    assert "a test" in await one.text()
    await one.check_page()
    await one.click("Replay")
    assert await one.notice() == "The event is queued again."

    async def processed() -> Any:
        found = await market.get("/api/dead-letter-webhooks", users.ops, params={"eventId": key})
        return found[0]["outcome"] == "ignored" or None

    await market.until("the end of the work", processed, 60)


async def test_the_closure_of_a_dead_webhook_needs_a_second_approval(
    visitor: Arrival, market: Marketplace, users: Users, system: System
) -> None:
    letter_id = await insert_dead_webhook(system, await _unheard_webhook(market, system))
    one = await visitor("ops")
    await one.open(f"/dead-letter-webhooks/{letter_id}")
    assert "two people close it" in await one.text()
    await one.open_section("Close without a replay…")
    await one.check_page()
    await one.fill("Reason", "<b>A test</b> of the gateway's dashboard")
    await one.click("Close")
    assert await one.notice() == "The closure is requested. Another person must close it, too."
    text = await one.text()
    assert "<b>A test</b> of the gateway's dashboard" in text
    assert "Requested by you." in text
    assert await one.page.get_by_role("button", name="Close", exact=True).count() == 0
    await one.check_page()
    await one.open("/me/actions")
    assert "dead letter closure requested" in (await one.text()).lower()


async def test_every_screen_on_call_is_accessible_and_shows_no_foreign_action(visitor: Arrival) -> None:
    one = await visitor("ops")
    for path in SCREENS:
        assert (await one.open(path)).status == 200, path
        await one.check_page()
    auditor = await visitor("auditor")
    for path in SCREENS:
        assert (await auditor.open(path)).status == 200, path
        assert await auditor.page.locator("main form[method=post]").count() == 0, path


async def test_the_health_page_shows_queues_and_outboxes(visitor: Arrival) -> None:
    one = await visitor("ops")
    await one.open("/system-health")
    queues = one.page.get_by_role("region", name="Queues")
    assert await queues.locator("tr", has_text="orders.payments").locator("td").last.inner_text() != "none"
    outboxes = await one.page.locator("section", has=one.page.get_by_role("heading", name="Outboxes")).last.inner_text()
    assert all(service in outboxes for service in ("identity", "orders", "payments", "payouts", "notifications"))
    assert "no response" not in outboxes
    await one.check_page()


async def test_support_reaches_no_screen_of_the_on_call_staff(visitor: Arrival) -> None:
    one = await visitor("support")
    for path in SCREENS:
        assert (await one.fetch(path)).status == 403, path
    await one.open("/")
    assert await one.page.get_by_role("link", name="Dead letters", exact=True).count() == 0
