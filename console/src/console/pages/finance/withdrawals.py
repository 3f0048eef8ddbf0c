"""Withdrawals from buyers' balances, and the decisions about the large ones."""

from typing import Final

from starlette.responses import Response

from console.api import Json
from console.banks import names_of_banks
from console.families import Screens
from console.lists import Column, Filter, ListView, show_list
from console.money import money
from console.pages.finance.decisions import AMOUNT, LEDGER, approved, is_outdated, names_of_decision
from console.parts import command
from console.visit import Visit

SCREENS = Screens()

WITHDRAWAL_READERS: Final = (LEDGER, "refunds:prepare", "refunds:approve")
WITHDRAWALS = ListView(
    "/api/withdrawals",
    columns=(
        Column("Requested", "createdAt", "time", link="/withdrawals/{id}"),
        Column("Status", "status", "badge"),
        AMOUNT,
        Column("Holder", "accountName"),
        Column("Account", lambda row: f"…{row['accountLast4']}"),
        Column("Failure", "failure"),
        Column("Paid", "paidAt", "time"),
    ),
    filters=(
        Filter(
            "status",
            "Status",
        ),
        Filter("awaiting", "Awaiting"),
    ),
    empty="No withdrawal is here. A buyer requests one to send refunded money from the balance to a bank.",
)


@SCREENS.page("/withdrawals", title="Withdrawals", any_of=WITHDRAWAL_READERS, menu="Withdrawals")
async def withdrawals_page(visit: Visit) -> Response:
    return await show_list(visit, WITHDRAWALS)


@SCREENS.page("/withdrawals/{id:uuid}", title="Withdrawal", any_of=WITHDRAWAL_READERS)
async def withdrawal_page(visit: Visit) -> Response:
    """Return the withdrawal with its newest decision."""
    withdrawal: Json = await visit.api.get(f"/api/withdrawals/{visit['id']}")
    decision = withdrawal["decision"] or {}
    return visit.render(
        "finance/withdrawal.html",
        withdrawal=withdrawal,
        amount=money(withdrawal["amountMinor"], withdrawal["currency"]),
        decision=decision,
        outdated=is_outdated(visit, withdrawal["hash"]),
        names=await names_of_decision(visit, decision),
        banks=await names_of_banks(visit),
    )


@SCREENS.action("/withdrawals/{id:uuid}/prepare", any_of=("refunds:prepare",), page=withdrawal_page)
async def prepare_withdrawal(visit: Visit) -> Response:
    body = {"outcome": visit.form["outcome"], "reason": visit.form["reason"]}
    return await command(visit, body, "The decision is prepared. Another person approves it.")


@SCREENS.action("/withdrawals/{id:uuid}/approve", any_of=("refunds:approve",), page=withdrawal_page)
async def approve_withdrawal(visit: Visit) -> Response:
    path = f"/withdrawals/{visit['id']}"
    withdrawal: Json = await visit.api.post(f"/api{path}/approve", {"hash": visit.form["hash"]})
    is_paid = withdrawal["decision"]["outcome"] == "pay"
    notice = "The withdrawal is sent to the bank." if is_paid else "The money is in the buyer's balance again."
    return visit.go(path, approved(visit, withdrawal["decision"], notice))


@SCREENS.action("/withdrawals/{id:uuid}/reject", any_of=("refunds:approve",), page=withdrawal_page)
async def reject_withdrawal(visit: Visit) -> Response:
    return await command(
        visit, {"reason": visit.form["reason"]}, "The decision is rejected; the withdrawal waits for another one."
    )
