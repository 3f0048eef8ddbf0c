"""Commission of a vendor's sales. Two administrators decide on a change."""

from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

import typer

from operations.campusctl.approving import Hash, approve_decision
from operations.campusctl.registering import Key, Limit, Operator, Page, Yes, command
from operations.campusctl.showing import Output

_ID = "018f2a6b-5c1d-7e4a-9b3f-2d6c8a1e0f47"
_COLUMNS = ("id", "vendorId", "beforeBasisPoints", "commissionBasisPoints", "status", "preparedBy", "expiresAt")


class Status(StrEnum):
    prepared = "prepared"
    approved = "approved"
    rejected = "rejected"
    expired = "expired"


def register(app: typer.Typer) -> None:
    group = typer.Typer(help="Vendor commissions; two administrators decide on a change.", no_args_is_help=True)
    command(group, "list", "campusctl commissions list --status prepared")(list_changes)
    command(group, "prepare", f"campusctl commissions prepare {_ID} --basis-points 450")(prepare)
    command(group, "approve", f"campusctl commissions approve {_ID}")(approve)
    command(group, "reject", f"campusctl commissions reject {_ID} --reason 'Not agreed'")(reject)
    app.add_typer(group, name="commissions")


def list_changes(
    operator: Operator, status: Status | None = None, vendor: UUID | None = None, page: Page = 1, limit: Limit = 20
) -> Output:
    """List commission changes."""
    narrowed = {"status": status and status.value, "vendorId": vendor and str(vendor)}
    found = operator.api.get("/api/commission-changes", page=page, limit=limit, **narrowed)
    return Output(found.data, _COLUMNS, found.meta)


def prepare(
    operator: Operator,
    vendor_id: UUID,
    basis_points: Annotated[
        int | None, typer.Option(min=0, max=10_000, help="New commission; omit to restore the platform's default.")
    ] = None,
) -> Output:
    """Prepare a commission change. It takes effect when another administrator approves it."""
    changed = operator.api.call("PATCH", f"/api/vendors/{vendor_id}", {"commissionBasisPoints": basis_points})
    return Output(changed.data.get("commissionChange") or changed.data)


def approve(
    operator: Operator, change_id: UUID, approved_hash: Hash = None, yes: Yes = False, key: Key = None
) -> Output:
    """Approve a commission change that another administrator prepared."""

    def question(change: dict[str, Any]) -> str:
        return f"Give vendor {change['vendorId']} the commission {_points(change['commissionBasisPoints'])}?"

    path = f"/api/commission-changes/{change_id}"
    return approve_decision(operator, path, question, approved_hash=approved_hash, yes=yes, key=key)


def reject(operator: Operator, change_id: UUID, reason: str | None = None, key: Key = None) -> Output:
    """Reject a commission change that another administrator prepared."""
    body = {} if reason is None else {"reason": reason}
    return Output(operator.api.act(f"/api/commission-changes/{change_id}/reject", body, key).data)


def _points(points: int | None) -> str:
    return "of the platform's default" if points is None else f"of {points} basis points"
