"""Charges in quarantine: they pay for nothing yet. Two users of finance accept or return them."""

from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

import typer

from operations.campusctl.approving import Hash, approve_decision
from operations.campusctl.registering import Key, Limit, Operator, Page, Yes, command
from operations.campusctl.showing import Output, amount_of

_ID = "018f2a6b-5c1d-7e4a-9b3f-2d6c8a1e0f47"
_COLUMNS = ("id", "reason", "status", "amountMinor", "currency", "orderId", "reference", "createdAt")
_CHARGES = "/api/quarantined-charges"


class ChargeStatus(StrEnum):
    quarantined = "quarantined"
    prepared = "prepared"
    accepted = "accepted"
    returned = "returned"


class Outcome(StrEnum):
    accept = "accept"
    return_ = "return"


def register(app: typer.Typer) -> None:
    group = typer.Typer(help="Charges in quarantine; two people decide.", no_args_is_help=True)
    command(group, "list", "campusctl quarantine list --status quarantined")(list_charges)
    command(group, "show", f"campusctl quarantine show {_ID}")(show_charge)
    command(group, "prepare", f"campusctl quarantine prepare {_ID} --outcome return --reason 'Paid for another shop'")(
        prepare
    )
    command(group, "approve", f"campusctl quarantine approve {_ID}")(approve)
    command(group, "reject", f"campusctl quarantine reject {_ID} --reason 'Ask the bank first'")(reject)
    app.add_typer(group, name="quarantine")


def list_charges(operator: Operator, status: ChargeStatus | None = None, page: Page = 1, limit: Limit = 20) -> Output:
    """List quarantined charges."""
    found = operator.api.get(_CHARGES, page=page, limit=limit, status=status and status.value)
    return Output(found.data, _COLUMNS, found.meta)


def show_charge(operator: Operator, charge_id: UUID) -> Output:
    """Show a quarantined charge with the decision about it."""
    return Output(operator.api.get(f"{_CHARGES}/{charge_id}").data)


def prepare(
    operator: Operator,
    charge_id: UUID,
    outcome: Annotated[Outcome, typer.Option(help="accept: the charge pays its order; return: the payer is refunded.")],
    reason: Annotated[str, typer.Option(help="Reason; the checker reads it.")],
    key: Key = None,
) -> Output:
    """Prepare a decision on a charge. No money moves before a checker approves it."""
    body = {"outcome": outcome.value, "reason": reason}
    return Output(operator.api.act(f"{_CHARGES}/{charge_id}/prepare", body, key).data)


def approve(
    operator: Operator, charge_id: UUID, approved_hash: Hash = None, yes: Yes = False, key: Key = None
) -> Output:
    """Approve a decision that another user prepared. It ends the quarantine of the money."""

    def question(charge: dict[str, Any]) -> str:
        decision = charge["decision"] or {"outcome": "not prepared", "reason": ""}
        return (
            f"{decision['outcome']}: {amount_of(charge)}, charge {charge['reference']}, order {charge['orderId'] or 'unknown'}"
            f" ({decision['reason']})?"
        )

    return approve_decision(
        operator, f"{_CHARGES}/{charge_id}", question, approved_hash=approved_hash, yes=yes, key=key
    )


def reject(
    operator: Operator, charge_id: UUID, reason: Annotated[str, typer.Option(help="Why.")], key: Key = None
) -> Output:
    """Reject a decision that another user prepared. The charge stays in quarantine."""
    return Output(operator.api.act(f"{_CHARGES}/{charge_id}/reject", {"reason": reason}, key).data)
