"""One payment with the parts of its charges, and the balance of a buyer, for support and finance."""

import asyncio
from typing import Final

from starlette.responses import Response

from console.api import Json
from console.families import Screens
from console.formats import spoken
from console.lists import ORDER_COLUMN, Column, ListView, csv_response, load_list
from console.money import money
from console.parts import part
from console.visit import Visit

SCREENS = Screens()

READERS: Final = ("payments:read", "ledger:read")
ORDERS: Final = (
    ORDER_COLUMN,
    Column("From the charge", "chargedMinor", "naira"),
    Column("From the balance", "balanceMinor", "naira"),
    Column("Refunded", "refundedMinor", "naira"),
    Column("Lost in chargebacks", "chargedBackMinor", "naira"),
)
REFUNDS: Final = (
    Column("Owed since", "createdAt", "time", link="/refunds/{id}"),
    Column("Kind", lambda row: spoken(row["kind"])),
    Column("Status", "status", "badge"),
    Column("By the gateway", "amountMinor", "naira"),
    Column("To the balance", "balanceMinor", "naira"),
)
CHARGEBACKS: Final = (
    Column("Opened", "createdAt", "time", link="/chargebacks/{id}"),
    Column("Status", "status", "badge"),
    Column("Amount", "amountMinor", "naira"),
)
VERDICTS: Final = {
    "covered": "paid the orders",
    "second_charge": "a second charge: all of it is returned",
    "quarantined": "in quarantine",
}


@SCREENS.page("/payments/{id:uuid}", title="Payment", any_of=READERS)
async def payment_page(visit: Visit) -> Response:
    """Return the payment, the purchase that it is for, and the parts of each charge."""
    path = f"/api/payments/{visit['id']}"
    payment, charges = await asyncio.gather(visit.api.get(path), visit.api.get(f"{path}/charges"))
    purchase_id = payment.get("purchaseId")
    purchase: Json | None = await part(visit, f"/api/purchases/{purchase_id}") if purchase_id else None
    return visit.render(
        "support/payment.html",
        payment=payment,
        purchase=purchase,
        charges=[
            {**one, "amount": money(one["amountMinor"], one["currency"]), "means": VERDICTS[one["verdict"]]}
            for one in charges
        ],
        order_columns=ORDERS,
        refund_columns=REFUNDS,
        # Finance alone has a page of a chargeback.
        chargeback_columns=CHARGEBACKS if visit.may("ledger:read") else _without_links(CHARGEBACKS),
    )


def _without_links(columns: tuple[Column, ...]) -> tuple[Column, ...]:
    return tuple(Column(one.label, one.value, one.kind) for one in columns)


STATEMENT: Final = (
    Column("Kind", "kind"),
    Column("Amount", "amountMinor", "naira"),
    Column("Balance after it", "balanceMinor", "naira"),
    Column("When", "at", "time"),
    Column("Order", lambda line: line["orderId"] and "the order", link="/orders/{orderId}"),
)


@SCREENS.page("/balances/{id:uuid}", title="Balance of a buyer", any_of=READERS)
async def balance_page(visit: Visit) -> Response:
    """Return the balance with its statement, newest line first."""
    path = f"/api/balances/{visit['id']}"
    statement = ListView(f"{path}/statement", columns=STATEMENT, empty="This buyer never had a balance.")
    if visit.query.get("format") == "csv":
        return await csv_response(visit, statement)
    balance, shown = await asyncio.gather(visit.api.get(path), load_list(visit, statement))
    return visit.render("support/balance.html", balance=balance, shown=shown)
