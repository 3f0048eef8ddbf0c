"""Bank accounts of vendors: one user of finance quarantines an account, two release it."""

from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

import typer

from operations.campusctl.approving import Hash, approve_decision
from operations.campusctl.registering import Key, Limit, Operator, Page, Yes, command
from operations.campusctl.showing import Output

_ID = "018f2a6b-5c1d-7e4a-9b3f-2d6c8a1e0f47"
_COLUMNS = ("id", "vendorId", "accountLast4", "bankCode", "status", "reason", "preparedBy", "preparedAt")
_RELEASES = "/api/bank-detail-releases"


class ReleaseStatus(StrEnum):
    prepared = "prepared"
    approved = "approved"
    rejected = "rejected"


def register(app: typer.Typer) -> None:
    group = typer.Typer(help="Quarantined bank accounts of vendors; two people release one.", no_args_is_help=True)
    command(group, "quarantine", f"campusctl accounts quarantine {_ID} --reason 'The bank reported fraud'")(quarantine)
    command(group, "list", "campusctl accounts list --status prepared")(list_releases)
    command(group, "show", f"campusctl accounts show {_ID}")(show_release)
    command(group, "prepare", f"campusctl accounts prepare {_ID} --reason 'The bank confirmed the owner'")(prepare)
    command(group, "approve", f"campusctl accounts approve {_ID}")(approve)
    command(group, "reject", f"campusctl accounts reject {_ID} --reason 'Ask the bank first'")(reject)
    app.add_typer(group, name="accounts")


def quarantine(
    operator: Operator,
    vendor_id: UUID,
    reason: Annotated[str, typer.Option(help="Reason; the vendor reads it.")],
    payout: Annotated[UUID | None, typer.Option(help="The payout that it is about; unsent money goes back.")] = None,
    key: Key = None,
) -> Output:
    """Stop all payouts to the vendor's account, of every vendor that has it."""
    body = {"reason": reason, "payoutId": payout and str(payout)}
    return Output(operator.api.act(f"/api/vendors/{vendor_id}/bank-details/quarantine", body, key).data)


def list_releases(operator: Operator, status: ReleaseStatus | None = None, page: Page = 1, limit: Limit = 20) -> Output:
    """List releases of quarantined accounts."""
    found = operator.api.get(_RELEASES, page=page, limit=limit, status=status and status.value)
    return Output(found.data, _COLUMNS, found.meta)


def show_release(operator: Operator, release_id: UUID) -> Output:
    """Show a release with the quarantines that it ends."""
    return Output(operator.api.get(f"{_RELEASES}/{release_id}").data)


def prepare(
    operator: Operator,
    vendor_id: UUID,
    reason: Annotated[str, typer.Option(help="Reason; the checker reads it.")],
    key: Key = None,
) -> Output:
    """Prepare the release of the vendor's quarantined account. It stays quarantined before a checker approves."""
    return Output(operator.api.act(f"/api/vendors/{vendor_id}/bank-details/release", {"reason": reason}, key).data)


def approve(
    operator: Operator, release_id: UUID, approved_hash: Hash = None, yes: Yes = False, key: Key = None
) -> Output:
    """Approve a release that another user prepared. Payouts to the account are sent again, of every vendor."""

    def question(release: dict[str, Any]) -> str:
        return f"Release account …{release['accountLast4']} at bank {release['bankCode']} ({release['reason']})?"

    return approve_decision(
        operator, f"{_RELEASES}/{release_id}", question, approved_hash=approved_hash, yes=yes, key=key
    )


def reject(
    operator: Operator, release_id: UUID, reason: Annotated[str, typer.Option(help="Why.")], key: Key = None
) -> Output:
    """Reject a release that another user prepared. The account stays quarantined."""
    return Output(operator.api.act(f"{_RELEASES}/{release_id}/reject", {"reason": reason}, key).data)
