"""Approve a prepared payout run, and send it."""

from common.auth.caller import THE_SERVICE, Caller
from common.database.unit_of_work import Database
from common.primitives.clock import Clock
from common.primitives.decisions import AlreadyDecided, evaluate_approval
from payouts.clients.gateway import Gateways
from payouts.store import dispatch_approvals, payouts
from payouts.use_cases.transfers.dispatch_payouts import Approval, DispatchOrder, dispatch_payouts


async def approve_dispatch(
    database: Database, gateways: Gateways, clock: Clock, caller: Caller, approval: Approval
) -> dict[str, object]:
    """Send exactly the list of the preview, once, and return the response of the dispatch.

    The preview's id is the key of its batch: a repetition continues the batch after a crash and returns the same
    response. Raises the errors of `evaluate_approval`, AlreadyDecided (409: another person approved it), and those of
    `dispatch_payouts`; DispatchListChanged (409) ends the approval.
    """
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        prepared = await dispatch_approvals.lock_approval(uow, approval.preview_id)
        is_first = evaluate_approval(prepared, approval.hash, caller.id)
        if not is_first and await dispatch_approvals.find_decider(uow, approval.preview_id) != caller.id:
            raise AlreadyDecided("approved")
        payout_ids = await payouts.list_planned(uow, approval.preview_id)
    order = DispatchOrder(payout_ids, None, dry_run=False, authority=approval)
    return await dispatch_payouts(database, gateways, clock, caller, approval.preview_id, order)
