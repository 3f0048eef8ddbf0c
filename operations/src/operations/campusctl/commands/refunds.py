"""Charges in quarantine, refunds that failed, and chargebacks. Two users of finance decide on the first two."""

import base64
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Final
from uuid import UUID

import typer

from operations.campusctl.api_commands import ID, Call, Commands, Own, Value, decision_commands, one_of, register_group
from operations.campusctl.exits import Refused
from operations.campusctl.registering import Key, Operator, Yes
from operations.campusctl.showing import Output, amount_of

_ACCOUNT: Final = "--account-number 0123456789 --bank-code 058 --account-name 'Chidi Okafor'"
Message = Annotated[str, typer.Option(help="Reason for the bank.")]
Attachment = Annotated[Path, typer.Option("--file", help="PDF, PNG or JPEG, at most 180,000 bytes.")]


def register(app: typer.Typer) -> None:
    register_group(app, "quarantine", "Charges in quarantine; two people decide.", QUARANTINE)
    register_group(app, "chargebacks", "Chargebacks, with the date by which to respond.", CHARGEBACKS)
    register_group(app, "withdrawals", "Withdrawals from balances; two people decide on large ones.", WITHDRAWALS)
    register_group(app, "refunds", "Failed refunds; two people decide.", REFUNDS)


def prepare(
    operator: Operator,
    refund_id: UUID,
    reason: Annotated[str, typer.Option(help="Reason; the checker reads it.")],
    account_number: Annotated[
        str | None, typer.Option(help="The payer's account; without it the same way again.")
    ] = None,
    bank_code: Annotated[str | None, typer.Option(help="Code of the account's bank.")] = None,
    account_name: Annotated[str | None, typer.Option(help="Name of the account's owner.")] = None,
    key: Key = None,
) -> Output:
    """Prepare the next attempt of a failed refund. No money moves before a checker approves it."""
    account = {"accountNumber": account_number, "bankCode": bank_code, "accountName": account_name}
    if any(account.values()) and not all(account.values()):
        raise typer.BadParameter("an account needs --account-number, --bank-code and --account-name")
    body: dict[str, Any] = {"action": "retry", "reason": reason}
    if account_number is not None:
        body = {"action": "other_destination", "reason": reason, "destination": account}
    return Output(operator.api.act(f"/api/refunds/{refund_id}/prepare", body, key).data)


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
    """Send evidence about the buyer and the delivery to the gateway. It does not decide the claim: contest or accept
    it.
    """
    body = {"customerEmail": email, "customerName": name, "customerPhone": phone, "serviceDetails": details}
    optional = {"deliveryAddress": address, "deliveryDate": delivered_on and delivered_on.date().isoformat()}
    return Output(operator.api.act(f"/api/chargebacks/{chargeback_id}/evidence", body | optional, key).data)


def contest(
    operator: Operator, chargeback_id: UUID, message: Message, attachment: Attachment, key: Key = None
) -> Output:
    """Contest the claim with a file as proof. The bank decides."""
    body = {"resolution": "contest", "message": message, "attachment": _encoded(attachment)}
    return Output(operator.api.act(f"/api/chargebacks/{chargeback_id}/resolve", body, key).data)


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
    chargeback = operator.api.get(f"/api/chargebacks/{chargeback_id}").data
    minor = chargeback["amountMinor"] if amount is None else amount
    shown = amount_of({**chargeback, "amountMinor": minor})
    operator.confirm(f"Return {shown} to the payer, order {chargeback['orderId'] or 'unknown'}?", yes=yes)
    body = {"resolution": "accept", "message": message, "attachment": _encoded(attachment), "amountMinor": minor}
    return Output(operator.api.act(f"/api/chargebacks/{chargeback_id}/resolve", body, key).data)


def _encoded(attachment: Path) -> str:
    try:
        return base64.b64encode(attachment.read_bytes()).decode()
    except OSError as error:
        raise Refused(f"{attachment} cannot be read: {error.strerror}.", "Name a readable file", exit_code=2) from error


def _refund(refund: dict[str, Any]) -> str:
    decision = refund["decision"] or {"action": "not prepared", "reason": "", "destination": None}
    account = decision["destination"]
    to = "the payer's own means" if account is None else _destination(account)
    return f"{decision['action']}: {amount_of(refund)} to {to}, order {refund['orderId']} ({decision['reason']})?"


def _destination(account: dict[str, Any]) -> str:
    """Name the account, with the name at the bank where it differs."""
    named = f"account ...{account['last4']} of {account['accountName']}"
    if account["verified"]:
        return named
    at_bank = account["nameAtBank"]
    return f"{named} (NOT VERIFIED: {f'the bank names {at_bank}' if at_bank else 'the bank confirmed no name'})"


