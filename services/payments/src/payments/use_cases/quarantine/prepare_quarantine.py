"""Prepare the decision about a quarantined charge: accept or return."""

from datetime import datetime
from uuid import UUID

from common.database.idempotent_commands import IdempotentCommand, find_command_result, record_command_result
from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from common.primitives.problems import NotFound
from payments.domain.errors import NotInQuarantine
from payments.domain.quarantine import Outcome, evaluate_acceptance
from payments.domain.transitions import QUARANTINE
from payments.store import charges, decisions


async def prepare_quarantine(
    uow: UnitOfWork,
    quarantined_id: UUID,
    outcome: Outcome,
    reason: str,
    by: UUID,
    now: datetime,
    command: IdempotentCommand | None = None,
) -> None:
    """No money moves before the approval. A repeated command changes nothing.

    Raises NotFound, IdempotencyKeyReused (422), NotInQuarantine and ChargeCannotBeAccepted (409).
    """
    charge = await decisions.lock_quarantined(uow, quarantined_id)
    if charge is None:
        raise NotFound
    if await find_command_result(uow, command) is not None:
        return
    if not QUARANTINE.allows(charge.status, "decision_prepared"):
        raise NotInQuarantine(charge.status)
    if outcome == "accept":
        payable = await charges.lock_payable_orders(uow, charge.reference)
        evaluate_acceptance(charge.amount_minor, charge.currency, payable.expected if payable else None)
    await decisions.record_quarantine_decision(uow, new_id(), quarantined_id, outcome, reason, by, now)
    await decisions.save_quarantined(uow, quarantined_id, "prepared")
    await record_command_result(uow, command, quarantined_id)
