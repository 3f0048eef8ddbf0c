"""A vendor's money: the wallet from gross to bank, what is to come, payouts, their schedule, statements, the
account.
"""

import asyncio
import re
from datetime import date
from typing import Any, Final

from starlette.responses import Response

from common.primitives.clock import SystemClock
from console.api import ApiProblem, Json
from console.banks import names_of_banks
from console.choices import choices
from console.families import Screens
from console.formats import LAGOS, instant
from console.lists import Column, Filter, ListView, account, csv_response, load_list
from console.money import OBSTACLES, arrival_words, payout_state
from console.pages.vendor.orders import LINE_NAMES, share_of
from console.visit import InvalidField, Visit

SCREENS = Screens()

OWNER: Final = ("wallet:own",)

# ---- Wallet ----------------------------------------------------------------------------------------------------------


def _subject(line: Json) -> str:
    if line.get("orderId"):
        return f"/orders/{line['orderId']}/fulfil"
    return f"/wallet/payouts/{line['payoutId']}" if line.get("payoutId") else "/wallet"


def _deducted(line: Json, name: str) -> int | None:
    return None if line.get(name) is None else -int(line[name])


LINES = ListView(
    "/api/wallets/current/statement",
    columns=(
        Column("When", "at", "time"),
        Column("What", lambda line: LINE_NAMES.get(line["kind"], line["kind"]), link=_subject),
        Column("Gross", "grossMinor", "naira"),
        Column("Commission", lambda line: _deducted(line, "commissionMinor"), "naira"),
        Column("Delivery fee", lambda line: _deducted(line, "deliveryFeeMinor"), "naira"),
        Column("Net", "netMinor", "naira"),
        Column("Balance", "balanceMinor", "naira"),
    ),
    filters=(
        Filter("kind", "What", tuple(LINE_NAMES.items())),
        Filter("from", "From", kind="date"),
        Filter("to", "Before", kind="date"),
    ),
    empty="No money has moved yet. The first delivered order appears here.",
)


@SCREENS.page("/wallet", title="Wallet", any_of=OWNER, menu="Wallet", icon="money")
async def wallet_page(visit: Visit) -> Response:
    """Where the money is, and each movement with the balance after it."""
    if visit.query.get("format") == "csv":
        return await csv_response(visit, LINES)
    wallet, schedule, shown, under_way = await asyncio.gather(
        visit.api.get("/api/wallets/current"),
        _schedule(visit),
        load_list(visit, LINES),
        visit.api.page("/api/payouts", status="pending", sort="created_at", order="asc", limit=1),
    )
    is_settled = not (wallet["lockedMinor"] or wallet["inTransitMinor"])
    can_waive = is_settled and 0 < wallet["availableMinor"] < wallet["transferMinimumMinor"]
    return visit.render(
        "vendor/wallet.html",
        wallet=wallet,
        schedule=schedule,
        shown=shown,
        can_waive=can_waive,
        arrival=arrival_words(wallet["arrival"]),
        oldest=next(iter(under_way.items), None),
        arrival_words=arrival_words,
    )


@SCREENS.action("/wallet/waiver", any_of=OWNER, page=wallet_page)
async def waive(visit: Visit) -> Response:
    """Give up a remainder that no transfer can pay: the amount that the page showed, or nothing."""
    await visit.api.post("/api/wallets/current/waiver", {"amountMinor": visit.form.number("amountMinor")})
    return visit.go("/wallet", "The remainder is given up.")


WHEN: Final = {
    "paid_escrow": "when the PIN is entered",
    "dispatched": "when the PIN is entered",
    "delivered": "in a few seconds",
    "disputed": "frozen until it is decided",
}
"""The states of orders whose money is held, and when it reaches the wallet."""
EXPECTED_COLUMNS: Final = (
    Column("Order", "number", link="/orders/{id}/fulfil"),
    Column("Status", "status", "badge"),
    Column("Items", "subtotalMinor", "naira"),
    Column("Commission", lambda order: -order["commissionMinor"], "naira"),
    Column("Your share", share_of, "naira"),
    Column("When", "when"),
)


@SCREENS.page("/wallet/expected", title="What will be paid", any_of=OWNER, menu="What will be paid")
async def expected_page(visit: Visit) -> Response:
    """Each order whose money is held: the amount for the vendor, and when it comes."""
    wallet, schedule, *by_status = await asyncio.gather(
        visit.api.get("/api/wallets/current"), _schedule(visit), *(_held_orders(visit, status) for status in WHEN)
    )
    orders = [{**order, "when": WHEN[order["status"]]} for found in by_status for order in found]
    listed = sum(share_of(order) or 0 for order in orders)
    return visit.render(
        "vendor/expected.html",
        wallet=wallet,
        schedule=schedule,
        orders=orders,
        columns=EXPECTED_COLUMNS,
        listed=listed,
        difference=wallet["lockedMinor"] - listed,
    )


