"""Payout exceptions beside the steps of their runbook."""

from collections.abc import Sequence
from typing import Final

from starlette.responses import Response

from console.api import Json
from console.charts import bar_chart
from console.choices import api_values, choices
from console.families import Screens
from console.formats import spoken
from console.lists import Column, Filter, ListView, show_list, vendor_name
from console.money import payout_state
from console.pages.oncall.alerts import SEVERITIES
from console.parts import command, names_of
from console.roles import who_may
from console.visit import Visit

SCREENS = Screens()

EXCEPTION_READERS: Final = ("exceptions:read",)
CAUSES: Final = choices(*api_values("/api/payout-exceptions", "cause"))

EXCEPTIONS = ListView(
    "/api/payout-exceptions",
    columns=(
        Column("Severity", "severity", "badge"),
        Column("Respond", lambda one: None if one["closedAt"] else one["respondBy"], "left"),
        Column("Cause", lambda one: spoken(one["cause"]), link="/payout-exceptions/{id}"),
        Column("Amount", "amountMinor", "naira"),
        Column(
            "Of",
            lambda one: one["payoutNumber"] or "payout" if one["payoutId"] else "batch" if one["batchId"] else "vendor",
        ),
        Column("Vendor", vendor_name),
        Column("Opened", "openedAt", "time"),
        Column("Status", "status", "badge"),
        Column("Closed because", "closedBecause"),
    ),
    filters=(
        Filter("status", "Status"),
        Filter("severity", "Severity"),
        Filter("cause", "Cause"),
        Filter("payoutId", "Payout", kind="payout"),
        Filter("vendorId", "Vendor", kind="hidden"),
    ),
    empty=(
        "No payout failed. An exception opens by itself when a transfer fails, is reversed, or contradicts the ledger."
    ),
)

EXCEPTION_TABS: Final = (
    ("/payout-exceptions", "Exceptions"),
    ("/payout-exceptions/observations", "Observations"),
)


@SCREENS.page("/payout-exceptions", title="Payout exceptions", any_of=EXCEPTION_READERS, menu="Payout exceptions")
async def exceptions_page(visit: Visit) -> Response:
    return await show_list(visit, EXCEPTIONS, "oncall/tabbed_list.html", tabs_of_page=EXCEPTION_TABS)


@SCREENS.page("/payout-exceptions/observations", title="Payout failures", any_of=EXCEPTION_READERS)
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


@SCREENS.page("/payout-exceptions/of/{id:uuid}", title="Payout exceptions", any_of=EXCEPTION_READERS)
async def exception_of_subject(visit: Visit) -> Response:
    """Open the exception of a payout, vendor or batch, which an alert names; the list where it is closed."""
    subject_id = visit["id"]
    async for one in visit.api.every_row("/api/payout-exceptions", status="open"):
        if subject_id in (one["payoutId"], one["vendorId"] if not one["payoutId"] else None, one["batchId"]):
            return visit.go(f"/payout-exceptions/{one['id']}")
    return visit.go("/payout-exceptions?status=closed", "The exception of this alert is closed.")


@SCREENS.page("/payout-exceptions/{id:uuid}", title="Payout exception", any_of=EXCEPTION_READERS)
async def exception_page(visit: Visit) -> Response:
    """Return the exception beside the steps of its runbook, each with the button that carries it out."""
    exception: Json = await visit.api.get(f"/api/payout-exceptions/{visit['id']}")
    payout = None
    if exception["payoutId"] and visit.may("payouts:read"):
        payout = await visit.api.get(f"/api/payouts/{exception['payoutId']}")
    return visit.render(
        "oncall/exception.html",
        title=f"Payout exception: {spoken(exception['cause'])}",
        exception=exception,
        payout=payout,
        state=payout_state(payout) if payout else None,
        who_may=who_may,
        severities=choices(*SEVERITIES),
        causes=CAUSES,
        steps=runbook_steps(exception["cause"]),
        names=await names_of(visit, *(act["by"] for act in exception["acts"])),
    )


