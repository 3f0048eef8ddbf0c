"""Payouts, their exceptions and reconciliations."""

from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

import typer

from operations.campusctl.approving import Hash, approve_decision
from operations.campusctl.registering import Key, Limit, Operator, Page, Yes, command
from operations.campusctl.showing import Output, naira

_ID = "018f2a6b-5c1d-7e4a-9b3f-2d6c8a1e0f47"
_PAYOUT_COLUMNS = ("id", "vendorId", "amountMinor", "status", "retryCount", "transferReference", "createdAt")
_EXCEPTION_COLUMNS = ("id", "severity", "cause", "status", "amountMinor", "payoutId", "respondBy")
_RECONCILIATION_COLUMNS = ("id", "kind", "status", "amountMinor", "payoutId", "preparedBy", "preparedAt")
Severity = StrEnum("Severity", {"sev_1": "SEV-1", "sev_2": "SEV-2", "sev_3": "SEV-3"})


class PayoutStatus(StrEnum):
    pending = "pending"
    processed = "processed"
    failed = "failed"


class ExceptionStatus(StrEnum):
    open = "open"
    closed = "closed"


class Decision(StrEnum):
    prepared = "prepared"
    approved = "approved"
    rejected = "rejected"


def register(app: typer.Typer) -> None:
    payouts = typer.Typer(help="Payouts to vendors.", no_args_is_help=True)
    command(payouts, "list", "campusctl payouts list --status pending")(list_payouts)
    command(payouts, "show", f"campusctl payouts show {_ID}")(show_payout)
    command(payouts, "dispatch", "campusctl payouts dispatch --dry-run", f"campusctl payouts dispatch {_ID} --yes")(
        dispatch
    )
    command(payouts, "reset", f"campusctl payouts reset {_ID} --reason 'The bank was down'")(reset)
    app.add_typer(payouts, name="payouts")
    exceptions = typer.Typer(help="Transfers that failed or contradict the ledger.", no_args_is_help=True)
    command(exceptions, "list", "campusctl exceptions list --status open --severity SEV-1")(list_exceptions)
    command(exceptions, "show", f"campusctl exceptions show {_ID}")(show_exception)
    command(
        exceptions,
        "classify",
        f"campusctl exceptions classify {_ID} --severity SEV-2 --cause timeout --note 'The bank says so'",
    )(classify)
    command(exceptions, "close", f"campusctl exceptions close {_ID} --evidence 'Letter of the bank, 3 May'")(close)
    app.add_typer(exceptions, name="exceptions")
    group = typer.Typer(help="Reversals and recoveries of payouts; two people decide.", no_args_is_help=True)
    command(group, "list", "campusctl reconciliations list --status prepared")(list_reconciliations)
    command(group, "prepare", f"campusctl reconciliations prepare {_ID} --reason 'Account closed'")(prepare)
    command(group, "approve", f"campusctl reconciliations approve {_ID}")(approve)
    command(group, "reject", f"campusctl reconciliations reject {_ID} --reason 'Wrong payout'")(reject)
    app.add_typer(group, name="reconciliations")


def list_payouts(
    operator: Operator,
    status: PayoutStatus | None = None,
    vendor: UUID | None = None,
    page: Page = 1,
    limit: Limit = 20,
) -> Output:
    """List payouts."""
    narrowed = {"status": status and status.value, "vendorId": vendor and str(vendor)}
    found = operator.api.get("/api/payouts", page=page, limit=limit, **narrowed)
    return Output(found.data, _PAYOUT_COLUMNS, found.meta)


def show_payout(operator: Operator, payout_id: UUID) -> Output:
    """Show a payout with its last transfer."""
    return Output(operator.api.get(f"/api/payouts/{payout_id}").data)


def dispatch(
    operator: Operator,
    payout_ids: Annotated[
        list[UUID] | None, typer.Argument(help="Payouts to send; all eligible ones when omitted.")
    ] = None,
    max_total_minor: Annotated[int | None, typer.Option(min=1, help="Maximum sum in kobo.")] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="List the payouts that would be sent; send nothing.")
    ] = False,
    yes: Yes = False,
    key: Key = None,
) -> Output:
    """Send payouts to the bank.

    Without --yes a dry run comes first. After the confirmation exactly its payouts are sent.
    """
    order = {"payoutIds": [str(one) for one in payout_ids] if payout_ids else None, "maxTotalMinor": max_total_minor}
    if dry_run:
        return Output(operator.api.act("/api/payouts/dispatch", {**order, "dryRun": True}, key).data)
    if not yes:
        planned = operator.api.act("/api/payouts/dispatch", {**order, "dryRun": True}).data
        if not planned["transfers"]:
            return Output(planned)
        order["payoutIds"] = [transfer["payoutId"] for transfer in planned["transfers"]]
        operator.confirm(f"Send {len(planned['transfers'])} payouts, {naira(planned['totalMinor'])}?", yes=False)
    return Output(operator.api.act("/api/payouts/dispatch", order, key).data)


