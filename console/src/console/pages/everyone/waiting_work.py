"""The first page: the work that waits for the person, with its first items, and where the money is."""

import asyncio
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from markupsafe import Markup
from starlette.responses import Response

from common.primitives.clock import SystemClock
from console.api import ApiProblem, Json
from console.families import Screens
from console.formats import naira
from console.lists import Column, ListView, is_id
from console.live import event_stream, wants_events
from console.money import arrival_words
from console.pages.campus.applications import APPLICATIONS
from console.pages.finance.bank_accounts import RELEASES
from console.pages.finance.chargebacks import CHARGEBACKS
from console.pages.finance.goodwill import GOODWILL
from console.pages.finance.ledger import CASES, LEDGER
from console.pages.finance.payouts import BATCHES, PAYOUTS
from console.pages.finance.quarantine import CHARGES
from console.pages.finance.reconciliations import RECONCILIATIONS
from console.pages.finance.refunds import REFUNDS
from console.pages.finance.resolutions import RESOLUTIONS
from console.pages.finance.withdrawals import WITHDRAWALS
from console.pages.oncall.alerts import ALERTS
from console.pages.oncall.dead_letters import WEBHOOKS, dead_letters_of
from console.pages.oncall.exceptions import EXCEPTIONS
from console.pages.oncall.stops import READERS as STOP_READERS
from console.pages.oncall.stops import present_stops
from console.pages.platform.commissions import CHANGES
from console.pages.platform.factor_resets import RESETS
from console.pages.platform.grants import GRANTS
from console.pages.support.orders import ORDERS
from console.pages.support.pin_reissues import PIN_REISSUES
from console.pages.support.reports import REPORTS
from console.pages.support.returns import RETURNS
from console.pages.support.tickets import TICKETS
from console.pages.vendor.flash_sales import FLASH_SALES
from console.pages.vendor.orders import ORDERS as OWN_ORDERS
from console.pages.vendor.packing import PACKING
from console.visit import Visit
from console.work_counts import LastVisit, read_counts, rises, write_counts

SCREENS = Screens()

ITEMS_SHOWN: Final = 3
"""Enough to begin with; the card leads to the list of all."""


def _by_order(view: ListView) -> ListView:
    """Return the list with its rows named by their order; a charge that fits none has the name of its reference."""
    first, *others = view.columns
    named = replace(first, value=lambda row: row["orderNumber"] or row.get("reference") or "the order", kind="text")
    return replace(view, columns=(named, *others))


# The name of each kind of work, and the list that it is part of: a card shows the columns of that list.
WORK: Final[dict[str, tuple[str, ListView]]] = {
    "alerts": ("Open alerts", ALERTS),
    "bank_detail_releases_to_approve": ("Releases of accounts to approve", RELEASES),
    "chargebacks_to_answer": ("Chargebacks to answer", _by_order(CHARGEBACKS)),
    "commission_changes_to_approve": ("Commission changes to approve", CHANGES),
    "dead_letters": ("Dead letters", dead_letters_of("orders")),
    "dead_webhooks": ("Dead webhooks", WEBHOOKS),
    "dispute_resolutions_to_approve": ("Dispute resolutions to approve", _by_order(RESOLUTIONS)),
    "disputes_to_resolve": ("Disputes to resolve", ORDERS),
    "factor_resets_to_approve": ("Resets of second factors to approve", RESETS),
    "flash_sales_to_approve": ("Flash sales to approve", FLASH_SALES),
    "goodwill_refunds_to_approve": ("Goodwill refunds to approve", _by_order(GOODWILL)),
    "orders_to_dispatch": ("Orders to dispatch", OWN_ORDERS),
    "orders_to_pack": ("Orders to pack", PACKING),
    "payout_exceptions": ("Payout exceptions", EXCEPTIONS),
    "payout_runs_to_approve": ("Payout runs to approve", BATCHES),
    "payouts_to_dispatch": ("Payouts to dispatch", PAYOUTS),
    "pin_reissues_to_approve": ("Reissues of PINs to approve", _by_order(PIN_REISSUES)),
    "quarantined_charges_to_approve": ("Quarantined charges to approve", _by_order(CHARGES)),
    "quarantined_charges_to_prepare": ("Quarantined charges to prepare", _by_order(CHARGES)),
    "reconciliation_cases": ("Reconciliation cases", CASES),
    "reconciliations_to_approve": ("Reconciliations to approve", RECONCILIATIONS),
    "refunds_to_approve": ("Refunds to approve", REFUNDS),
    "refunds_to_prepare": ("Refunds to prepare", REFUNDS),
    # A report has no page of its own: its list decides it.
    "reports_to_decide": ("Reports to decide", replace(REPORTS, columns=REPORTS.columns[1:4])),
    "return_requests_to_decide": ("Return requests to decide", RETURNS),
    "staff_grants_to_approve": ("Staff grants to approve", GRANTS),
    "staff_grants_to_prepare": ("Proposed roles to decide", GRANTS),
    "tickets_to_answer": ("Tickets to answer", TICKETS),
    "vendor_applications_to_decide": ("Vendor applications to decide", APPLICATIONS),
    "withdrawals_to_approve": ("Withdrawals to approve", WITHDRAWALS),
    "withdrawals_to_prepare": ("Withdrawals to prepare", WITHDRAWALS),
}


@dataclass(frozen=True, slots=True)
class Item:
    """One row of a card."""

    title: Markup
    amount: str
    detail: str


