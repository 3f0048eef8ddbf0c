"""Staff: the audit trail, roles, grants that need a second approver, suspensions.

**The audit trail is append-only.** A trigger refuses every change, the service's role has no right to one, and
callers write in their own name only. It holds ids, but no names or addresses, and is kept after an erasure.
"""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Final
from uuid import UUID

from common.database.state_changes import allows_change, change_state, states_before
from common.database.unit_of_work import UnitOfWork
from common.primitives.decisions import Verdict
from common.primitives.ids import new_id
from contracts.work import StaffActionSubject
from identity.domain.staff import ADMIN, STAFF_GRANT, Appointment, PreparedGrant, StaffUser

_RECORD_ACTION: Final = """
INSERT INTO staff_acts (id, actor_id, act, subject_kind, subject_id, detail, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7)
"""
# Two admins who revoke each other, or two conflicting grants to one user, would each see the earlier state.
_LOCK_STAFF: Final = "SELECT pg_advisory_xact_lock(hashtextextended('staff', 0))"
# FOR UPDATE blocks the creation of an account or a session: their foreign keys wait for it.
_LOCK_PROFILE: Final = "SELECT true FROM profiles WHERE id = $1 AND erased_at IS NULL FOR UPDATE"
_LOCK_ACCOUNT: Final = "SELECT true FROM accounts WHERE user_id = $1 FOR UPDATE"
_FIND_USER: Final = """
SELECT EXISTS (SELECT FROM suspensions WHERE user_id = $1) AS is_suspended,
    EXISTS (SELECT FROM totp_factors WHERE user_id = $1 AND confirmed_at IS NOT NULL)
        OR EXISTS (SELECT FROM passkeys WHERE user_id = $1) AS has_second_factor,
    EXISTS (SELECT FROM profiles WHERE id = $1 AND confirmed_email = email) AS email_confirmed
"""
_LIST_APPOINTMENTS: Final = "SELECT role, campus_id, hub_id FROM role_grants WHERE user_id = $1 ORDER BY role"
_IS_SUSPENDED: Final = "SELECT EXISTS (SELECT FROM suspensions WHERE user_id = $1)"
_HOLDS: Final = "SELECT EXISTS (SELECT FROM role_grants WHERE user_id = $1 AND role = $2)"
_IS_CAMPUS_ADMIN: Final = """
SELECT EXISTS (SELECT FROM role_grants WHERE user_id = $1 AND role = 'campus_admin' AND campus_id = $2)
"""
_ANY_HUB_CAMPUS: Final = "SELECT campus_id FROM hubs WHERE id = $1"
_FIND_CONFIRMED: Final = "SELECT id FROM profiles WHERE confirmed_email = $1 AND email = $1 AND erased_at IS NULL"
_OTHERS_HOLD: Final = """
SELECT EXISTS (
    SELECT FROM role_grants g WHERE g.role = $2 AND g.user_id <> $1
        AND NOT EXISTS (SELECT FROM suspensions s WHERE s.user_id = g.user_id)
)
"""
_HUB_CAMPUS: Final = "SELECT campus_id FROM hubs WHERE id = $1 AND active"
_RECORD_APPOINTMENT: Final = """
INSERT INTO role_grants (user_id, role, campus_id, hub_id, granted_by, granted_at) VALUES ($1, $2, $3, $4, $5, $6)
"""
_END_APPOINTMENT: Final = "DELETE FROM role_grants WHERE user_id = $1 AND role = $2"
_OPEN: Final = f"status IN {states_before(STAFF_GRANT, 'expired')}"
_EXPIRE_GRANTS: Final = f"UPDATE staff_grants SET status = 'expired' WHERE {_OPEN} AND expires_at <= $1"
_FIND_OPEN_GRANT: Final = f"SELECT id, status FROM staff_grants WHERE user_id = $1 AND role = $2 AND {_OPEN}"
_RECORD_GRANT: Final = """
INSERT INTO staff_grants (id, user_id, role, prepared_by, prepared_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6)
"""
_PREPARE_PROPOSAL: Final = f"""
UPDATE staff_grants SET status = 'prepared', prepared_by = $2, prepared_at = $3, expires_at = $4
WHERE id = $1 AND status IN {states_before(STAFF_GRANT, "prepared")}
"""
_WITHDRAW_PROPOSALS: Final = """
UPDATE staff_grants SET status = 'expired'
WHERE user_id = $1 AND proposed_by = $2 AND status = 'proposed' AND role <> ALL ($3::text[])
"""
# One open grant of a role is enough, also one of an administrator; a rejection holds for a while.
_RECORD_PROPOSAL: Final = f"""
INSERT INTO staff_grants (id, user_id, role, status, proposed_by, prepared_at, expires_at)
SELECT $1, $2, $3::text, 'proposed', $4::text, $5, $6 WHERE NOT EXISTS (
    SELECT FROM staff_grants WHERE user_id = $2 AND role = $3
        AND ({_OPEN} OR (status = 'rejected' AND proposed_by = $4 AND decided_at > $7))
)
RETURNING true
"""
_FIND_GRANT: Final = """
SELECT id, user_id, role, status, prepared_by, expires_at, proposed_by FROM staff_grants WHERE id = $1
"""
_SAVE_DECISION: Final = f"""
UPDATE staff_grants SET status = $2, decided_by = $3, decided_at = $4
WHERE id = $1 AND {allows_change(STAFF_GRANT, "$2")}
"""
_REJECT_GRANTS_OF: Final = """
UPDATE staff_grants SET status = 'rejected', decided_by = $2, decided_at = $3
WHERE prepared_by = $1 AND status = 'prepared' AND expires_at > $3 RETURNING id, user_id, role
"""
_RECORD_SUSPENSION: Final = """
INSERT INTO suspensions (user_id, suspended_by, suspended_at, reason) VALUES ($1, $2, $3, $4)
"""
_END_SUSPENSION: Final = "DELETE FROM suspensions WHERE user_id = $1"


