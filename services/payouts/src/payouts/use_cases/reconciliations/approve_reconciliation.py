"""Approve and post a prepared reconciliation."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import THE_SERVICE, Caller
from common.database.unit_of_work import Database, UnitOfWork
from common.primitives.clock import Clock
from common.primitives.decisions import evaluate_approval
from common.primitives.problems import Conflict, NotFound
from payouts.clients.gateway import Gateways
from payouts.domain.errors import ReconciliationStale
from payouts.domain.returns import (
    LockedPayout,
    ReconciliationPlan,
    describe_posting,
    plan_reconciliation,
    reconciliation_hash,
)
from payouts.store import reconciliations, returns, wallets
from payouts.use_cases.payouts.steps import (
    recover_transfer,
    release_transfer_hold,
    restitute_payout,
    return_recovery,
    reverse_payout,
)
from payouts.use_cases.transfers.steps import query_attempts


async def approve_reconciliation(
    database: Database, gateways: Gateways, clock: Clock, caller: Caller, reconciliation_id: UUID, approved_hash: str
) -> None:
    """Post and credits the wallet in one transaction, once, when a new plan has the prepared and approved hash.

    The gateway is queried before. Raises NotFound, the errors of `evaluate_approval`, ReconciliationStale (409: nothing
    was posted), and GatewayUnavailable (503).
    """
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        prepared = await reconciliations.find_reconciliation(uow, reconciliation_id)
    if prepared is None:
        raise NotFound
    if not evaluate_approval(prepared.decision, approved_hash, caller.id):
        return
    await query_attempts(database, gateways, clock, prepared.payout_id)
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await _post(uow, prepared.payout_id, reconciliation_id, approved_hash, caller.id, clock.now())


async def _post(
    uow: UnitOfWork, payout_id: UUID, reconciliation_id: UUID, approved_hash: str, by: UUID, now: datetime
) -> None:
    # Payout before reconciliation, everywhere: two that need both never wait for each other in a circle.
    payout = await returns.lock_payout_with_attempts(uow, payout_id)
    prepared = await reconciliations.find_reconciliation(uow, reconciliation_id, lock=True)
    if payout is None or prepared is None:
        raise AssertionError("neither a payout nor a reconciliation is ever removed")
    if not await reconciliations.TABLE.approve(uow, reconciliation_id, prepared.decision, approved_hash, by, now):
        return
    plan = await _replan(uow, payout)
    if reconciliation_hash(payout_id, plan.kind, [describe_posting(plan.posting)]) != prepared.hash:
        raise ReconciliationStale
    await returns.record_payout_action(uow, payout_id, reconciliation_id, "approved", by, plan.kind, now)
    await _execute(uow, payout, plan, reconciliation_id, now)


async def _execute(
    uow: UnitOfWork, payout: LockedPayout, plan: ReconciliationPlan, reconciliation_id: UUID, now: datetime
) -> None:
    if plan.kind == "restitution":
        await restitute_payout(uow, payout.id, "The bank did not take the transfer; two people confirmed it.", now)
    elif plan.kind == "reversal":
        await reverse_payout(uow, payout, reconciliation_id, now)
    elif plan.kind == "hold_released" and plan.hold_id is not None:
        await release_transfer_hold(uow, payout, plan.hold_id, now)
    elif plan.kind == "recovery" and plan.recovery is not None:
        await recover_transfer(uow, payout, plan.recovery, plan.hold_id, now)
    elif plan.kind == "recovery_returned" and plan.recovery is not None:
        await return_recovery(uow, payout, plan.recovery, now)


async def _replan(uow: UnitOfWork, payout: LockedPayout) -> ReconciliationPlan:
    try:
        return plan_reconciliation(payout, await wallets.lock_wallet(uow, payout.vendor_id))
    except Conflict as error:
        raise ReconciliationStale(f"{ReconciliationStale.detail} {error}") from error