@SCREENS.page("/", title="Waiting for me", menu="Waiting for me")
async def work_page(visit: Visit) -> Response:
    """Return a card for each kind of work, the most urgent first."""
    if wants_events(visit):
        return event_stream(visit, lambda: _live_counts(visit))
    rows, money = await asyncio.gather(visit.api.page("/api/work"), _money(visit))
    items = await asyncio.gather(*(_first_items(visit, one) for one in rows.items))
    cards = [
        {**one, "key": _key_of(one), "name": WORK[one["kind"]][0], "screen": screen_of(one["link"]), "items": first}
        for one, first in zip(rows.items, items, strict=True)
    ]
    stops = await present_stops(visit) if visit.may(*STOP_READERS) else []
    unavailable = rows.meta.get("unavailable") or []
    counts = _counts_of(rows.items)
    earlier = LastVisit(visit.request.headers.getlist("cookie"), visit.user.id, int(SystemClock().now().timestamp()))
    response = visit.render(
        "everyone/waiting_work.html",
        cards=cards,
        money=money,
        stops=stops,
        unavailable=unavailable,
        mark=write_counts(counts),
        changes=earlier.changes(counts),
    )
    earlier.keep(response, counts, is_secure=visit.console_url.startswith("https:"))
    return response


def _counts_of(items: list[Json]) -> dict[str, int]:
    return {_key_of(one): one["count"] for one in items}


def _key_of(work: Json) -> str:
    """Return the name of a card: its kind, and the service of dead letters, which each service has."""
    service = urlsplit(work["link"]).path.rpartition("/")[2] if work["kind"] == "dead_letters" else ""
    return f"{work['kind']}_{service}" if service else str(work["kind"])


async def _live_counts(visit: Visit) -> Json:
    """Return the present counts, and by how much they rose since the page was opened."""
    counts = _counts_of((await visit.api.page("/api/work")).items)
    seen = read_counts(visit.query.get("seen", ""))
    return {"new": sum(rises(counts, seen).values()), "counts": counts}


def screen_of(link: str) -> str:
    """Return the console's page for a list of the API: it has the same path, without `/api`."""
    path, _, query = link.replace("/api/v1/", "/api/", 1).removeprefix("/api").partition("?")
    return f"{path}?{query}" if query else path


async def _first_items(visit: Visit, work: Json) -> list[Item] | None:
    """Return the first rows of a kind of work; None where its list did not respond."""
    parts = urlsplit(work["link"])
    try:
        rows = await visit.api.page(parts.path, **{**dict(parse_qsl(parts.query)), "limit": ITEMS_SHOWN})
    except ApiProblem as problem:
        if problem.status < 500:
            raise
        return None
    return [_item(WORK[work["kind"]][1].columns, row) for row in rows.items[:ITEMS_SHOWN]]


def _item(columns: tuple[Column, ...], row: Json) -> Item:
    """Return title, amount and one detail of a row, from the columns of its list."""
    title = next((one for one in columns if one.link and one.of(row)), columns[0])
    amount = next((one for one in columns if one.kind == "naira" and one.of(row) is not None), None)
    texts = (str(one.of(row)) for one in columns if one.kind == "text" and one is not title and one.of(row))
    detail = next((text for text in texts if not is_id(text) and text != str(title.of(row))), "")
    return Item(title.cell(row), naira(amount.of(row)) if amount else "", detail)


# ---- Money in one line -----------------------------------------------------------------------------------------------

LEDGER_LINE: Final = (
    ("In escrow", "escrowMinor", "held until the PIN", "escrow"),
    ("Balances of buyers", "buyerBalancesMinor", "owed to buyers", "buyer_balance"),
    ("Refunds under way", "refundsMinor", "owed to buyers", "refund_payable"),
    ("Payable to vendors", "vendorPayableMinor", "in their wallets", "vendor_payable"),
    ("At the gateway", "gatewayMinor", "our money there", "gateway_cash"),
)
"""Name, field, meaning and kind of account of each amount, for those who read the ledger."""
WALLET_LINE: Final = (
    ("Held until delivery", "lockedMinor", "/wallet/expected"),
    ("Available", "availableMinor", "/wallet"),
    ("On its way to the bank", "inTransitMinor", "/wallet/payouts?status=pending"),
)


@dataclass(frozen=True, slots=True)
class Amount:
    name: str
    minor: int
    note: str
    screen: str


async def _money(visit: Visit) -> list[Amount] | None:
    """Return where the money is, as far as the person may see it; None where the amounts did not arrive."""
    try:
        return await _amounts(visit)
    except ApiProblem as problem:
        if problem.status < 500:
            raise
        return None


async def _amounts(visit: Visit) -> list[Amount]:
    """Return the amounts of the whole marketplace, or of the own shop; none for other people."""
    if visit.may(LEDGER):
        held: Json = await visit.api.get("/api/sales/balances")
        return [
            Amount(name, held[field], note, f"/ledger/accounts?account={kind}")
            for name, field, note, kind in LEDGER_LINE
        ]
    if visit.may("wallet:own"):
        wallet: Json = await visit.api.get("/api/wallets/current")
        reaches = arrival_words(wallet["arrival"])
        notes = {"availableMinor": f"at your bank {reaches}" if reaches else ""}
        return [Amount(name, wallet[field], notes.get(field, ""), screen) for name, field, screen in WALLET_LINE]
    return []
