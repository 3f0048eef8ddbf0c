"""Chargebacks with their due dates, evidence and response."""

import base64
from typing import Final

from starlette.responses import Response

from console.api import Json
from console.families import Screens
from console.lists import ORDER_COLUMN, Column, Filter, ListView, show_list
from console.money import money
from console.pages.finance.decisions import AMOUNT, FOREIGN, LEDGER, for_reader
from console.parts import command
from console.visit import InvalidField, Visit

SCREENS = Screens()

CHARGEBACKS = ListView(
    "/api/chargebacks",
    columns=(
        Column("Dispute", "disputeId", link="/chargebacks/{id}"),
        Column("Status", "status", "badge"),
        AMOUNT,
        FOREIGN,
        Column("Answer by", lambda row: None if row["decidedAt"] or row["respondedAt"] else row["dueAt"], "left"),
        Column("Answered", "respondedAt", "time"),
        Column("Reason", "reason"),
        ORDER_COLUMN,
        Column("Opened", "createdAt", "time"),
    ),
    filters=(
        Filter("status", "Status"),
        Filter("awaiting", "Awaiting"),
        Filter("orderId", "Order", kind="order"),
    ),
    empty="No chargeback is open. They appear when a payer's bank asks for money back.",
)


@SCREENS.page("/chargebacks", title="Chargebacks", any_of=(LEDGER,), menu="Chargebacks")
async def chargebacks_page(visit: Visit) -> Response:
    return await show_list(visit, for_reader(visit, CHARGEBACKS))


@SCREENS.page("/chargebacks/{id:uuid}", title="Chargeback", any_of=(LEDGER,))
async def chargeback_page(visit: Visit) -> Response:
    chargeback: Json = await visit.api.get(f"/api/chargebacks/{visit['id']}")
    responses = chargeback["responses"]
    has_response = any(one["kind"] != "evidence" and one["status"] in ("submitting", "submitted") for one in responses)
    return visit.render(
        "finance/chargeback.html",
        chargeback=chargeback,
        amount=money(chargeback["amountMinor"], chargeback["currency"]),
        loss=money(chargeback["lossMinor"], chargeback["currency"]),
        may_respond=visit.may("chargebacks:respond") and chargeback["status"] == "opened" and not has_response,
        response_columns=RESPONSES,
    )


RESPONSES: Final = (
    Column("Kind", lambda one: one["resolution"] or one["kind"]),
    Column("Status", "status", "badge"),
    Column("Message", "message"),
    Column("Amount", "amountMinor", "naira"),
    Column("Failure", "failure"),
    Column("Sent", "createdAt", "time"),
    Column("Content hash", "contentHash", "id"),
)


@SCREENS.action("/chargebacks/{id:uuid}/evidence", any_of=("chargebacks:respond",), page=chargeback_page)
async def send_evidence(visit: Visit) -> Response:
    names = ("customerEmail", "customerName", "customerPhone", "serviceDetails", "deliveryAddress", "deliveryDate")
    return await command(visit, dict(visit.form.given(*names)), "The evidence is on its way to the gateway.")


@SCREENS.action("/chargebacks/{id:uuid}/resolve", any_of=("chargebacks:respond",), page=chargeback_page)
async def resolve_chargeback(visit: Visit) -> Response:
    """Accept or contest, once. The file travels in base64, as the API takes it."""
    form = visit.form
    file = form.files.get("attachment")
    if file is None:
        raise InvalidField("attachment", "choose a PDF, PNG or JPEG file of at most 180,000 bytes")
    body: Json = {"resolution": form["resolution"], "message": form["message"]}
    if (amount := form.minor("amount")) is not None:
        body["amountMinor"] = amount
    body["attachment"] = base64.b64encode(await file.read()).decode()
    return await command(visit, body, "The answer is on its way to the gateway. Its decision moves the money.")
