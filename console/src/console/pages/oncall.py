"""Screens of the people on call: alerts, payout exceptions with their runbook, dead letters, health of the services."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from starlette.responses import Response

from common.observability.logging import REQUEST_ID
from console.api import ApiProblem, Json, Rows
from console.charts import bar_chart
from console.families import Family
from console.formats import instant, spoken
from console.lists import Column, Filter, ListView, choices, show_list
from console.visit import Visit

FAMILY = Family("On-call", order=40)

SERVICES: Final = ("identity", "orders", "payments", "payouts", "notifications")
SEVERITIES: Final = ("SEV-1", "SEV-2", "SEV-3")
RESPOND_WITHIN: Final = {
    "SEV-1": timedelta(minutes=15),
    "SEV-2": timedelta(hours=1),
    "SEV-3": timedelta(hours=4),
}
"""The specification's times to respond, counted from the first report."""

# The screen on which an alert with this runbook is worked on.
_SCREENS: Final = {
    "payout-exceptions": "/payout-exceptions?status=open",
    "credit-not-released": "/payout-exceptions?status=open",
    "payout-failure-rate": "/payout-exceptions/observations",
    "dead-letters": "/dead-letters",
    "unproven-publisher": "/dead-letters",
    "dead-letter-webhooks": "/dead-letter-webhooks?outcome=dead",
    "gateway-settlement": "/reconciliation-cases?status=open",
    "unexplained-kobo": "/reconciliation-cases?status=open",
}


def alert_deadline(alert: Json) -> str | None:
    """When an open alert has to be responded to; None for a closed one."""
    raised = instant(alert["raisedAt"])
    if alert["closedAt"] or raised is None:
        return None
    return (raised + RESPOND_WITHIN[alert["severity"]]).isoformat()


def alert_screen(alert: Json) -> str:
    """The page on which the alert is worked on; empty where only its runbook helps."""
    return _SCREENS.get(alert["runbook"], "")


ALERTS = ListView(
    "/api/alerts",
    columns=(
        Column("Severity", "severity", "badge"),
        Column("Respond", alert_deadline, "left"),
        Column("Alert", "title", link=alert_screen),
        Column("Detail", "detail"),
        Column("Raised", "raisedAt", "ago"),
        Column("Closed", "closedAt", "ago"),
        Column("Runbook", lambda alert: f"{alert['runbook']}.md"),
    ),
    filters=(Filter("status", "Status", choices("open", "closed")),),
    empty="No alert was raised. Alerts appear here by themselves, and are sent to the people on call.",
    fixed={"sort": "severity", "order": "desc"},
)


@FAMILY.page("/alerts", title="Alerts", any_of=("alerts:read",), menu="Alerts")
async def alerts_page(visit: Visit) -> Response:
    return await show_list(visit, ALERTS, "oncall/alerts.html")


# Payout exceptions

EXCEPTION_READERS: Final = ("exceptions:read",)
CAUSES: Final = (
    "balance_insufficient",
    "bank_switch_error",
    "timeout",
    "account_number_invalid",
    "name_mismatch",
    "bank_details_changed",
    "reversed",
    "credit_not_released",
    "release_statement_late",
    "unclassified",
)

EXCEPTIONS = ListView(
    "/api/payout-exceptions",
    columns=(
        Column("Severity", "severity", "badge"),
        Column("Respond", lambda one: None if one["closedAt"] else one["respondBy"], "left"),
        Column("Cause", lambda one: spoken(one["cause"]), link="/payout-exceptions/{id}"),
        Column("Amount", "amountMinor", "naira"),
        Column("Of", lambda one: "payout" if one["payoutId"] else "batch" if one["batchId"] else "vendor"),
        Column("Vendor", "vendorId", "id"),
        Column("Opened", "openedAt", "time"),
        Column("Status", "status", "badge"),
        Column("Closed because", "closedBecause"),
    ),
    filters=(
        Filter("status", "Status", choices("open", "closed")),
        Filter("severity", "Severity", choices(*SEVERITIES)),
        Filter("cause", "Cause", choices(*CAUSES)),
        Filter("payoutId", "Payout"),
    ),
    empty="No payout failed. An exception opens by itself when a transfer fails, is reversed, or contradicts the ledger.",
)

EXCEPTION_TABS: Final = (
    ("/payout-exceptions", "Exceptions"),
    ("/payout-exceptions/observations", "Observations"),
)


@FAMILY.page("/payout-exceptions", title="Payout exceptions", any_of=EXCEPTION_READERS, menu="Payout exceptions")
async def exceptions_page(visit: Visit) -> Response:
    return await show_list(visit, EXCEPTIONS, "oncall/tabbed_list.html", tabs_of_page=EXCEPTION_TABS)


