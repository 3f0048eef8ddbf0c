"""Chargebacks: the payer's bank claims a charge back. Finance sends evidence, and accepts or contests the claim."""

import base64
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer

from operations.campusctl.exits import Refused
from operations.campusctl.registering import Key, Limit, Operator, Page, Yes, command
from operations.campusctl.showing import Output, amount_of

_ID = "018f2a6b-5c1d-7e4a-9b3f-2d6c8a1e0f47"
_COLUMNS = ("id", "status", "dueAt", "respondedAt", "amountMinor", "currency", "orderId", "disputeId", "createdAt")
_CHARGEBACKS = "/api/chargebacks"

Message = Annotated[str, typer.Option(help="Reason for the bank.")]
Attachment = Annotated[Path, typer.Option("--file", help="PDF, PNG or JPEG, at most 180,000 bytes.")]


class ChargebackStatus(StrEnum):
    opened = "opened"
    won = "won"
    lost = "lost"


def register(app: typer.Typer) -> None:
    group = typer.Typer(help="Chargebacks, with the date by which to respond.", no_args_is_help=True)
    command(group, "list", "campusctl chargebacks list --status opened")(list_chargebacks)
    command(group, "show", f"campusctl chargebacks show {_ID}")(show_chargeback)
    command(
        group,
        "evidence",
        f"campusctl chargebacks evidence {_ID} --email ngozi@campus.example --name 'Ngozi Bello' --phone +2348012345678 "
        "--details 'Two books, collected at the hub' --delivered-on 2026-03-04",
    )(send_evidence)
    command(
        group, "contest", f"campusctl chargebacks contest {_ID} --message 'Delivered, see receipt' --file receipt.pdf"
    )(contest)
    command(
        group,
        "accept",
        f"campusctl chargebacks accept {_ID} --message 'Never delivered' --file note.pdf --amount 250000",
    )(accept)
    app.add_typer(group, name="chargebacks")


def list_chargebacks(
    operator: Operator, status: ChargebackStatus | None = None, page: Page = 1, limit: Limit = 20
) -> Output:
    """List chargebacks by the date of their response, the nearest first."""
    found = operator.api.get(
        _CHARGEBACKS, page=page, limit=limit, status=status and status.value, sort="due_at", order="asc"
    )
    return Output(found.data, _COLUMNS, found.meta)


def show_chargeback(operator: Operator, chargeback_id: UUID) -> Output:
    """Show a chargeback with the responses that were sent."""
    return Output(operator.api.get(f"{_CHARGEBACKS}/{chargeback_id}").data)


def send_evidence(
    operator: Operator,
    chargeback_id: UUID,
    email: Annotated[str, typer.Option(help="The buyer's address.")],
    name: Annotated[str, typer.Option(help="The buyer's name.")],
    phone: Annotated[str, typer.Option(help="The buyer's phone number.")],
    details: Annotated[str, typer.Option(help="What was sold, and how it was delivered.")],
    address: Annotated[str | None, typer.Option(help="Where it was delivered.")] = None,
    delivered_on: Annotated[datetime | None, typer.Option(formats=["%Y-%m-%d"], help="Date of the delivery.")] = None,
    key: Key = None,
) -> Output:
    """Send evidence about the buyer and the delivery to the gateway. It does not decide the claim: contest or accept it."""
    body = {"customerEmail": email, "customerName": name, "customerPhone": phone, "serviceDetails": details}
    if address is not None:
        body["deliveryAddress"] = address
    if delivered_on is not None:
        body["deliveryDate"] = delivered_on.date().isoformat()
    return Output(operator.api.act(f"{_CHARGEBACKS}/{chargeback_id}/evidence", body, key).data)


def contest(
    operator: Operator, chargeback_id: UUID, message: Message, attachment: Attachment, key: Key = None
) -> Output:
    """Contest the claim with a file as proof. The bank decides."""
    body = {"resolution": "contest", "message": message, "attachment": _encoded(attachment)}
    return Output(operator.api.act(f"{_CHARGEBACKS}/{chargeback_id}/resolve", body, key).data)


def accept(
    operator: Operator,
    chargeback_id: UUID,
    message: Message,
    attachment: Attachment,
    amount: Annotated[int | None, typer.Option(min=1, help="Kobo; by default all that is disputed.")] = None,
    yes: Yes = False,
    key: Key = None,
) -> Output:
    """Accept the claim: the gateway returns the money to the payer."""
    chargeback = operator.api.get(f"{_CHARGEBACKS}/{chargeback_id}").data
    minor = chargeback["amountMinor"] if amount is None else amount
    shown = amount_of({**chargeback, "amountMinor": minor})
    operator.confirm(f"Return {shown} to the payer, order {chargeback['orderId'] or 'unknown'}?", yes=yes)
    body = {"resolution": "accept", "message": message, "attachment": _encoded(attachment), "amountMinor": minor}
    return Output(operator.api.act(f"{_CHARGEBACKS}/{chargeback_id}/resolve", body, key).data)


def _encoded(attachment: Path) -> str:
    try:
        return base64.b64encode(attachment.read_bytes()).decode()
    except OSError as error:
        raise Refused(f"{attachment} cannot be read: {error.strerror}.", "Name a readable file", exit_code=2) from error