def _withdrawal(withdrawal: dict[str, Any]) -> str:
    decision = withdrawal["decision"] or {"outcome": "not prepared", "reason": ""}
    account = f"account ...{withdrawal['accountLast4']} of {withdrawal['accountName']}"
    return f"{decision['outcome']}: {amount_of(withdrawal)}, {account} ({decision['reason']})?"


def _charge(charge: dict[str, Any]) -> str:
    decision = charge["decision"] or {"outcome": "not prepared", "reason": ""}
    order = charge["orderId"] or "unknown"
    return (
        f"{decision['outcome']}: {amount_of(charge)}, charge {charge['reference']}, order {order}"
        f" ({decision['reason']})?"
    )


QUARANTINE: Final[Commands] = {
    "list": Call(
        "GET /api/quarantined-charges",
        "List quarantined charges.",
        (Value("status"),),
        ("id", "reason", "status", "amountMinor", "currency", "orderId", "reference", "createdAt"),
        ("--status quarantined",),
    ),
    "show": Call("GET /api/quarantined-charges/{charge_id}", "Show a quarantined charge with the decision about it."),
    "prepare": Call(
        "POST /api/quarantined-charges/{charge_id}/prepare",
        "Prepare a decision on a charge. No money moves before a checker approves it.",
        (
            one_of(
                "outcome",
                "accept",
                "return",
                text="accept: the charge pays its order; return: the payer is refunded.",
                required=True,
            ),
            Value("reason", text="Reason; the checker reads it.", required=True),
        ),
        examples=(f"{ID} --outcome return --reason 'Paid for another shop'",),
    ),
    **decision_commands(
        "/api/quarantined-charges/{charge_id}",
        _charge,
        "Approve a decision that another user prepared. It ends the quarantine of the money.",
        "Reject a decision that another user prepared. The charge stays in quarantine.",
        example="Ask the bank first",
    ),
}
CHARGEBACKS: Final[Commands] = {
    "list": Call(
        "GET /api/chargebacks",
        "List chargebacks by the date of their response, the nearest first.",
        (Value("status"),),
        ("id", "status", "dueAt", "respondedAt", "amountMinor", "currency", "orderId", "disputeId", "createdAt"),
        ("--status opened",),
        {"sort": "due_at", "order": "asc"},
    ),
    "show": Call("GET /api/chargebacks/{chargeback_id}", "Show a chargeback with the responses that were sent."),
    "evidence": Own(
        send_evidence,
        (
            f"{ID} --email ngozi@campus.example --name 'Ngozi Bello' --phone +2348012345678 "
            "--details 'Two books, collected at the hub' --delivered-on 2026-03-04",
        ),
    ),
    "contest": Own(contest, (f"{ID} --message 'Delivered, see receipt' --file receipt.pdf",)),
    "accept": Own(accept, (f"{ID} --message 'Never delivered' --file note.pdf --amount 250000",)),
}
WITHDRAWALS: Final[Commands] = {
    "list": Call(
        "GET /api/withdrawals",
        "List withdrawals from buyers' balances.",
        (Value("status"),),
        ("id", "status", "amountMinor", "accountName", "bankCode", "failure", "createdAt"),
        ("--status waiting",),
    ),
    "show": Call("GET /api/withdrawals/{withdrawal_id}", "Show a withdrawal with the decision about it."),
    "prepare": Call(
        "POST /api/withdrawals/{withdrawal_id}/prepare",
        "Prepare a decision on a large withdrawal. No money moves before a checker approves it.",
        (
            one_of(
                "outcome",
                "pay",
                "return",
                text="pay: the account receives it; return: the balance does.",
                required=True,
            ),
            Value("reason", text="Reason; the checker reads it.", required=True),
        ),
        examples=(f"{ID} --outcome pay --reason 'The account is their own'",),
    ),
    **decision_commands(
        "/api/withdrawals/{withdrawal_id}",
        _withdrawal,
        "Approve a decision that another user prepared. It sends or returns the money.",
        "Reject a decision that another user prepared. The withdrawal waits again.",
        example="Call the buyer first",
    ),
}
REFUNDS: Final[Commands] = {
    "list": Call(
        "GET /api/refunds",
        "List refunds.",
        (Value("status"),),
        ("id", "kind", "status", "needsAccount", "amountMinor", "currency", "orderId", "failure", "createdAt"),
        ("--status failed",),
    ),
    "show": Call("GET /api/refunds/{refund_id}", "Show a refund with the decision about it."),
    "prepare": Own(prepare, (f"{ID} --reason 'The bank was down'", f"{ID} --reason 'The payer named it' {_ACCOUNT}")),
    **decision_commands(
        "/api/refunds/{refund_id}",
        _refund,
        "Approve a decision that another user prepared. The refund is sent.",
        "Reject a decision that another user prepared. The refund stays failed.",
        example="Ask the payer first",
    ),
}
