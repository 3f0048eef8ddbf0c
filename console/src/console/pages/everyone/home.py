"""Screens of everybody: what waits, search, one's own acts."""

from typing import Final
from urllib.parse import urlsplit

from starlette.responses import Response

from common.primitives.public_numbers import NumberKind, kind_of_number
from console.api import ApiProblem, Json
from console.families import Screens
from console.formats import spoken
from console.lists import Column, Filter, ListView, show_list
from console.visit import Visit

SCREENS = Screens()

WORK_NAMES: Final = {
    "alerts": "Open alerts",
    "bank_detail_releases_to_approve": "Releases of accounts to approve",
    "chargebacks_to_answer": "Chargebacks to answer",
    "commission_changes_to_approve": "Commission changes to approve",
    "staff_grants_to_approve": "Staff grants to approve",
    "dead_letters": "Dead letters",
    "dead_webhooks": "Dead webhooks",
    "disputes_to_resolve": "Disputes to resolve",
    "dispute_resolutions_to_approve": "Dispute resolutions to approve",
    "flash_sales_to_approve": "Flash sales to approve",
    "orders_to_dispatch": "Orders to dispatch",
    "payout_exceptions": "Payout exceptions",
    "payouts_to_dispatch": "Payouts to dispatch",
    "quarantined_charges_to_prepare": "Quarantined charges to prepare",
    "refunds_to_prepare": "Refunds to prepare",
    "quarantined_charges_to_approve": "Quarantined charges to approve",
    "refunds_to_approve": "Refunds to approve",
    "reconciliations_to_approve": "Reconciliations to approve",
    "reconciliation_cases": "Reconciliation cases",
    "reports_to_decide": "Reports to decide",
    "return_requests_to_decide": "Return requests to decide",
    "tickets_to_answer": "Tickets to answer",
    "vendor_applications_to_decide": "Vendor applications to decide",
}


@SCREENS.page("/", title="Waiting for me", menu="Waiting for me")
async def work_page(visit: Visit) -> Response:
    rows = await visit.api.page("/api/work")
    items = [
        {**item, "name": WORK_NAMES.get(item["kind"], item["kind"]), "screen": _screen(item["link"])}
        for item in rows.items
    ]
    return visit.render("everyone/work.html", items=items, unavailable=rows.meta.get("unavailable") or [])


def _screen(link: str) -> str:
    """Return the console's page for a list of the API: it has the same path, without `/api`."""
    parts = urlsplit(link)
    path = parts.path.replace("/api/v1/", "/api/", 1)
    screen = path.removeprefix("/api")
    return f"{screen}?{parts.query}" if parts.query else screen


@SCREENS.page("/search", title="Search")
async def search_page(visit: Visit) -> Response:
    """Orders by number, id, mail address or phone; the number of a payout or ticket leads to its page."""
    text = visit.query.get("q", "").strip()
    orders: list[Json] = []
    try:
        kind = kind_of_number(text)
        if kind in _NUMBERED and (named := (await visit.api.page(_NUMBERED[kind], number=text)).items):
            return visit.go(f"{_NUMBERED[kind].removeprefix('/api')}/{named[0]['id']}")
        if text and visit.may("orders:read", "campus_orders:read"):
            orders = (await visit.api.page("/api/campus-orders", q=text)).items
        elif text:
            orders = (await visit.api.page("/api/orders", q=text, **{"as": "vendor"})).items
    except ApiProblem as problem:
        if problem.status not in (403, 404, 422):
            raise
    if len(orders) == 1:
        return visit.go(f"/orders/{orders[0]['id']}")
    return visit.render("everyone/search.html", text=text, orders=orders)


# The lists that find a number for people; a screen has the path of its list.
_NUMBERED: Final = {NumberKind.PAYOUT: "/api/payouts", NumberKind.TICKET: "/api/support-tickets"}

SESSIONS = ListView(
    "/api/auth/sessions",
    columns=(
        Column("Signed in", "signedInAt", "time"),
        Column("Last used", "lastUsedAt", "ago"),
        Column("With", "method"),
        Column("Browser", lambda session: (session.get("userAgent") or "")[:80]),
        Column("This one", lambda session: "yes" if session.get("current") else ""),
    ),
    empty="No session is open.",
)


@SCREENS.page("/me", title="My account")
async def me_page(visit: Visit) -> Response:
    """Who I am, what I may do, where I am signed in."""
    return await show_list(visit, SESSIONS, "everyone/me.html")


_SUBJECT_SCREENS: Final = {
    "order": "/orders/{}",
    "refund": "/refunds/{}",
    "quarantined_charge": "/quarantined-charges/{}",
    "chargeback": "/chargebacks/{}",
    "reconciliation_case": "/reconciliation-cases/{}",
    "payout_batch": "/payout-batches/{}",
    "payout_exception": "/payout-exceptions/{}",
    "payout": "/payouts/{}",
    "reconciliation": "/reconciliations/{}",
    "person": "/staff/{}",
    "vendor": "/vendors/{}",
}


def _subject_screen(action: Json) -> str:
    return _SUBJECT_SCREENS.get(action["subjectKind"], "").format(action["subjectId"])


ACTIONS = ListView(
    "/api/staff-acts/current",
    columns=(
        Column("When", "createdAt", "time"),
        Column("Action", lambda one: spoken(one["act"])),
        Column("On", lambda one: spoken(one["subjectKind"])),
        Column("Id", "subjectId", "id", link=_subject_screen),
        Column("Detail", lambda one: ", ".join(f"{spoken(name)}: {value}" for name, value in one["detail"].items())),
    ),
    filters=(Filter("before", "Before", kind="date"),),
    empty="You have decided, granted, sent or cancelled nothing yet.",
    is_paged=False,
)


@SCREENS.page("/me/actions", title="My actions")
async def own_actions_page(visit: Visit) -> Response:
    """Return the newest actions of the user in all services."""
    return await show_list(visit, ACTIONS)


@SCREENS.action("/me/recovery-codes", page=me_page)
async def renew_recovery_codes(visit: Visit) -> Response:
    """Show new recovery codes once; the former ones are void."""
    renewed = await visit.api.post("/api/auth/mfa/recovery-codes")
    return visit.render("everyone/recovery_codes.html", title="Recovery codes", codes=renewed["codes"])


@SCREENS.action("/me/sign-out-everywhere", page=me_page)
async def sign_out_everywhere(visit: Visit) -> Response:
    await visit.api.post("/api/auth/logout-all")
    visit.session.end()
    return visit.go("/sign-in", "All your sessions have ended.")
