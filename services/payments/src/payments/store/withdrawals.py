"""SQL for withdrawals from balances, and for the decisions about them."""

from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from common.database.decisions import Decisions, DecisionTable
from common.database.state_changes import allows_change, change_state, states_before
from common.database.unit_of_work import Reads, UnitOfWork
from payments.domain.balances import Parts
from payments.domain.transitions import WITHDRAWAL, WithdrawalStatus
from payments.domain.withdrawals import NewWithdrawal, WithdrawalDecision, WithdrawalOutcome
from providers.gateways import GatewayName


class LockedWithdrawal(NamedTuple):
    """A withdrawal, its row locked until the unit of work ends. Amounts in kobo.

    `rewards_minor` and `loss_minor` are parts of the amount that refunds did not cover (`round` above 1).
    """

    id: UUID
    user_id: UUID
    amount_minor: int
    rewards_minor: int
    loss_minor: int
    round: int
    status: WithdrawalStatus
    gateway: GatewayName
    recipient_code: str
    account_last4: str
    submitted_at: datetime | None
    ended_at: datetime | None
    due_at: datetime | None
    poll_count: int
    transfer_fee_minor: int | None

    @property
    def parts(self) -> Parts:
        """The part of the amount that the balance bears, by origin."""
        return Parts(self.rewards_minor, self.amount_minor - self.rewards_minor - self.loss_minor)


_RECORD: Final = """
INSERT INTO withdrawals (id, user_id, amount_minor, status, gateway, recipient_code, account_last4, bank_code,
                         account_name, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
"""
_LOCK: Final = """
SELECT id, user_id, amount_minor, rewards_minor, loss_minor, round, status, gateway, recipient_code, account_last4,
       submitted_at, ended_at, due_at, poll_count, transfer_fee_minor
FROM withdrawals WHERE id = $1 FOR UPDATE
"""
_LIST_DUE: Final = "SELECT id FROM withdrawals WHERE due_at <= $1 ORDER BY due_at LIMIT 50"
_SAVE_SUBMITTING: Final = f"""
UPDATE withdrawals SET status = 'submitting', submitted_at = $2, due_at = $3
WHERE id = $1 AND status IN {states_before(WITHDRAWAL, "sent")}
"""
_SAVE_SENT_AGAIN: Final = """
UPDATE withdrawals SET submitted_at = $3, due_at = $4
WHERE id = $1 AND status = 'submitting' AND submitted_at = $2 RETURNING true
"""
_SAVE_SUBMITTED: Final = f"""
UPDATE withdrawals SET status = 'submitted', due_at = $2
WHERE id = $1 AND status IN {states_before(WITHDRAWAL, "accepted")}
"""
_SAVE_POLL: Final = "UPDATE withdrawals SET poll_count = poll_count + 1, due_at = $2 WHERE id = $1"
_SAVE_FEE: Final = "UPDATE withdrawals SET transfer_fee_minor = $2 WHERE id = $1"
_SAVE_PAID: Final = f"""
UPDATE withdrawals SET status = 'paid', paid_at = $2, ended_at = coalesce(ended_at, $2), due_at = $6, failure = NULL,
    round = $3, rewards_minor = $4, loss_minor = $5
WHERE id = $1 AND status IN {states_before(WITHDRAWAL, "paid")}
"""
_SAVE_ENDED: Final = f"""
UPDATE withdrawals SET status = $2, failure = $3, paid_at = NULL, ended_at = $4, due_at = $5
WHERE id = $1 AND {allows_change(WITHDRAWAL, "$2")}
"""
_SAVE_STATUS: Final = f"UPDATE withdrawals SET status = $2 WHERE id = $1 AND {allows_change(WITHDRAWAL, '$2')}"
_RECORD_DECISION: Final = """
INSERT INTO withdrawal_decisions (id, withdrawal_id, outcome, reason, status, prepared_by, prepared_at)
VALUES ($1, $2, $3, $4, 'prepared', $5, $6)
"""
_NEWEST_DECISION: Final = """
SELECT d.status, d.id, w.id AS withdrawal_id, w.amount_minor, w.recipient_code, d.outcome, d.reason, d.prepared_by
FROM withdrawal_decisions d JOIN withdrawals w ON w.id = d.withdrawal_id WHERE w.id = $1
ORDER BY d.prepared_at DESC, d.id DESC LIMIT 1
"""
DECISIONS: Final = Decisions(DecisionTable("withdrawal_decisions"), WithdrawalDecision, _NEWEST_DECISION)
_QUARANTINE: Final = """
INSERT INTO quarantined_accounts (vendor_id, bank_code, account_last4) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING
"""
_RELEASE: Final = """
DELETE FROM quarantined_accounts WHERE vendor_id = $1 AND bank_code = $2 AND account_last4 = $3
"""
_IS_QUARANTINED: Final = """
SELECT EXISTS (SELECT FROM quarantined_accounts WHERE bank_code = $1 AND account_last4 = $2)
"""