@FAMILY.page("/payout-exceptions/observations", title="Payout failures", any_of=EXCEPTION_READERS)
async def observations_page(visit: Visit) -> Response:
    """How many transfers of the window failed, by severity and cause."""
    seen: Json = await visit.api.get("/api/payout-exceptions/observations")
    by_severity = [(severity, seen["bySeverity"].get(severity, 0)) for severity in SEVERITIES]
    by_cause = sorted(
        ((spoken(cause), cause, count) for cause, count in seen["byCause"].items() if count),
        key=lambda row: (-row[2], row[0]),
    )
    return visit.render(
        "oncall/observations.html",
        seen=seen,
        by_cause=by_cause,
        rate=f"{seen['failureRate'] * 100:.1f} %",
        charts=(
            bar_chart(by_severity, "Exceptions by severity"),
            bar_chart([(words, count) for words, _, count in by_cause], "Exceptions by cause"),
        ),
        tabs_of_page=EXCEPTION_TABS,
    )


@FAMILY.page("/payout-exceptions/{id:uuid}", title="Payout exception", any_of=EXCEPTION_READERS)
async def exception_page(visit: Visit) -> Response:
    """The exception beside the steps of its runbook, each with the button that carries it out."""
    exception: Json = await visit.api.get(f"/api/payout-exceptions/{visit['id']}")
    payout = None
    if exception["payoutId"] and visit.may("payouts:read"):
        payout = await visit.api.get(f"/api/payouts/{exception['payoutId']}")
    return visit.render(
        "oncall/exception.html",
        title=f"Payout exception: {spoken(exception['cause'])}",
        exception=exception,
        payout=payout,
        severities=choices(*SEVERITIES),
        causes=choices(*CAUSES),
        steps=runbook_steps(exception["cause"]),
    )


@FAMILY.action("/payout-exceptions/{id:uuid}/query", any_of=("exceptions:classify",), page=exception_page)
async def query_gateway(visit: Visit) -> Response:
    """Ask the gateway about every transfer of the payout."""
    exception: Json = await visit.api.post(f"/api/payout-exceptions/{visit['id']}/query")
    status = (exception["transfer"] or {}).get("status")
    result = f"The gateway reports the transfer as {spoken(status)}." if status else "The gateway was asked."
    closed = " The exception is closed by it." if exception["status"] == "closed" else ""
    return visit.go(f"/payout-exceptions/{visit['id']}", result + closed)


@FAMILY.action("/payout-exceptions/{id:uuid}/classify", any_of=("exceptions:classify",), page=exception_page)
async def classify_exception(visit: Visit) -> Response:
    body = {name: visit.form[name] for name in ("severity", "cause", "note")}
    await visit.api.post(f"/api/payout-exceptions/{visit['id']}/classify", body)
    return visit.go(f"/payout-exceptions/{visit['id']}", "The exception is classified.")


@FAMILY.action("/payout-exceptions/{id:uuid}/reset", any_of=("payouts:reset",), page=exception_page)
async def reset_payout(visit: Visit) -> Response:
    """Send the payout again under a new reference."""
    exception: Json = await visit.api.get(f"/api/payout-exceptions/{visit['id']}")
    payout: Json = await visit.api.post(f"/api/payouts/{exception['payoutId']}/reset", {"reason": visit.form["reason"]})
    notice = f"Attempt {payout['retryCount'] + 1} of the payout is prepared. It is sent by itself after a wait."
    return visit.go(f"/payout-exceptions/{visit['id']}", notice)


@FAMILY.action("/payout-exceptions/{id:uuid}/close", any_of=("exceptions:classify",), page=exception_page)
async def close_exception(visit: Visit) -> Response:
    await visit.api.post(f"/api/payout-exceptions/{visit['id']}/close", {"evidence": visit.form["evidence"]})
    return visit.go(f"/payout-exceptions/{visit['id']}", "The exception is closed.")


