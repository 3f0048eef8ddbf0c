"""SQL for the balances of buyers, their holds, and the lines of their statements."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from common.database.state_changes import change_state, states_before
from common.database.unit_of_work import Reads, UnitOfWork
from common.primitives.ids import new_id
from payments.domain.balances import LineKind, Parts
from payments.domain.transitions import HOLD, HoldStatus


class Hold(NamedTuple):
    """The hold of a payment, its row locked until the unit of work ends. Amounts in kobo."""

    intent_id: UUID
    user_id: UUID
    order_id: UUID
    parts: Parts
    status: HoldStatus
    hold_count: int


_RECORD_LINE: Final = """
INSERT INTO balance_lines (id, user_id, sequence, kind, order_id, amount_minor, rewards_minor, balance_minor, at)
SELECT $4, $1, line_count, $5, $6, $2::bigint + $3::bigint, $2, changed.rewards_minor + changed.refunds_minor, $7
FROM changed
"""
_CREDIT: Final = f"""
WITH changed AS (
    INSERT INTO buyer_balances AS balance (user_id, rewards_minor, refunds_minor, held_minor, line_count)
    VALUES ($1, $2, $3, 0, 1)
    ON CONFLICT (user_id) DO UPDATE SET rewards_minor = balance.rewards_minor + excluded.rewards_minor,
        refunds_minor = balance.refunds_minor + excluded.refunds_minor, line_count = balance.line_count + 1
    RETURNING rewards_minor, refunds_minor, line_count
)
{_RECORD_LINE}
"""
_CHANGED: Final = """
    UPDATE buyer_balances SET rewards_minor = rewards_minor + $2, refunds_minor = refunds_minor + $3,
        held_minor = held_minor - ($2::bigint + $3::bigint), line_count = line_count + 1
    WHERE user_id = $1 RETURNING rewards_minor, refunds_minor, line_count
"""
_HOLD: Final = f"""
WITH changed AS ({_CHANGED}), line AS ({_RECORD_LINE})
INSERT INTO balance_holds AS hold (intent_id, user_id, amount_minor, rewards_minor, status, hold_count, changed_at)
VALUES ($8, $1, -($2::bigint + $3::bigint), -$2::bigint, 'held', 1, $7)
ON CONFLICT (intent_id) DO UPDATE SET amount_minor = excluded.amount_minor, rewards_minor = excluded.rewards_minor,
    status = 'held', hold_count = hold.hold_count + 1, changed_at = excluded.changed_at
WHERE hold.status IN {states_before(HOLD, "held_again")}
"""
_WITHDRAW: Final = f"""
WITH changed AS (
    UPDATE buyer_balances SET rewards_minor = rewards_minor + $2, refunds_minor = refunds_minor + $3,
        line_count = line_count + 1
    WHERE user_id = $1 RETURNING rewards_minor, refunds_minor, line_count
)
{_RECORD_LINE}
"""
_RETURN: Final = f"WITH changed AS ({_CHANGED}) {_RECORD_LINE}"
_SAVE_RETURNED: Final = f"""
UPDATE balance_holds SET status = 'returned', changed_at = $2
WHERE intent_id = $1 AND status IN {states_before(HOLD, "returned")}
"""
_SAVE_SPENT: Final = f"""
WITH paid AS (UPDATE buyer_balances SET held_minor = held_minor - ($3::bigint + $4::bigint) WHERE user_id = $2)
UPDATE balance_holds SET status = 'spent', amount_minor = $3::bigint + $4::bigint, rewards_minor = $3, changed_at = $5
WHERE intent_id = $1 AND status IN {states_before(HOLD, "spent")}
"""
_LOCK_BALANCE: Final = "SELECT rewards_minor, refunds_minor FROM buyer_balances WHERE user_id = $1 FOR UPDATE"
_LOCK_HOLD: Final = """
SELECT h.intent_id, h.user_id, i.order_id, h.rewards_minor, h.amount_minor - h.rewards_minor, h.status, h.hold_count
FROM balance_holds h JOIN payment_intents i ON i.id = h.intent_id WHERE h.intent_id = $1 FOR UPDATE OF h
"""
# Other live payments of the orders, which are closed once the orders are paid.
_LOCK_OTHER_HOLDS: Final = """
SELECT intent_id, amount_minor FROM balance_holds
WHERE status = 'held' AND intent_id <> $1
  AND intent_id IN (SELECT id FROM payment_intents WHERE order_id = ANY ($2)
                    UNION ALL SELECT intent_id FROM intent_orders WHERE order_id = ANY ($2))
