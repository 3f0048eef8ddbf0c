"""Payouts, their exceptions and reconciliations, and the vendors' bank accounts that they go to."""

from typing import Annotated, Any, Final
from uuid import UUID

import typer

from contracts.choices import parameters_of
from operations.campusctl.api_commands import (
    ID,
    REASON,
    Call,
    Commands,
    Own,
    Value,
    decision_commands,
    one_of,
    register_group,
)
from operations.campusctl.registering import Key, Operator, Yes
from operations.campusctl.showing import Output, naira

_EXCEPTION: Final = parameters_of("/api/payout-exceptions")
_PAYOUT: Final = Value("payout", UUID, sent_as="payoutId")
_REASON_FOR_CHECKER: Final = Value("reason", text="Reason; the checker reads it.", required=True)


def register(app: typer.Typer) -> None:
    register_group(app, "payouts", "Payouts to vendors.", PAYOUTS)
    register_group(app, "payout-runs", "Large payout runs; two people of finance decide.", PAYOUT_RUNS)
    register_group(app, "exceptions", "Transfers that failed or contradict the ledger.", EXCEPTIONS)
    register_group(app, "reconciliations", "Reversals and recoveries of payouts; two people decide.", RECONCILIATIONS)
    register_group(app, "accounts", "Quarantined bank accounts of vendors; two people release one.", ACCOUNTS)


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


def _reconciliation(prepared: dict[str, Any]) -> str:
    return f"Post the {prepared['kind']} of {naira(prepared['amountMinor'])} for payout {prepared['payoutId']}?"


def _run(run: dict[str, Any]) -> str:
    return f"Send {len(run['transfers'])} payouts, {naira(run['totalMinor'])}?"


def _release(release: dict[str, Any]) -> str:
    return f"Release account …{release['accountLast4']} at bank {release['bankCode']} ({release['reason']})?"


PAYOUTS: Final[Commands] = {
    "list": Call(
        "GET /api/payouts",
        "List payouts.",
        (Value("status"), Value("vendor", UUID, sent_as="vendorId")),
        ("id", "vendorId", "amountMinor", "status", "retryCount", "transferReference", "createdAt"),
        ("--status pending",),
    ),
    "show": Call("GET /api/payouts/{payout_id}", "Show a payout with its last transfer."),
    "dispatch": Own(dispatch, ("--dry-run", f"{ID} --yes")),
    "reset": Own(reset, (f"{ID} --reason 'The bank was down'",)),
    "hold": Call(
        "POST /api/payouts/{payout_id}/hold",
        "Hold a payout: no dispatch sends it before its release.",
        (REASON,),
        examples=(f"{ID} --reason 'The vendor reports a theft'",),
    ),
    "release": Call(
        "POST /api/payouts/{payout_id}/release",
        "Release a payout that finance held. The next dispatch may send it.",
        (REASON,),
        examples=(f"{ID} --reason 'The vendor is safe'",),
        confirmation="Release the payout {payout_id}?",
    ),
}
PAYOUT_RUNS: Final[Commands] = {
    "list": Call(
        "GET /api/payout-batches",
        "List payout runs that were sent.",
        columns=("batchId", "dispatchedBy", "createdAt", "payouts", "totalMinor", "successful", "failed"),
    ),
    "show": Call("GET /api/payout-batches/{batch_id}", "Show a run or its preview, with payees and hash."),
    "prepare": Call(
        "POST /api/payout-batches/{batch_id}/prepare",
        "Prepare a preview for a second person. Nothing is sent before a checker approves it.",
        (Value("hash", text="Hash of the list that you read.", required=True),),
        examples=(f"{ID} --hash 9f86d081884c7d65",),
    ),
    **decision_commands(
        "/api/payout-batches/{batch_id}",
        _run,
        "Approve and send a run that another user prepared.",
        "Reject a run that another user prepared. Nothing is sent.",
        example="Wrong vendor",
    ),
}
EXCEPTIONS: Final[Commands] = {
    "list": Call(
        "GET /api/payout-exceptions",
        "List payout exceptions with their response deadlines.",
        (Value("status"), Value("severity"), Value("cause"), _PAYOUT),
        ("id", "severity", "cause", "status", "amountMinor", "payoutId", "respondBy"),
        ("--status open --severity SEV-1",),
    ),
    "show": Call(
        "GET /api/payout-exceptions/{exception_id}",
        "Show a payout exception with the events and staff actions since it was opened.",
    ),
    "classify": Call(
        "POST /api/payout-exceptions/{exception_id}/classify",
        "Correct severity and cause. A higher severity alerts the on-call staff again.",
        (
            one_of("severity", *_EXCEPTION["severity"], required=True),
            one_of("cause", *_EXCEPTION["cause"], required=True),
            Value("note", text="Why.", required=True),
        ),
        examples=(f"{ID} --severity SEV-2 --cause timeout --note 'The bank says so'",),
    ),
    "close": Call(
        "POST /api/payout-exceptions/{exception_id}/close",
        "Close a resolved exception. No money moves.",
        (Value("evidence", text="Evidence that the exception is resolved.", required=True),),
        examples=(f"{ID} --evidence 'Letter of the bank, 3 May'",),
        confirmation="Close the exception for good?",
    ),
}
RECONCILIATIONS: Final[Commands] = {
    "list": Call(
        "GET /api/reconciliations",
        "List reconciliations.",
        (Value("status"), _PAYOUT),
        ("id", "kind", "status", "amountMinor", "payoutId", "preparedBy", "preparedAt"),
        ("--status prepared",),
    ),
    "prepare": Call(
        "POST /api/payouts/{payout_id}/reconciliations",
        "Prepare the return of a payout's money. Nothing is posted before a checker approves it.",
        (_REASON_FOR_CHECKER,),
        examples=(f"{ID} --reason 'Account closed'",),
    ),
    **decision_commands(
        "/api/reconciliations/{reconciliation_id}",
        _reconciliation,
        "Approve and post a reconciliation that another user prepared.",
        "Reject a reconciliation that another user prepared. Nothing is posted.",
        example="Wrong payout",
    ),
}
ACCOUNTS: Final[Commands] = {
    "quarantine": Call(
        "POST /api/vendors/{vendor_id}/bank-details/quarantine",
        "Stop all payouts to the vendor's account, of every vendor that has it.",
        (
            Value("reason", text="Reason; the vendor reads it.", required=True),
            Value("payout", UUID, "The payout that it is about; unsent money goes back.", sent_as="payoutId"),
        ),
        examples=(f"{ID} --reason 'The bank reported fraud'",),
    ),
    "list": Call(
        "GET /api/bank-detail-releases",
        "List releases of quarantined accounts.",
        (Value("status"),),
        ("id", "vendorId", "accountLast4", "bankCode", "status", "reason", "preparedBy", "preparedAt"),
        ("--status prepared",),
    ),
    "show": Call("GET /api/bank-detail-releases/{release_id}", "Show a release with the quarantines that it ends."),
    "prepare": Call(
        "POST /api/vendors/{vendor_id}/bank-details/release",
        "Prepare the release of the vendor's quarantined account. It stays quarantined before a checker approves.",
        (_REASON_FOR_CHECKER,),
        examples=(f"{ID} --reason 'The bank confirmed the owner'",),
    ),
    **decision_commands(
        "/api/bank-detail-releases/{release_id}",
        _release,
        "Approve a release that another user prepared. Payouts to the account are sent again, of every vendor.",
        "Reject a release that another user prepared. The account stays quarantined.",
        example="Ask the bank first",
    ),
}