_BY_CAUSE: Final = {
    "details": (
        "The bank rejected the account. The vendor was asked by mail for other bank details.",
        "A finance maker quarantines the bank details. The money returns to the wallet as soon as the gateway confirms "
        "that the transfer failed.",
    ),
    "switch": (
        "Wait until the gateway reports the bank as up. Send nothing by hand meanwhile: a later success of the same "
        "reference would pay twice.",
        "When the gateway confirms that the transfer failed, send it again with the button below. At most three times.",
    ),
    "reversed": (
        "A finance maker prepares a reconciliation of the payout, another person of finance approves it. The wallet is "
        "credited, and the exception closes by itself.",
    ),
    "balance": (
        "Nothing of the batch was sent: every payout of it still waits.",
        "Compare the balance with the gateway's dashboard, and run the audit. Does the ledger explain the difference? If "
        "not, stop all dispatches.",
        "Finance tops up the balance, or dispatches a part. Then close the exception with what was done.",
    ),
    "credit": (
        "A wallet credit has no release in the payments ledger, or its statement is late. The vendor's payouts wait.",
        "Look for dead letters of payments and payouts and replay them. Run the audit afterwards: it must be clean.",
    ),
    "unclassified": (
        "Read the gateway's text and the history, then classify the exception above. The steps for its cause appear here.",
    ),
}
_KINDS: Final = {
    "account_number_invalid": "details",
    "name_mismatch": "details",
    "bank_details_changed": "details",
    "bank_switch_error": "switch",
    "timeout": "switch",
    "reversed": "reversed",
    "balance_insufficient": "balance",
    "credit_not_released": "credit",
    "release_statement_late": "credit",
}


def runbook_steps(cause: str) -> Sequence[str]:
    """What `docs/runbooks/payout-exceptions.md` says for a cause."""
    return _BY_CAUSE[_KINDS.get(cause, "unclassified")]


# Dead letters

DEAD_LETTER_READERS: Final = ("dead_letters:read",)
DEAD_LETTER_TABS: Final = (
    ("/dead-letters", "Overview"),
    *((f"/dead-letters/{service}", service.capitalize()) for service in SERVICES),
    ("/dead-letter-webhooks", "Gateway webhooks"),
)


def _dead_letters_of(service: str) -> ListView:
    return ListView(
        f"/api/dead-letters/{service}",
        columns=(
            Column("Message", "eventType", link=f"/dead-letters/{service}/{{id}}"),
            Column("Error", "error"),
            Column("Attempts", "attempts", "number"),
            Column("Failed", "failedAt", "time"),
            Column("Replayed", "replayedAt", "time"),
        ),
        filters=(Filter("awaiting", "Awaiting", choices("replay")),),
        empty=f"No message of {service} failed for good.",
    )


WEBHOOKS = ListView(
    "/api/dead-letter-webhooks",
    columns=(
        Column("Event", "eventType", link="/dead-letter-webhooks/{id}"),
        Column("Key", "eventId"),
        Column("Error", "error"),
        Column("Attempts", "attempts", "number"),
        Column("Failed", "failedAt", "time"),
        Column("Outcome", "outcome", "badge"),
        Column("Replayed", "replayedAt", "time"),
    ),
    filters=(
        Filter("outcome", "Outcome", choices("dead", "queued", "done", "ignored")),
        Filter("eventType", "Event"),
        Filter("eventId", "Key", kind="search"),
    ),
    empty="No event of the payment gateway failed for good.",
)


@FAMILY.page("/dead-letters", title="Dead letters", any_of=DEAD_LETTER_READERS, menu="Dead letters")
async def dead_letters_overview(visit: Visit) -> Response:
    """Messages that wait for a replay, by service."""
    return visit.render(
        "oncall/dead_letters.html", counts=await _count_dead_letters(visit), tabs_of_page=DEAD_LETTER_TABS
    )


@FAMILY.page("/dead-letters/{service}", title="Dead letters", any_of=DEAD_LETTER_READERS)
async def dead_letters_page(visit: Visit) -> Response:
    view = _dead_letters_of(_service_of(visit))
    return await show_list(visit, view, "oncall/tabbed_list.html", tabs_of_page=DEAD_LETTER_TABS)


@FAMILY.page("/dead-letters/{service}/{id:uuid}", title="Dead letter", any_of=DEAD_LETTER_READERS)
async def dead_letter_page(visit: Visit) -> Response:
    service = _service_of(visit)
    dead_letter = await _find_dead_letter(visit, f"/api/dead-letters/{service}")
    path = f"/dead-letters/{service}/{dead_letter['id']}"
    return visit.render("oncall/dead_letter.html", dead_letter=dead_letter, path=path, steps=_DEAD_LETTER_STEPS)


@FAMILY.action("/dead-letters/{service}/{id:uuid}/replay", any_of=("webhooks:replay",), page=dead_letter_page)
async def replay_dead_letter(visit: Visit) -> Response:
    service = _service_of(visit)
    await visit.api.post(f"/api/dead-letters/{service}/{visit['id']}/replay")
    return visit.go(f"/dead-letters/{service}", "The message is queued again.")


@FAMILY.page("/dead-letter-webhooks", title="Dead webhooks", any_of=DEAD_LETTER_READERS)
async def webhooks_page(visit: Visit) -> Response:
    return await show_list(visit, WEBHOOKS, "oncall/tabbed_list.html", tabs_of_page=DEAD_LETTER_TABS)