def reset(
    operator: Operator,
    payout_id: UUID,
    reason: Annotated[str, typer.Option(help="Reason; the vendor sees it.")],
    yes: Yes = False,
    key: Key = None,
) -> Output:
    """Send a failed payout again, after a query of its state at the payment gateway."""
    if not yes:
        # On-call staff may not read payouts; the exception of a payout that they may reset holds the amount.
        found = operator.api.get("/api/payout-exceptions", payoutId=str(payout_id), status="open").data
        amount = f", {naira(found[0]['amountMinor'])}," if found else ""
        operator.confirm(f"Send the payout {payout_id}{amount} again?", yes=False)
    return Output(operator.api.act(f"/api/payouts/{payout_id}/reset", {"reason": reason}, key).data)


def list_exceptions(
    operator: Operator,
    status: ExceptionStatus | None = None,
    severity: Severity | None = None,
    cause: str | None = None,
    payout: UUID | None = None,
    page: Page = 1,
    limit: Limit = 20,
) -> Output:
    """List payout exceptions with their response deadlines."""
    narrowed = {
        "status": status and status.value,
        "severity": severity and severity.value,
        "cause": cause,
        "payoutId": payout and str(payout),
    }
    found = operator.api.get("/api/payout-exceptions", page=page, limit=limit, **narrowed)
    return Output(found.data, _EXCEPTION_COLUMNS, found.meta)


def show_exception(operator: Operator, exception_id: UUID) -> Output:
    """Show a payout exception with the events and staff actions since it was opened."""
    return Output(operator.api.get(f"/api/payout-exceptions/{exception_id}").data)


def classify(
    operator: Operator,
    exception_id: UUID,
    severity: Annotated[Severity, typer.Option()],
    cause: Annotated[str, typer.Option(help="timeout, bank_switch_error, name_mismatch …")],
    note: Annotated[str, typer.Option(help="Why.")],
    key: Key = None,
) -> Output:
    """Correct severity and cause. A higher severity alerts the on-call staff again."""
    body = {"severity": severity.value, "cause": cause, "note": note}
    return Output(operator.api.act(f"/api/payout-exceptions/{exception_id}/classify", body, key).data)


def close(
    operator: Operator,
    exception_id: UUID,
    evidence: Annotated[str, typer.Option(help="Evidence that the exception is resolved.")],
    yes: Yes = False,
    key: Key = None,
) -> Output:
    """Close a resolved exception. No money moves."""
    operator.confirm("Close the exception for good?", yes=yes)
    return Output(operator.api.act(f"/api/payout-exceptions/{exception_id}/close", {"evidence": evidence}, key).data)


def list_reconciliations(
    operator: Operator,
    status: Decision | None = None,
    payout: UUID | None = None,
    page: Page = 1,
    limit: Limit = 20,
) -> Output:
    """List reconciliations."""
    narrowed = {"status": status and status.value, "payoutId": payout and str(payout)}
    found = operator.api.get("/api/reconciliations", page=page, limit=limit, **narrowed)
    return Output(found.data, _RECONCILIATION_COLUMNS, found.meta)


def prepare(
    operator: Operator,
    payout_id: UUID,
    reason: Annotated[str, typer.Option(help="Reason; the checker reads it.")],
    key: Key = None,
) -> Output:
    """Prepare the return of a payout's money. Nothing is posted before a checker approves it."""
    return Output(operator.api.act(f"/api/payouts/{payout_id}/reconciliations", {"reason": reason}, key).data)


def approve(
    operator: Operator, reconciliation_id: UUID, approved_hash: Hash = None, yes: Yes = False, key: Key = None
) -> Output:
    """Approve and post a reconciliation that another user prepared."""

    def question(prepared: dict[str, Any]) -> str:
        return f"Post the {prepared['kind']} of {naira(prepared['amountMinor'])} for payout {prepared['payoutId']}?"

    path = f"/api/reconciliations/{reconciliation_id}"
    return approve_decision(operator, path, question, approved_hash=approved_hash, yes=yes, key=key)


def reject(
    operator: Operator, reconciliation_id: UUID, reason: Annotated[str, typer.Option(help="Why.")], key: Key = None
) -> Output:
    """Reject a reconciliation that another user prepared. Nothing is posted."""
    return Output(operator.api.act(f"/api/reconciliations/{reconciliation_id}/reject", {"reason": reason}, key).data)