async def record_staff_action(
    uow: UnitOfWork,
    action: str,
    subject_kind: StaffActionSubject,
    subject_id: UUID,
    detail: Mapping[str, object],
    *,
    by: UUID | None,
    now: datetime,
) -> None:
    """Append a line to the audit trail, in the transaction of the change.

    `action` is a past participle such as `suspended`, `subject_kind` a noun such as `vendor`. `by` is None for an
    operator at the machine and for the first start. `detail` holds camelCase fields, no secrets, and no personal
    data except ids.
    """
    await uow.execute(_RECORD_ACTION, new_id(), by, action, subject_kind, subject_id, dict(detail), now)


async def lock_staff(uow: UnitOfWork) -> None:
    """Serialize changes of staff until the transaction ends. They are rare."""
    await uow.execute(_LOCK_STAFF)


async def lock_user(uow: UnitOfWork, user_id: UUID) -> StaffUser | None:
    """Return the user; no session starts until the transaction ends. None without a profile."""
    if await uow.fetch_value(_LOCK_PROFILE, user_id) is None:
        return None
    await uow.execute(_LOCK_ACCOUNT, user_id)
    appointments = tuple(Appointment(*row) for row in await uow.fetch(_LIST_APPOINTMENTS, user_id))
    row = await uow.fetch_row(_FIND_USER, user_id)
    return StaffUser(user_id, appointments, **row) if row else None


async def is_suspended(uow: UnitOfWork, user_id: UUID) -> bool:
    return bool(await uow.fetch_value(_IS_SUSPENDED, user_id))


async def is_admin(uow: UnitOfWork, user_id: UUID) -> bool:
    return bool(await uow.fetch_value(_HOLDS, user_id, ADMIN))


async def is_campus_admin(uow: UnitOfWork, user_id: UUID, campus_id: UUID) -> bool:
    return bool(await uow.fetch_value(_IS_CAMPUS_ADMIN, user_id, campus_id))


async def find_campus_of_hub(uow: UnitOfWork, hub_id: UUID) -> UUID | None:
    """Return the campus of a hub, open or closed."""
    campus_id: UUID | None = await uow.fetch_value(_ANY_HUB_CAMPUS, hub_id)
    return campus_id


async def find_user_by_confirmed_email(uow: UnitOfWork, email: str) -> UUID | None:
    """Return the user who confirmed this normalized address."""
    user_id: UUID | None = await uow.fetch_value(_FIND_CONFIRMED, email)
    return user_id


