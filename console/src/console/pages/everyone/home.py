"""Screens of everybody: search, one's own acts."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode
from uuid import UUID

from starlette.responses import Response

from common.primitives.public_numbers import NumberKind, kind_of_number
from console.api import ApiProblem, Json
from console.families import Screens
from console.formats import spoken
from console.lists import Column, Filter, ListView, account, is_id, show_list
from console.messages import detail_words
from console.money import payout_state
from console.visit import Visit

SCREENS = Screens()


@SCREENS.page("/search", title="Search")
async def search_page(visit: Visit) -> Response:
    """Find what a text names, within the person's permissions: one match opens its page."""
    text = visit.query.get("q", "").strip()
    if not text:
        return visit.render("everyone/search.html", text="", found=[], hidden=[])
    found, hidden = await _found(visit, text)
    if len(found) == 1:
        return visit.go(found[0].path)
    full_list = _full_list(visit, text, found[0]) if len(found) >= MATCHES_MAX else None
    return visit.render("everyone/search.html", text=text, found=found, hidden=hidden, full_list=full_list)


MATCHES_MAX: Final = 20
"""The rows of the API's first page, which the search shows; a list has the others."""


def _full_list(visit: Visit, text: str, first: "Match") -> str:
    """Return the list with all matches of a search; empty where the person has no such list."""
    if first.path.startswith("/payouts/"):
        parameter = "vendorName" if kind_of_number(text) is None else "number"
        return f"/payouts?{urlencode({parameter: text})}"
    return f"/campus-orders?{urlencode({'q': text})}" if visit.may("orders:read", "campus_orders:read") else ""


@dataclass(frozen=True, slots=True)
class Match:
    """One resource that a search found."""

    path: str
    name: str
    status: str
    amount_minor: int | None
    details: tuple[str | None, ...]
    created_at: str


async def _found(visit: Visit, text: str) -> tuple[list[Match], list[str]]:
    """Return the matches, and the kinds of resources that the person may not see."""
    kind = kind_of_number(text)
    if kind is NumberKind.PAYOUT:
        return await _search(visit, "payouts", _payouts, number=text)
    if kind is NumberKind.TICKET:
        return await _search(visit, "tickets", _tickets, number=text)
    if (reference := _REFERENCE.fullmatch(text)) is not None:
        return await _search(visit, *_KINDS_OF_REFERENCES[reference[1]], reference=text)
    finder = _buyers if _ADDRESS.fullmatch(text) and visit.may("orders:read") else _orders
    found, hidden = await _search(visit, "orders", finder, q=_international(text))
    # An id names a resource of any kind; a name may be a vendor's.
    if not found and kind is None and visit.may("payouts:read", "wallet:own"):
        found, _ = await _search(
            visit, "payouts", _payouts, **({"number": text} if is_id(text) else {"vendorName": text})
        )
    return found, hidden


Finder = Callable[..., Awaitable[list[Match]]]


async def _search(visit: Visit, kind: str, finder: Finder, **parameters: str) -> tuple[list[Match], list[str]]:
    try:
        return await finder(visit, **parameters), []
    except ApiProblem as problem:
        if problem.status not in (403, 404, 422):
            raise
        return [], [kind] if problem.status == 403 else []


async def _orders(visit: Visit, **parameters: str) -> list[Match]:
    if visit.may("orders:read", "campus_orders:read"):
        rows = await visit.api.page("/api/campus-orders", **parameters)
    elif visit.may("charged_orders:read"):
        rows = await visit.api.page("/api/orders", **parameters)
    elif visit.may("orders:fulfil"):
        rows = await visit.api.page("/api/orders", **parameters, **{"as": "vendor"})
    elif visit.may("orders:verify"):
        rows = await visit.api.page("/api/orders", **parameters, **{"as": "hub"})
    else:
        raise ApiProblem(403, {})
    page = (
        "/orders/{}" if visit.may("orders:read", "campus_orders:read", "charged_orders:read") else "/orders/{}/fulfil"
    )
    return [
        Match(
            page.format(one["id"]),
            one["number"],
            one["status"],
            one["totalMinor"],
            (one["buyerName"], one["vendorName"]),
            one["createdAt"],
        )
        for one in rows.items
    ]