async def record_withdrawal(uow: UnitOfWork, new: NewWithdrawal, now: datetime) -> None:
    values = (new.user_id, new.amount_minor, new.status, new.gateway, *new.recipient[:4])
    await uow.execute(_RECORD, new.id, *values, now)


async def lock_withdrawal(uow: UnitOfWork, withdrawal_id: UUID) -> LockedWithdrawal | None:
    row = await uow.fetch_row(_LOCK, withdrawal_id)
    return None if row is None else LockedWithdrawal(*row)


async def list_due_withdrawals(reads: Reads, now: datetime) -> list[UUID]:
    """Return the withdrawals that are to be sent again or queried."""
    return [row["id"] for row in await reads.fetch(_LIST_DUE, now)]


async def save_submitting(uow: UnitOfWork, withdrawal_id: UUID, now: datetime, due_at: datetime) -> None:
    await change_state(uow, _SAVE_SUBMITTING, withdrawal_id, now, due_at)


async def save_sent_again(uow: UnitOfWork, sent: LockedWithdrawal, now: datetime, due_at: datetime) -> bool:
    """Return whether this call replaces the one of `sent`, which did not reach the gateway."""
    return bool(await uow.fetch_value(_SAVE_SENT_AGAIN, sent.id, sent.submitted_at, now, due_at))


async def save_submitted(uow: UnitOfWork, withdrawal_id: UUID, due_at: datetime) -> None:
    await change_state(uow, _SAVE_SUBMITTED, withdrawal_id, due_at)


async def save_poll(uow: UnitOfWork, withdrawal_id: UUID, due_at: datetime | None) -> None:
    """Count a query of the gateway, and schedule the next one."""
    await uow.execute(_SAVE_POLL, withdrawal_id, due_at)


async def save_fee(uow: UnitOfWork, withdrawal_id: UUID, fee_minor: int) -> None:
    await uow.execute(_SAVE_FEE, withdrawal_id, fee_minor)


async def save_paid(
    uow: UnitOfWork,
    withdrawal_id: UUID,
    now: datetime,
    round_: int,
    rewards_minor: int,
    loss_minor: int,
    due_at: datetime | None,
) -> None:
    """Save the payment; `due_at` is the next query of the ended transfer."""
    await change_state(uow, _SAVE_PAID, withdrawal_id, now, round_, rewards_minor, loss_minor, due_at)


async def save_ended(
    uow: UnitOfWork,
    withdrawal_id: UUID,
    status: WithdrawalStatus,
    failure: str,
    ended_at: datetime | None,
    due_at: datetime | None,
) -> None:
    """Save the end of a withdrawal whose money the same unit of work returns. One that was never sent has no
    `ended_at`.
    """
    await change_state(uow, _SAVE_ENDED, withdrawal_id, status, failure, ended_at, due_at)


async def save_status(uow: UnitOfWork, withdrawal_id: UUID, status: WithdrawalStatus) -> None:
    """Save a step of the decision."""
    await change_state(uow, _SAVE_STATUS, withdrawal_id, status)


async def record_decision(
    uow: UnitOfWork,
    decision_id: UUID,
    withdrawal_id: UUID,
    outcome: WithdrawalOutcome,
    reason: str,
    by: UUID,
    now: datetime,
) -> None:
    await uow.execute(_RECORD_DECISION, decision_id, withdrawal_id, outcome, reason, by, now)


async def record_quarantined_account(uow: UnitOfWork, vendor_id: UUID, bank_code: str, last4: str) -> None:
    await uow.execute(_QUARANTINE, vendor_id, bank_code, last4)


async def delete_quarantined_account(uow: UnitOfWork, vendor_id: UUID, bank_code: str, last4: str) -> None:
    await uow.execute(_RELEASE, vendor_id, bank_code, last4)


async def is_quarantined(uow: UnitOfWork, bank_code: str, last4: str) -> bool:
    """Return whether payouts stopped payments to an account with this bank and these last digits."""
    return bool(await uow.fetch_value(_IS_QUARANTINED, bank_code, last4))
