"""Refunds that failed, or that need an account of the payer. Two users of finance decide."""

from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

import typer

from operations.campusctl.approving import Hash, approve_decision
from operations.campusctl.registering import Key, Limit, Operator, Page, Yes, command
from operations.campusctl.showing import Output, amount_of

_ID = "018f2a6b-5c1d-7e4a-9b3f-2d6c8a1e0f47"
_COLUMNS = ("id", "kind", "status", "needsAccount", "amountMinor", "currency", "orderId", "failure", "createdAt")
_REFUNDS = "/api/refunds"
_ACCOUNT = "--account-number 0123456789 --bank-code 058 --account-name 'Chidi Okafor'"


class RefundStatus(StrEnum):
    pending = "pending"
    submitting = "submitting"
    submitted = "submitted"
    settled = "settled"
    failed = "failed"
    prepared = "prepared"


def register(app: typer.Typer) -> None:
    group = typer.Typer(help="Failed refunds; two people decide.", no_args_is_help=True)
    command(group, "list", "campusctl refunds list --status failed")(list_refunds)
    command(group, "show", f"campusctl refunds show {_ID}")(show_refund)
    command(
        group,
        "prepare",
        f"campusctl refunds prepare {_ID} --reason 'The bank was down'",
        f"campusctl refunds prepare {_ID} --reason 'The payer named it' {_ACCOUNT}",
    )(prepare)
    command(group, "approve", f"campusctl refunds approve {_ID}")(approve)
    command(group, "reject", f"campusctl refunds reject {_ID} --reason 'Ask the payer first'")(reject)
    app.add_typer(group, name="refunds")


def list_refunds(operator: Operator, status: RefundStatus | None = None, page: Page = 1, limit: Limit = 20) -> Output:
    """List refunds."""
    found = operator.api.get(_REFUNDS, page=page, limit=limit, status=status and status.value)
    return Output(found.data, _COLUMNS, found.meta)


def show_refund(operator: Operator, refund_id: UUID) -> Output:
    """Show a refund with the decision about it."""
    return Output(operator.api.get(f"{_REFUNDS}/{refund_id}").data)


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
    return Output(operator.api.act(f"{_REFUNDS}/{refund_id}/prepare", body, key).data)


def approve(
    operator: Operator, refund_id: UUID, approved_hash: Hash = None, yes: Yes = False, key: Key = None
) -> Output:
    """Approve a decision that another user prepared. The refund is sent."""

    def question(refund: dict[str, Any]) -> str:
        decision = refund["decision"] or {"action": "not prepared", "reason": "", "destination": None}
        account = decision["destination"]
        to = "the payer's own means" if account is None else _destination(account)
        return f"{decision['action']}: {amount_of(refund)} to {to}, order {refund['orderId']} ({decision['reason']})?"

    return approve_decision(
        operator, f"{_REFUNDS}/{refund_id}", question, approved_hash=approved_hash, yes=yes, key=key
    )


def reject(
    operator: Operator, refund_id: UUID, reason: Annotated[str, typer.Option(help="Why.")], key: Key = None
) -> Output:
    """Reject a decision that another user prepared. The refund stays failed."""
    return Output(operator.api.act(f"{_REFUNDS}/{refund_id}/reject", {"reason": reason}, key).data)


def _destination(account: dict[str, Any]) -> str:
    """Name the account, with the name at the bank where it differs."""
    named = f"account ...{account['last4']} of {account['accountName']}"
    if account["verified"]:
        return named
    at_bank = account["nameAtBank"]
    return f"{named} (NOT VERIFIED: {f'the bank names {at_bank}' if at_bank else 'the bank confirmed no name'})"
