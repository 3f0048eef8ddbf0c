"""Parts that all decisions by maker and checker share."""

from dataclasses import replace
from typing import Final

from console.api import Json
from console.lists import Column, ListView
from console.money import money
from console.parts import names_of
from console.visit import Visit

LEDGER: Final = "ledger:read"
AMOUNT: Final = Column("Amount", lambda row: row["amountMinor"] if row["currency"] == "NGN" else None, "naira")
FOREIGN: Final = Column(
    "Foreign amount",
    lambda row: "" if row["currency"] == "NGN" else money(row["amountMinor"], row["currency"]),
    "number",
)
"""An amount in another currency than naira is never shown in a column of naira."""
ORDER_PAGE_READERS: Final = ("orders:read", "charged_orders:read")
APPROVED_BEFORE: Final = "Another checker had approved it already. Your approval changed nothing."


def for_reader(visit: Visit, view: ListView) -> ListView:
    """Return the list with orders leading where the person may go: to the order, or to its transactions."""
    if visit.may(*ORDER_PAGE_READERS):
        return view
    columns = (
        replace(one, link="/transactions?orderId={orderId}") if one.label == "Order" else one for one in view.columns
    )
    return replace(view, columns=tuple(columns))


def approved(visit: Visit, decision: Json, notice: str) -> str:
    """Return what the approval did: of two checkers at once, one decides, and the other one reads so."""
    return notice if decision["decidedBy"] == visit.user.id else APPROVED_BEFORE


def is_outdated(visit: Visit, present_hash: str | None) -> bool:
    """Return whether the refused form carried another hash than the decision has now."""
    return visit.error is not None and bool(visit.form["hash"]) and visit.form["hash"] != present_hash


async def balance_of(visit: Visit, account: str) -> int | None:
    """Return the balance of one account of the escrow ledger in kobo, debit positive; None when it was never opened."""
    rows = await visit.api.page("/api/ledger/accounts", account=account, limit=100)
    return next((row["balanceMinor"] for row in rows.items if row["account"] == account), None)


async def names_of_decision(visit: Visit, decision: Json) -> dict[str, str]:
    """Return the names of maker and checker by id."""
    return await names_of(visit, decision.get("preparedBy"), decision.get("decidedBy"))