ORDER BY intent_id FOR UPDATE
"""
# A payment that ended without its hold: the version before ended it.
_LIST_LEFT_HELD: Final = """
SELECT i.reference FROM balance_holds h JOIN payment_intents i ON i.id = h.intent_id
WHERE h.status = 'held' AND i.status NOT IN ('opening', 'pending') LIMIT 100
"""
_IS_REWARDED: Final = (
    "SELECT EXISTS (SELECT FROM ledger_transactions WHERE posting_key = 'referral_reward:' || $1::uuid)"
)
# An account with a reward of an earlier version has one, under the user's posting key.
_LIST_UNMOVED: Final = """
SELECT split_part(e.account, ':', 2)::uuid, -sum(e.amount_minor)::bigint
FROM ledger_accounts known JOIN ledger_entries e ON e.account = known.account
WHERE known.account ~>=~ 'buyer_reward:' AND known.account ~<~ 'buyer_reward;' AND NOT EXISTS (
    SELECT FROM ledger_transactions t WHERE t.posting_key = replace(known.account, 'buyer_reward:', 'reward_moved:')
)
GROUP BY e.account HAVING sum(e.amount_minor) < 0 ORDER BY e.account LIMIT $1
"""


async def record_credit(
    uow: UnitOfWork, user_id: UUID, kind: LineKind, parts: Parts, now: datetime, order_id: UUID | None = None
) -> None:
    """Add an amount to the user's balance, with its line. Its posting belongs to the same unit of work."""
    await uow.execute(_CREDIT, user_id, *parts, new_id(), kind, order_id, now)


async def record_withdrawal(uow: UnitOfWork, user_id: UUID, parts: Parts, now: datetime) -> None:
    """Take a part of the locked balance for a bank account."""
    change = (-parts.rewards_minor, -parts.refunds_minor)
    await change_state(uow, _WITHDRAW, user_id, *change, new_id(), "withdrawn", None, now)


async def lock_balance(uow: UnitOfWork, user_id: UUID) -> Parts:
    """Return what the user has available; nothing without a balance."""
    row = await uow.fetch_row(_LOCK_BALANCE, user_id)
    return Parts() if row is None else Parts(*row)


async def lock_hold(uow: UnitOfWork, intent_id: UUID) -> Hold | None:
    row = await uow.fetch_row(_LOCK_HOLD, intent_id)
    if row is None:
        return None
    return Hold(row["intent_id"], row["user_id"], row["order_id"], Parts(*row[3:5]), row["status"], row["hold_count"])


async def lock_other_holds(uow: UnitOfWork, intent_id: UUID, order_ids: Sequence[UUID]) -> dict[UUID, int]:
    """Return what other payments of these orders hold, in kobo."""
    rows = await uow.fetch(_LOCK_OTHER_HOLDS, intent_id, order_ids)
    return {row["intent_id"]: row["amount_minor"] for row in rows}


async def record_hold(
    uow: UnitOfWork, intent_id: UUID, order_id: UUID, user_id: UUID, parts: Parts, now: datetime
) -> None:
    """Hold a part of the locked balance for a payment, again after its return."""
    change = (-parts.rewards_minor, -parts.refunds_minor)
    await change_state(uow, _HOLD, user_id, *change, new_id(), "spent", order_id, now, intent_id)


async def record_return(uow: UnitOfWork, hold: Hold, parts: Parts, now: datetime) -> None:
    """Return a part of the hold to its balance."""
    await change_state(uow, _RETURN, hold.user_id, *parts, new_id(), "returned", hold.order_id, now)


async def save_hold_returned(uow: UnitOfWork, intent_id: UUID, now: datetime) -> None:
    await change_state(uow, _SAVE_RETURNED, intent_id, now)


async def save_hold_spent(uow: UnitOfWork, hold: Hold, spent: Parts, now: datetime) -> None:
    """Count the spent part as no longer held."""
    await change_state(uow, _SAVE_SPENT, hold.intent_id, hold.user_id, *spent, now)


async def list_left_held(reads: Reads) -> list[str]:
    """Return references of ended payments whose hold was left."""
    return [row["reference"] for row in await reads.fetch(_LIST_LEFT_HELD)]


async def is_rewarded(uow: UnitOfWork, user_id: UUID) -> bool:
    """Return whether the user's referral reward is posted, by this version or an earlier one."""
    return bool(await uow.fetch_value(_IS_REWARDED, user_id))


async def list_unmoved_rewards(uow: UnitOfWork, limit: int) -> list[tuple[UUID, int]]:
    """Return users whose reward is on an account of an earlier version, and its amount in kobo."""
    return [(user_id, amount_minor) for user_id, amount_minor in await uow.fetch(_LIST_UNMOVED, limit)]