@FAMILY.page("/dead-letter-webhooks/{id:uuid}", title="Dead webhook", any_of=DEAD_LETTER_READERS)
async def webhook_page(visit: Visit) -> Response:
    dead_letter = await _find_dead_letter(visit, "/api/dead-letter-webhooks")
    path = f"/dead-letter-webhooks/{dead_letter['id']}"
    return visit.render("oncall/dead_letter.html", dead_letter=dead_letter, path=path, steps=_WEBHOOK_STEPS)


@FAMILY.action("/dead-letter-webhooks/{id:uuid}/replay", any_of=("webhooks:replay",), page=webhook_page)
async def replay_webhook(visit: Visit) -> Response:
    result: Json = await visit.api.post(f"/api/dead-letter-webhooks/{visit['id']}/replay")
    done = "The event is queued again." if result["requeued"] else "The event was processed meanwhile: nothing changed."
    return visit.go("/dead-letter-webhooks", done)


_DEAD_LETTER_STEPS: Final = (
    "Read the error. It names the fault, never the content of the message.",
    "PermanentFault: the publisher broke its contract, or the consumer was released too late. Correct the code first.",
    "Anything else: mend the cause first, such as a provider that was down or a missing row.",
)
_WEBHOOK_STEPS: Final = (
    "Money may have moved at the gateway without an entry in our ledger.",
    "Look the event's reference up at the gateway: is the money there?",
    "Mend the cause.",
)


async def _find_dead_letter(visit: Visit, path: str) -> Json:
    """A dead letter by its id: the API only lists them. Raises ApiProblem (404)."""
    async for dead_letter in visit.api.every_row(path):
        if dead_letter["id"] == visit["id"]:
            return dead_letter
    raise ApiProblem(404, {"code": "RESOURCE_NOT_FOUND"}, REQUEST_ID.get())


def _service_of(visit: Visit) -> str:
    service = visit["service"]
    if service not in SERVICES:
        raise ApiProblem(404, {"code": "RESOURCE_NOT_FOUND"}, REQUEST_ID.get())
    return service


async def _count_dead_letters(visit: Visit) -> list[Json]:
    """A row for each service and for the gateway's webhooks: how many wait for a replay, and since when."""
    calls = [
        _oldest(visit, f"/api/dead-letters/{service}", f"/dead-letters/{service}", awaiting="replay")
        for service in SERVICES
    ]
    calls.append(_oldest(visit, "/api/dead-letter-webhooks", "/dead-letter-webhooks", outcome="dead"))
    names = (*SERVICES, "gateway webhooks")
    rows = await asyncio.gather(*calls)
    return [{"name": name, **row} for name, row in zip(names, rows, strict=True)]


async def _oldest(visit: Visit, path: str, screen: str, **parameters: str) -> Json:
    (filter_name, word), *_ = parameters.items()
    link = f"{screen}?{filter_name}={word}"
    try:
        rows: Rows = await visit.api.page(path, limit=1, order="asc", **parameters)
    except ApiProblem as problem:
        if problem.status < 500:
            raise
        return {"count": None, "oldestAt": None, "link": link}
    return {"count": rows.total, "oldestAt": rows.items[0]["failedAt"] if rows.items else None, "link": link}


# Health


@FAMILY.page("/system-health", title="Health of the system", any_of=("alerts:read",), menu="System health")
async def health_page(visit: Visit) -> Response:
    """Services as the gateway reaches them, open alerts, and messages that wait for a replay."""
    health, alerts, dead_letters = await asyncio.gather(
        _health(visit),
        visit.api.page("/api/alerts", status="open", sort="severity", order="desc", limit=100),
        _count_dead_letters(visit) if visit.may(*DEAD_LETTER_READERS) else _nothing(),
    )
    by_severity = [(one, sum(alert["severity"] == one for alert in alerts.items)) for one in SEVERITIES]
    # Queues, lag and pools are measured by the monitoring, which raises alerts about them.
    of_queues = [alert for alert in alerts.items if alert["source"] not in SERVICES]
    return visit.render(
        "oncall/health.html", health=health, by_severity=by_severity, dead_letters=dead_letters, of_queues=of_queues,
        alert_columns=ALERTS.columns[:5],
    )  # fmt: skip


async def _health(visit: Visit) -> Json:
    try:
        found: Json = await visit.api.get("/health/readiness")
    except ApiProblem as problem:
        return {"status": "not ready", "services": {}, "detail": problem.detail}
    return found


async def _nothing() -> list[Json]:
    return []
