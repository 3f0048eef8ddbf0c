"""SQL for quarantined charges, and for the four-eyes decisions about them and about failed refunds."""

from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from common.database.decisions import Decisions, DecisionTable
from common.database.state_changes import allows_change, change_state, states_before
from common.database.unit_of_work import UnitOfWork
from common.primitives.decisions import DECISION
from common.primitives.ids import new_id
from payments.domain.decisions import QuarantineDecision, RefundDecision
from payments.domain.destinations import Recipient
from payments.domain.transitions import QUARANTINE, REFUND, QuarantinedChargeStatus


class LockedQuarantinedCharge(NamedTuple):
    """A quarantined charge, its row locked until the unit of work ends. The amount is in the minor unit of its
    currency.
    """

    id: UUID
    charge_id: UUID
    reference: str
    order_id: UUID | None
    amount_minor: int
    currency: str
    status: QuarantinedChargeStatus
    identity: str
    channel: str | None


# The lock serializes decisions about one charge.
_LOCK_QUARANTINED: Final = """
SELECT q.id, q.charge_id, q.reference, q.order_id, q.amount_minor, q.currency, q.status, c.identity, c.channel
FROM quarantined_charges q JOIN charges c ON c.id = q.charge_id WHERE q.id = $1 FOR UPDATE OF q
"""
_SAVE_QUARANTINED: Final = f"""
UPDATE quarantined_charges SET status = $2, refund_id = coalesce($3, refund_id), order_id = coalesce(order_id, $4)
WHERE id = $1 AND {allows_change(QUARANTINE, "$2")}
"""
_SAVE_CHARGE_VERDICT: Final = "UPDATE charges SET verdict = $2, order_id = $3 WHERE id = $1"
_RECORD_QUARANTINE_DECISION: Final = """
INSERT INTO quarantine_decisions (id, quarantined_charge_id, outcome, reason, status, prepared_by, prepared_at)
VALUES ($1, $2, $3, $4, 'prepared', $5, $6)
"""
_NEWEST_QUARANTINE_DECISION: Final = """
SELECT d.status, d.id, q.id AS charge_id, q.reference, q.amount_minor, q.currency, d.outcome, d.reason, d.prepared_by
FROM quarantine_decisions d JOIN quarantined_charges q ON q.id = d.quarantined_charge_id WHERE q.id = $1
ORDER BY d.prepared_at DESC, d.id DESC LIMIT 1
"""
_SAVE_REFUND_PREPARED: Final = f"""
UPDATE refunds SET status = 'prepared' WHERE id = $1 AND status IN {states_before(REFUND, "decision_prepared")}
"""
_SAVE_REFUND_UNPREPARED: Final = f"""
UPDATE refunds SET status = 'failed' WHERE id = $1 AND status IN {states_before(REFUND, "decision_rejected")}
"""
_RECORD_REFUND_DECISION: Final = """
INSERT INTO refund_decisions (id, refund_id, action, reason, status, prepared_by, prepared_at, recipient_code,
                              account_last4, bank_code, account_name, name_at_bank)
VALUES ($1, $2, $3, $4, 'prepared', $5, $6, $7, $8, $9, $10, $11)
"""
_NEWEST_REFUND_DECISION: Final = """
SELECT d.status, d.id, d.refund_id, f.amount_minor, f.currency, d.action, d.reason, d.prepared_by, d.recipient_code,
       d.account_last4, d.bank_code, d.account_name, d.name_at_bank
FROM refund_decisions d JOIN refunds f ON f.id = d.refund_id WHERE d.refund_id = $1
ORDER BY d.prepared_at DESC, d.id DESC LIMIT 1
"""
QUARANTINE_DECISIONS: Final = Decisions(
    DecisionTable("quarantine_decisions"), QuarantineDecision, _NEWEST_QUARANTINE_DECISION
)
REFUND_DECISIONS: Final = Decisions(DecisionTable("refund_decisions"), RefundDecision, _NEWEST_REFUND_DECISION)
_OVERTAKE: Final = f"""
UPDATE refund_decisions SET status = 'overtaken'
WHERE refund_id = $1 AND status IN {states_before(DECISION, "overtaken")}
"""


async def lock_quarantined(uow: UnitOfWork, quarantined_id: UUID) -> LockedQuarantinedCharge | None:
    row = await uow.fetch_row(_LOCK_QUARANTINED, quarantined_id)
    return None if row is None else LockedQuarantinedCharge(*row)


async def save_quarantined(
    uow: UnitOfWork,
    quarantined_id: UUID,
    status: QuarantinedChargeStatus,
    *,
    refund_id: UUID | None = None,
    order_id: UUID | None = None,
) -> None:
    await change_state(uow, _SAVE_QUARANTINED, quarantined_id, status, refund_id, order_id)


async def save_charge_verdict(uow: UnitOfWork, charge_id: UUID, verdict: str, order_id: UUID) -> None:
    await uow.execute(_SAVE_CHARGE_VERDICT, charge_id, verdict, order_id)


async def record_quarantine_decision(
    uow: UnitOfWork, decision_id: UUID, quarantined_id: UUID, outcome: str, reason: str, by: UUID, now: datetime
) -> None:
    await uow.execute(_RECORD_QUARANTINE_DECISION, decision_id, quarantined_id, outcome, reason, by, now)


async def save_refund_prepared(uow: UnitOfWork, refund_id: UUID) -> None:
    await change_state(uow, _SAVE_REFUND_PREPARED, refund_id)


async def save_refund_unprepared(uow: UnitOfWork, refund_id: UUID) -> None:
    await change_state(uow, _SAVE_REFUND_UNPREPARED, refund_id)


async def record_refund_decision(
    uow: UnitOfWork,
    refund_id: UUID,
    action: str,
    reason: str,
    by: UUID,
    now: datetime,
    recipient: Recipient | None,
) -> None:
    account = (None,) * 5 if recipient is None else recipient
    await uow.execute(_RECORD_REFUND_DECISION, new_id(), refund_id, action, reason, by, now, *account)


async def overtake_refund_decision(uow: UnitOfWork, refund_id: UUID) -> None:
    """Close a prepared decision about a refund that was settled in the meantime."""
    await uow.execute(_OVERTAKE, refund_id)