async def _held_orders(visit: Visit, status: str) -> list[Json]:
    return [order async for order in visit.api.every_row("/api/orders", status=status, **{"as": "vendor"})]


# ---- Payouts ---------------------------------------------------------------------------------------------------------


def paid_at(payout: Json) -> str | None:
    """Return when the bank paid it; None where the money came back since."""
    return None if payout_state(payout) == "reversed" else payout["processedAt"]


PAYOUTS = ListView(
    "/api/payouts",
    columns=(
        Column("Number", "number", link="/wallet/payouts/{id}"),
        Column("Requested", "createdAt", "time"),
        Column("Amount", "amountMinor", "naira"),
        Column("Status", payout_state, "badge"),
        Column("Account", account),
        Column("At the bank", lambda payout: arrival_words(payout["arrival"])),
        Column("Paid", paid_at, "time"),
        Column("Reference", "transferReference"),
    ),
    filters=(Filter("status", "Status"),),
    empty="No payout has been requested yet.",
)
WEEKDAYS: Final = choices("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
FREQUENCIES: Final = (("none", "never: I request payouts myself"), ("daily", "every day"), ("weekly", "once a week"))


@SCREENS.page("/wallet/payouts", title="Payouts", any_of=OWNER, menu="Payouts")
async def payouts_page(visit: Visit) -> Response:
    """Request a payout, see all of them, and set the schedule."""
    if visit.query.get("format") == "csv":
        return await csv_response(visit, PAYOUTS)
    wallet, schedule, account, shown = await asyncio.gather(
        visit.api.get("/api/wallets/current"), _schedule(visit), _account(visit), load_list(visit, PAYOUTS)
    )
    return visit.render(
        "vendor/payouts.html",
        wallet=wallet,
        schedule=schedule,
        account=account,
        shown=shown,
        is_cooling=account is not None and _is_ahead(account["payoutsFrom"]),
        weekdays=WEEKDAYS,
        frequencies=FREQUENCIES,
        skipped=OBSTACLES,
        arrival=arrival_words(wallet["arrival"]),
    )


@SCREENS.action("/wallet/payouts", any_of=OWNER, page=payouts_page)
async def request_payout(visit: Visit) -> Response:
    amount_minor = visit.form.minor("amountMinor")
    if amount_minor is None:
        raise InvalidField("amountMinor", "is needed")
    payout = await visit.api.post("/api/payouts", {"amountMinor": amount_minor})
    reaches = arrival_words(payout["arrival"])
    return visit.go(f"/wallet/payouts/{payout['id']}", f"The payout is requested. At your bank {reaches}.")


@SCREENS.page("/wallet/payouts/{id:uuid}", title="Payout", any_of=OWNER)
async def payout_page(visit: Visit) -> Response:
    payout: Json = await visit.api.get(f"/api/payouts/{visit['id']}")
    return visit.render(
        "vendor/payout.html",
        payout=payout,
        state=payout_state(payout),
        account=account(payout),
        arrival=arrival_words(payout["arrival"]),
    )


@SCREENS.action("/wallet/payouts/{id:uuid}/cancel", any_of=OWNER, page=payout_page)
async def cancel_payout(visit: Visit) -> Response:
    await visit.api.post(f"/api/payouts/{visit['id']}/cancel")
    return visit.go(f"/wallet/payouts/{visit['id']}", "The payout is cancelled. The amount is in the wallet again.")


@SCREENS.action("/wallet/schedule", any_of=OWNER, page=payouts_page)
async def set_schedule(visit: Visit) -> Response:
    form = visit.form
    body: Json = {"frequency": form["frequency"], "minimumMinor": form.minor("minimumMinor")}
    if form["frequency"] == "weekly":
        body["weekday"] = form["weekday"]
    await visit.api.put(f"/api/vendors/{visit.user.vendor_id}/payout-schedule", body)
    return visit.go("/wallet/payouts", "The schedule is saved.")


# ---- Statements ------------------------------------------------------------------------------------------------------

_MONTH: Final = re.compile(r"[0-9]{4}-(0[1-9]|1[0-2])")
MONTHS_SHOWN: Final = 12
KIND_COLUMNS: Final = (
    Column("What", lambda kind: LINE_NAMES.get(kind["kind"], kind["kind"])),
    Column("Lines", "lines", "number"),
    Column("Gross", "grossMinor", "naira"),
    Column("Commission", lambda kind: _deducted(kind, "commissionMinor"), "naira"),
    Column("Delivery fees", lambda kind: _deducted(kind, "deliveryFeeMinor"), "naira"),
    Column("Wallet", "netMinor", "naira"),
)


@SCREENS.page("/wallet/statements", title="Statements", any_of=OWNER, menu="Statements")
async def statement_page(visit: Visit) -> Response:
    """Return a calendar month in Lagos, from the opening to the closing balance."""
    month = month_of(visit)
    return visit.render(
        "vendor/statement.html",
        title=f"Statement {month}",
        statement=await visit.api.get(f"/api/wallets/current/statements/{month}"),
        months=[(name, name) for name in latest_months()],
        columns=KIND_COLUMNS,
        invoice_months=latest_months()[1:],
    )


@SCREENS.page("/wallet/statements/csv", title="Statement", any_of=OWNER)
async def statement_file(visit: Visit) -> Response:
    """Each line of the month; amounts in kobo, as the API writes them."""
    month = month_of(visit)
    file = await visit.api.document(f"/api/wallets/current/statements/{month}/export")
    headers = {"Content-Disposition": f'attachment; filename="statement-{month}.csv"'}
    return Response(file.content, media_type="text/csv; charset=utf-8", headers=headers)


def month_of(visit: Visit) -> str:
    """Return the month that the address names; the current one in Lagos without it. Raises InvalidField."""
    month = visit.query.get("month", latest_months()[0])
    if not _MONTH.fullmatch(month):
        raise InvalidField("month", "choose a month such as 2026-11")
    return month


def latest_months() -> list[str]:
    """Return the last twelve months, the current one first."""
    today = SystemClock().now().astimezone(LAGOS).date()
    number = today.year * 12 + today.month - 1
    return [f"{date((number - back) // 12, (number - back) % 12 + 1, 1):%Y-%m}" for back in range(MONTHS_SHOWN)]


# ---- Bank details ----------------------------------------------------------------------------------------------------

BANK_READERS: Final = ("bank_details:own",)
CHANGE_COLUMNS: Final = (
    Column("When", "changedAt", "time"),
    Column("Change", lambda change: "entered" if change["change"] == "set" else change["change"].replace("_", " ")),
    Column("Account", lambda change: f"…{change['accountLast4']}"),
    Column("Bank", lambda change: change["bankName"] or change["bankCode"]),
    Column("Name at the bank", "accountName"),
    Column("Verified", lambda change: "yes" if change["verified"] else "no"),
)


@SCREENS.page("/bank-details", title="Bank details", any_of=BANK_READERS, menu="Bank details")
async def bank_details_page(visit: Visit) -> Response:
    account, history, banks = await asyncio.gather(_account(visit), _history(visit), names_of_banks(visit))
    return visit.render(
        "vendor/bank_details.html",
        account=account,
        rejected=_rejected(account, history),
        not_verified=_not_verified,
        history=history,
        columns=CHANGE_COLUMNS,
        banks=banks,
    )


@SCREENS.action("/bank-details", any_of=BANK_READERS, page=bank_details_page)
async def change_bank_details(visit: Visit) -> Response:
    """Change the account. A recent second factor is needed, and the bank names the account's owner."""
    form = visit.form
    body = {"accountNumber": form["accountNumber"].replace(" ", ""), "bankCode": form["bankCode"]}
    account = await visit.api.put(f"/api/vendors/{visit.user.vendor_id}/bank-details", body)
    if not account["isPresent"]:
        return visit.go("/bank-details", "Nothing was changed: the bank did not confirm this account.")
    verified = "The account is saved and verified." if account["verified"] else "The account is saved, not verified."
    return visit.go("/bank-details", verified)


# ---- Parts -----------------------------------------------------------------------------------------------------------


async def _schedule(visit: Visit) -> Json:
    schedule: Json = await visit.api.get(f"/api/vendors/{visit.user.vendor_id}/payout-schedule")
    return schedule


def _is_ahead(text: str | None) -> bool:
    at = instant(text)
    return at is not None and at > SystemClock().now()


async def _account(visit: Visit) -> Json | None:
    """Return the bank details; None before the first."""
    return await _or_none(visit.api.get(f"/api/vendors/{visit.user.vendor_id}/bank-details"))  # type: ignore[no-any-return]


def _rejected(account: Json | None, history: list[Json]) -> Json | None:
    """Return the newest change where the bank did not confirm its account, so that the one before stayed."""
    newest = history[0] if history and account and account["verified"] else None
    return newest if newest and newest["change"] == "set" and not newest["verified"] else None


def _not_verified(account: Json) -> str:
    """Return why an account is not verified, in words for its owner and without the reason's code."""
    return str(account["reason"]).partition(": ")[2].replace("the vendor's", "your")


async def _history(visit: Visit) -> list[Json]:
    return await _or_none(visit.api.get(f"/api/vendors/{visit.user.vendor_id}/bank-details/history")) or []


async def _or_none(request: Any) -> Any:
    try:
        return await request
    except ApiProblem as problem:
        if problem.status == 404:
            return None
        raise
