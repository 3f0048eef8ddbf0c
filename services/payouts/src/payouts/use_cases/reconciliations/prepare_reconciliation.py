"""Prepare the posting that makes the ledger agree with the gateway."""

from uuid import UUID

from common.auth.caller import THE_SERVICE, Caller
from common.database.idempotent_commands import IdempotentCommand, find_command_result, record_command_result
from common.database.unit_of_work import Database
from common.primitives.clock import Clock
from common.primitives.ids import new_id
from common.primitives.problems import NotFound
from payouts.clients.gateway import Gateways
from payouts.domain.errors import ReconciliationPrepared
from payouts.domain.returns import describe_posting, plan_reconciliation, reconciliation_hash
from payouts.store import reconciliations, returns, wallets
from payouts.use_cases.transfers.steps import query_attempts


async def prepare_reconciliation(
    database: Database,
    gateways: Gateways,
    clock: Clock,
    caller: Caller,
    payout_id: UUID,
    reason: str,
    command: IdempotentCommand | None = None,
) -> UUID:
    """Record the exact posting and its hash; no money moves yet. The gateway is queried first, by every reference.

    A repeated command returns the id of the first. Raises NotFound, IdempotencyKeyReused (422), GatewayUnavailable
    (503), ReconciliationPrepared and the errors of `plan_reconciliation` (409).
    """
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        if await returns.lock_payout_with_attempts(uow, payout_id) is None:
            raise NotFound
        if (earlier := await find_command_result(uow, command)) is not None:
            return earlier
    await query_attempts(database, gateways, clock, payout_id)
    now = clock.now()
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        payout = await returns.lock_payout_with_attempts(uow, payout_id)
        if payout is None:
            raise AssertionError("a payout is never removed")
        plan = plan_reconciliation(payout, await wallets.lock_wallet(uow, payout.vendor_id))
        postings = [describe_posting(plan.posting)]
        content = reconciliation_hash(payout_id, plan.kind, postings)
        made = reconciliations.Reconciliation(new_id(), payout_id, plan.kind, "prepared", content, caller.id)
        if not await reconciliations.save_reconciliation_if_new(uow, made, plan.transfer_id, postings, reason, now):
            raise ReconciliationPrepared
        await returns.record_payout_action(uow, payout_id, made.id, "prepared", caller.id, reason, now)
        await record_command_result(uow, command, made.id)
    return made.id
