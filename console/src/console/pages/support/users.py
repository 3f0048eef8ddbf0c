"""A person's page: what is recorded about one customer, newest first, as far as the reader may see it."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from starlette.responses import Response

from console.api import Json
from console.families import Screens
from console.formats import spoken
from console.lists import account
from console.money import payout_state
from console.parts import rows_of_part
from console.visit import Visit

SCREENS = Screens()

READERS: Final = ("orders:read", "tickets:manage", "tickets:read", "payouts:read", "factor_resets:prepare")
NEWEST: Final = 20
"""Rows of each kind; the list of the kind has all of them."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One record of the person; `status` is the API's word."""

    at: str
    title: str
    path: str
    status: str
    amount_minor: int | None
    detail: str


@dataclass(frozen=True, slots=True)
class Kind:
    """A list of the API, the parameter that names the person, and the entry of a row."""

    name: str
    path: str
    parameter: str
    entry: Callable[[Json], Entry]

    def screen(self, user_id: str) -> str:
        """Return the address of the whole list."""
        return f"{self.path.removeprefix('/api')}?{self.parameter}={user_id}"


def _order(row: Json) -> Entry:
    title, detail = f"Order {row['number']}", row["vendorName"] or "erased vendor"
    return Entry(row["createdAt"], title, f"/orders/{row['id']}", row["status"], row["totalMinor"], detail)


def _ticket(row: Json) -> Entry:
    title, path = f"Ticket {row['number']}", f"/support-tickets/{row['id']}"
    return Entry(row["createdAt"], title, path, row["status"], None, row["subject"])


def _refund(row: Json) -> Entry:
    title = f"Refund of {row['orderNumber'] or 'an order'}"
    path, detail = f"/refunds/{row['id']}", spoken(row["kind"])
    return Entry(row["createdAt"], title, path, row["status"], row["amountMinor"], detail)


def _payout(row: Json) -> Entry:
    title, path = f"Payout {row['number']}", f"/payouts/{row['id']}"
    return Entry(row["createdAt"], title, path, payout_state(row), row["amountMinor"], account(row))


def _message(row: Json) -> Entry:
    path = f"/notification-delivery-logs?notificationId={row['notificationId']}"
    detail = f"by {row['channel']} to {row['recipient']}"
    return Entry(row["attemptedAt"], f"Message {spoken(row['template'])}", path, row["status"], None, detail)


KINDS: Final = (
    Kind("Orders", "/api/campus-orders", "buyerId", _order),
    Kind("Tickets", "/api/support-tickets", "userId", _ticket),
    Kind("Refunds", "/api/refunds", "buyerId", _refund),
    Kind("Payouts", "/api/payouts", "ownerId", _payout),
    Kind("Messages", "/api/notification-delivery-logs", "userId", _message),
)


@SCREENS.page("/users/{id:uuid}", title="Person", any_of=READERS)
async def user_page(visit: Visit) -> Response:
    """Return the newest records of each kind in one column. A kind that the reader may not see is left out."""
    user_id = str(visit["id"])
    parts = await asyncio.gather(
        *(rows_of_part(visit, kind.path, limit=NEWEST, **{kind.parameter: user_id}) for kind in KINDS)
    )
    orders, tickets = parts[0], parts[1]
    customer: Json = next((one["customer"] for one in tickets if one.get("customer")), {})
    name = customer.get("name") or next((one["buyerName"] for one in orders if one["buyerName"]), None)
    entries = [kind.entry(row) for kind, rows in zip(KINDS, parts, strict=True) for row in rows]
    return visit.render(
        "support/user.html",
        title=name or "Person without a name",
        user_id=user_id,
        customer=customer,
        entries=sorted(entries, key=lambda entry: entry.at, reverse=True),
        lists=[(kind.name, kind.screen(user_id)) for kind, rows in zip(KINDS, parts, strict=True) if rows],
        newest=NEWEST,
    )