async def _buyers(visit: Visit, **parameters: str) -> list[Match]:
    """Return the buyers with this mail address or phone number, by their newest order."""
    newest: dict[str, Json] = {}
    for one in (await visit.api.page("/api/campus-orders", **parameters)).items:
        newest.setdefault(one["buyerId"], one)
    return [
        Match(f"/users/{user_id}", one["buyerName"] or "Person", "", None, (one["number"],), one["createdAt"])
        for user_id, one in newest.items()
    ]


async def _payouts(visit: Visit, **parameters: str) -> list[Match]:
    page = "/payouts/{}" if visit.may("payouts:read") else "/wallet/payouts/{}"
    return [
        Match(
            page.format(one["id"]),
            one["number"],
            payout_state(one),
            one["amountMinor"],
            (one["vendorName"], account(one)),
            one["createdAt"],
        )
        for one in (await visit.api.page("/api/payouts", **parameters)).items
    ]


async def _payments(visit: Visit, **parameters: str) -> list[Match]:
    if not visit.may("payments:read", "ledger:read"):
        raise ApiProblem(403, {})
    return [
        Match(
            f"/payments/{one['id']}",
            f"Payment of {one['orderNumber'] or 'an order'}",
            one["status"],
            one["amountMinor"],
            (),
            one["createdAt"],
        )
        for one in (await visit.api.page("/api/payments", **parameters)).items
    ]


async def _refunds(visit: Visit, **parameters: str) -> list[Match]:
    return [
        Match(
            f"/refunds/{one['id']}",
            f"Refund of {one['orderNumber'] or 'an order'}",
            one["status"],
            one["amountMinor"],
            (one["reason"],),
            one["createdAt"],
        )
        for one in (await visit.api.page("/api/refunds", **parameters)).items
    ]


async def _withdrawals(visit: Visit, reference: str) -> list[Match]:
    """Return the withdrawal whose id is in the reference of its transfer."""
    one: Json = await visit.api.get(f"/api/withdrawals/{UUID(hex=reference[3:])}")
    page = f"/withdrawals/{one['id']}"
    return [Match(page, "Withdrawal", one["status"], one["amountMinor"], (one["accountName"],), one["createdAt"])]


async def _tickets(visit: Visit, **parameters: str) -> list[Match]:
    return [
        Match(
            f"/support-tickets/{one['id']}",
            one["number"],
            one["status"],
            None,
            (one["subject"],),
            one["createdAt"],
        )
        for one in (await visit.api.page("/api/support-tickets", **parameters)).items
    ]


_ADDRESS: Final = re.compile(r"[^@\s]+@[^@\s]+|\+?[0-9][0-9 -]{8,18}")
# Of charges, refunds, withdrawals and transfers at the gateway; the code of a transfer there.
_REFERENCE: Final = re.compile(r"(?:(ch|re|wd|po)-[0-9a-f]{32})|(?:TRF_\w+)")
_KINDS_OF_REFERENCES: Final[dict[str | None, tuple[str, Finder]]] = {
    "ch": ("payments", _payments),
    "re": ("refunds", _refunds),
    "wd": ("withdrawals", _withdrawals),
    "po": ("payouts", _payouts),
    None: ("payouts", _payouts),
}
_LOCAL_PHONE: Final = re.compile(r"0[789][01][0-9]{8}")


def _international(text: str) -> str:
    """Return a phone number as people write it here, 0803 123 4567, in the form that is stored; other texts as they
    are.
    """
    digits = re.sub(r"[\s-]", "", text)
    return f"+234{digits[1:]}" if _LOCAL_PHONE.fullmatch(digits) else text


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
        Column("On", lambda one: spoken(one["subjectKind"]), link=_subject_screen),
        Column("Detail", lambda one: detail_words(one["detail"])),
    ),
    filters=(
        Filter("subjectId", "Number or id", kind="subject"),
        Filter("before", "Before", kind="date"),
    ),
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