@SCREENS.action("/payout-exceptions/{id:uuid}/query", any_of=("exceptions:classify",), page=exception_page)
async def query_gateway(visit: Visit) -> Response:
    """Ask the gateway about every transfer of the payout."""
    exception: Json = await visit.api.post(f"/api/payout-exceptions/{visit['id']}/query")
    status = (exception["transfer"] or {}).get("status")
    result = f"The gateway reports the transfer as {spoken(status)}." if status else "The gateway was asked."
    closed = " The exception is closed by it." if exception["status"] == "closed" else ""
    return visit.go(f"/payout-exceptions/{visit['id']}", result + closed)


@SCREENS.action("/payout-exceptions/{id:uuid}/classify", any_of=("exceptions:classify",), page=exception_page)
async def classify_exception(visit: Visit) -> Response:
    body = {name: visit.form[name] for name in ("severity", "cause", "note")}
    return await command(visit, body, "The exception is classified.")


@SCREENS.action("/payout-exceptions/{id:uuid}/reset", any_of=("payouts:reset",), page=exception_page)
async def reset_payout(visit: Visit) -> Response:
    """Send the payout again under a new reference."""
    exception: Json = await visit.api.get(f"/api/payout-exceptions/{visit['id']}")
    payout: Json = await visit.api.post(f"/api/payouts/{exception['payoutId']}/reset", {"reason": visit.form["reason"]})
    notice = f"Attempt {payout['retryCount'] + 1} of the payout is prepared. It is sent by itself after a wait."
    return visit.go(f"/payout-exceptions/{visit['id']}", notice)


@SCREENS.action("/payout-exceptions/{id:uuid}/close", any_of=("exceptions:classify",), page=exception_page)
async def close_exception(visit: Visit) -> Response:
    return await command(visit, {"evidence": visit.form["evidence"]}, "The exception is closed.")


_BY_CAUSE: Final = {
    "details": (
        "The bank rejected the account. The vendor was asked by mail for other bank details.",
        "A finance maker quarantines the bank details. The money returns to the wallet as soon as the gateway confirms "
        "that the transfer failed.",
    ),
    "switch": (
        "Wait until the gateway reports the bank as up. Send nothing by hand: a later success of the same "
        "reference would pay twice.",
        "When the gateway confirms that the transfer failed, send it again with the button below. At most three times.",
    ),
    "reversed": (
        "A finance maker prepares a reconciliation of the payout, another person of finance approves it. The wallet is "
        "credited, and the exception closes by itself.",
    ),
    "balance": (
        "Nothing of the batch was sent: every payout of it still waits.",
        "Compare the balance with the gateway's dashboard, and run the audit. Does the ledger explain the "
        "difference? If not, stop all dispatches.",
        "Finance tops up the balance, or dispatches a part. Then close the exception with what was done.",
    ),
    "credit": (
        "A wallet credit has no release in the payments ledger, or its statement is late. The vendor's payouts wait.",
        "Look for dead letters of payments and payouts and replay them. Run the audit afterwards: it must be clean.",
    ),
    "contradicted": (
        "The gateway reports a transfer as paid whose money was returned or paid by another transfer. The amount is "
        "held, and the vendor's payouts wait.",
        "Ask the gateway in writing which references it paid. A finance maker prepares a reconciliation, another "
        "person of finance approves it. The exception closes by itself.",
    ),
    "unclassified": (
        (
            "Read the gateway's text and the history, then classify the exception above. The steps for its cause "
            "appear here."
        ),
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
    "transfer_contradicted": "contradicted",
}


def runbook_steps(cause: str) -> Sequence[str]:
    """Return what `docs/runbooks/payout-exceptions.md` says for a cause."""
    return _BY_CAUSE[_KINDS.get(cause, "unclassified")]