async def are_there_other_admins(uow: UnitOfWork, user_id: UUID) -> bool:
    """Return whether another active platform_admin exists. Call `lock_staff` before."""
    return bool(await uow.fetch_value(_OTHERS_HOLD, user_id, ADMIN))


async def find_hub_campus(uow: UnitOfWork, hub_id: UUID) -> UUID | None:
    """Return the campus of an open hub."""
    campus_id: UUID | None = await uow.fetch_value(_HUB_CAMPUS, hub_id)
    return campus_id


async def record_appointment(
    uow: UnitOfWork, user_id: UUID, appointment: Appointment, *, by: UUID | None, now: datetime
) -> None:
    await uow.execute(
        _RECORD_APPOINTMENT, user_id, appointment.role, appointment.campus_id, appointment.hub_id, by, now
    )


async def revoke_appointment(uow: UnitOfWork, user_id: UUID, role: str) -> None:
    await uow.execute(_END_APPOINTMENT, user_id, role)


async def record_grant_if_new(
    uow: UnitOfWork, user_id: UUID, role: str, *, by: UUID, now: datetime, expires_at: datetime
) -> tuple[UUID, bool]:
    """Return the prepared grant of this role to this user, and whether it is new; a proposal becomes prepared.

    Call `lock_staff` before.
    """
    await uow.execute(_EXPIRE_GRANTS, now)
    open_grant = await uow.fetch_row(_FIND_OPEN_GRANT, user_id, role)
    if open_grant is not None and open_grant["status"] == "prepared":
        return open_grant["id"], False
    if open_grant is not None:
        await change_state(uow, _PREPARE_PROPOSAL, open_grant["id"], by, now, expires_at)
        return open_grant["id"], True
    grant_id = new_id()
    await uow.execute(_RECORD_GRANT, grant_id, user_id, role, by, now, expires_at)
    return grant_id, True


async def has_open_grant(uow: UnitOfWork, user_id: UUID, role: str, now: datetime) -> bool:
    """Return whether a proposal or a prepared grant waits. Call `lock_staff` before."""
    await uow.execute(_EXPIRE_GRANTS, now)
    return await uow.fetch_row(_FIND_OPEN_GRANT, user_id, role) is not None


async def withdraw_proposals(uow: UnitOfWork, user_id: UUID, provider: str, kept_roles: Collection[str]) -> None:
    """Expire the provider's open proposals of other roles. Call `lock_staff` before."""
    await uow.execute(_WITHDRAW_PROPOSALS, user_id, provider, list(kept_roles))


async def record_proposal_if_new(
    uow: UnitOfWork,
    user_id: UUID,
    role: str,
    provider: str,
    *,
    now: datetime,
    expires_at: datetime,
    not_rejected_since: datetime,
) -> UUID | None:
    """Record the proposal and return its id; None beside an open grant of the role, or after a rejection since then.

    Call `lock_staff` before.
    """
    await uow.execute(_EXPIRE_GRANTS, now)
    grant_id = new_id()
    is_new = await uow.fetch_value(
        _RECORD_PROPOSAL, grant_id, user_id, role, provider, now, expires_at, not_rejected_since
    )
    return grant_id if is_new else None


async def find_grant(uow: UnitOfWork, grant_id: UUID) -> PreparedGrant | None:
    row = await uow.fetch_row(_FIND_GRANT, grant_id)
    return PreparedGrant(**row) if row else None


async def save_decision(uow: UnitOfWork, grant_id: UUID, decision: Verdict, *, by: UUID, now: datetime) -> None:
    await change_state(uow, _SAVE_DECISION, grant_id, decision, by, now)


async def reject_grants_of(
    uow: UnitOfWork, preparer_id: UUID, *, by: UUID, now: datetime
) -> list[tuple[UUID, UUID, str]]:
    """Reject the pending grants that this user prepared; return their ids, grantees and roles."""
    rows = await uow.fetch(_REJECT_GRANTS_OF, preparer_id, by, now)
    return [(row["id"], row["user_id"], row["role"]) for row in rows]


async def record_suspension(uow: UnitOfWork, user_id: UUID, reason: str | None, *, by: UUID, now: datetime) -> None:
    await uow.execute(_RECORD_SUSPENSION, user_id, by, now, reason)


async def lift_suspension(uow: UnitOfWork, user_id: UUID) -> None:
    await uow.execute(_END_SUSPENSION, user_id)
