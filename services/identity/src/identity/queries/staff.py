"""Staff, grants that need a second approver, and the audit trail, for readers of staff."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, Literal
from uuid import UUID

import asyncpg

from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from common.web.pages import Found, OffsetPage
from contracts.permissions import STAFF_ROLES, leading_role
from identity.domain.staff import PreparedGrant
from identity.responses.staff import RoleAssignment, StaffAction, StaffGrant, StaffMember, StaffName

_STAFF: Final = sorted(STAFF_ROLES)
_MEMBER: Final = """
SELECT id, full_name, email, created_at, suspended_at, suspended_by, suspension_reason, has_second_factor
FROM staff_members
"""
# Suspended users are listed too, so that staff can find them again; so is the user of an exact address, who may be
# granted a first role.
_FILTER: Final = """
WHERE CASE WHEN $2::text IS NULL AND $3::uuid IS NULL AND (suspended_at IS NOT NULL OR $5::text IS NOT NULL) THEN true
    ELSE EXISTS (
        SELECT FROM role_grants g WHERE g.user_id = staff_members.id AND g.role = ANY ($1::text[])
            AND ($2::text IS NULL OR g.role = $2) AND ($3::uuid IS NULL OR g.campus_id = $3)
    ) END AND ($4::boolean IS NULL OR (suspended_at IS NOT NULL) = $4) AND ($5::text IS NULL OR email = $5)
"""
_STAFF_PAGE: Final = f"{_MEMBER} {_FILTER} ORDER BY created_at {{0}}, id {{0}} LIMIT $6 OFFSET $7"
_STAFF_NEWEST, _STAFF_OLDEST = _STAFF_PAGE.format("DESC"), _STAFF_PAGE.format("ASC")
_STAFF_TOTAL: Final = f"SELECT count(*) FROM staff_members {_FILTER}"
_ONE: Final = f"{_MEMBER} WHERE id = $1"
_APPOINTMENTS: Final = """
SELECT user_id, role, campus_id, hub_id, granted_at AS since FROM role_grants WHERE user_id = ANY ($1::uuid[])
ORDER BY user_id, role
"""

_GRANT: Final = """
SELECT id, user_id, role, proposed_by, prepared_by, prepared_at, expires_at, decided_by, decided_at,
    shown_status AS status
FROM staff_grants, LATERAL (
    SELECT CASE WHEN status IN ('proposed', 'prepared') AND expires_at <= $1 THEN 'expired'
        ELSE status END AS shown_status
) AS shown
"""
_GRANTS_FILTER: Final = "WHERE ($2::text IS NULL OR shown_status = $2) AND ($3::uuid IS NULL OR user_id = $3)"
# $1 is the present time. Neither who prepared a grant nor who gets the role approves it.
AWAITING_GRANT: Final = """
staff_grants.status = 'prepared' AND expires_at > $1 AND prepared_by <> (SELECT app_user_id())
    AND user_id <> (SELECT app_user_id())
"""
# No user prepares a grant to themselves.
AWAITING_PREPARATION: Final = """
staff_grants.status = 'proposed' AND expires_at > $1 AND user_id <> (SELECT app_user_id())
"""
_AWAITING: Final = {"approval": AWAITING_GRANT, "preparation": AWAITING_PREPARATION}
_GRANT_PAGE: Final = f"{_GRANT} {_GRANTS_FILTER} {{1}} ORDER BY prepared_at {{0}}, id {{0}} LIMIT $4 OFFSET $5"
_GRANTS_TOTAL: Final = f"SELECT count(*) FROM ({_GRANT} {_GRANTS_FILTER} {{0}}) AS matching"
_ONE_GRANT: Final = f"{_GRANT} WHERE id = $2"
_HELD: Final = """
SELECT user_id, role, campus_id, hub_id, NULL AS proposed_by, granted_by AS prepared_by, granted_at AS prepared_at
FROM role_grants
WHERE user_id = $1 AND role = $2
"""

_ACTIONS_FILTER: Final = """
FROM staff_acts
WHERE ($1::uuid IS NULL OR actor_id = $1) AND ($2::uuid IS NULL OR subject_id = $2) AND ($3::text IS NULL OR act = $3)
"""
_ACTIONS_PAGE: Final = f"""
SELECT id, actor_id, act, subject_kind, subject_id, detail, created_at {_ACTIONS_FILTER}
ORDER BY created_at {{0}}, id {{0}} LIMIT $4 OFFSET $5
"""
_ACTIONS_NEWEST, _ACTIONS_OLDEST = _ACTIONS_PAGE.format("DESC"), _ACTIONS_PAGE.format("ASC")
_ACTIONS_TOTAL: Final = f"SELECT count(*) {_ACTIONS_FILTER}"

_NAMES_FILTER: Final = """
SELECT p.id, coalesce(p.full_name, p.email) AS name, held.roles
FROM profiles p CROSS JOIN LATERAL (
    SELECT array_agg(g.role ORDER BY g.role) AS roles FROM role_grants g
    WHERE g.user_id = p.id AND g.role = ANY ($1::text[])
) AS held
WHERE p.erased_at IS NULL AND held.roles IS NOT NULL AND ($2::uuid[] IS NULL OR p.id = ANY ($2))
  AND ($3::text IS NULL OR ($3 = ANY (held.roles) AND NOT EXISTS (SELECT FROM suspensions s WHERE s.user_id = p.id)))
  AND p.id IN (SELECT user_id FROM role_grants WHERE role = ANY ($1::text[]))
"""
_NAMES: Final = f"{_NAMES_FILTER} ORDER BY name, id LIMIT $4 OFFSET $5"
_NAMES_BACKWARDS: Final = f"{_NAMES_FILTER} ORDER BY name DESC, id DESC LIMIT $4 OFFSET $5"
_NAMES_TOTAL: Final = f"SELECT count(*) FROM ({_NAMES_FILTER}) AS found"


async def page_of_staff(
    uow: UnitOfWork,
    role: str | None,
    campus_id: UUID | None,
    suspended: bool | None,
    email: str | None,
    *,
    page: OffsetPage,
) -> Found[StaffMember]:
    """Return one page and the total of users with a staff role and of suspended users; with `email` the user of that
    normalized address, with or without a role.
    """
    filters = (_STAFF, role, campus_id, suspended, email)
    rows = await uow.fetch(_STAFF_NEWEST if page.descending else _STAFF_OLDEST, *filters, page.limit, page.offset)
    return await _member_responses(uow, rows), await uow.fetch_value(_STAFF_TOTAL, *filters)


async def find_member(uow: UnitOfWork, user_id: UUID) -> StaffMember:
    """Return any user by id, also one without a staff role, who may be granted one. Raises NotFound."""
    shown = await _member_responses(uow, await uow.fetch(_ONE, user_id))
    if not shown:
        raise NotFound
    return shown[0]


async def page_of_grants(
    uow: UnitOfWork,
    status: str | None,
    user_id: UUID | None,
    *,
    awaiting: Literal["approval", "preparation"] | None = None,
    now: datetime,
    page: OffsetPage,
) -> Found[StaffGrant]:
    """Return one page and the total of the grants that needed a second approver; with `awaiting` those that the caller
    may approve or prepare.
    """
    condition = "" if awaiting is None else f"AND {_AWAITING[awaiting]}"
    statement = _GRANT_PAGE.format("DESC" if page.descending else "ASC", condition)
    rows = await uow.fetch(statement, now, status, user_id, page.limit, page.offset)
    total = await uow.fetch_value(_GRANTS_TOTAL.format(condition), now, status, user_id)
    return [_grant_response(row) for row in rows], total


async def find_grant_response(uow: UnitOfWork, grant_id: UUID, *, now: datetime) -> StaffGrant:
    """Raise NotFound."""
    row = await uow.fetch_row(_ONE_GRANT, now, grant_id)
    if row is None:
        raise NotFound
    return _grant_response(row)


async def find_granted(uow: UnitOfWork, user_id: UUID, role: str) -> StaffGrant:
    """Return a held role in the shape of a grant that needed no second approver. Raises NotFound."""
    row = await uow.fetch_row(_HELD, user_id, role)
    if row is None:
        raise NotFound
    return StaffGrant.from_row(
        row, id=None, status="granted", hash=None, expires_at=None, decided_by=None, decided_at=None
    )


async def page_of_staff_actions(
    uow: UnitOfWork,
    actor_id: UUID | None,
    subject_id: UUID | None,
    act: str | None,
    *,
    page: OffsetPage,
) -> Found[StaffAction]:
    """Return one page and the total of the audit trail."""
    filters = (actor_id, subject_id, act)
    rows = await uow.fetch(_ACTIONS_NEWEST if page.descending else _ACTIONS_OLDEST, *filters, page.limit, page.offset)
    return [StaffAction.from_row(row) for row in rows], await uow.fetch_value(_ACTIONS_TOTAL, *filters)


async def page_of_staff_names(
    uow: UnitOfWork, ids: Sequence[UUID] | None, role: str | None, *, page: OffsetPage
) -> Found[StaffName]:
    """Return one page and the total of the names of staff: of these ids, of a role, or all. With `role`, suspended
    users are left out: nothing is assigned to them.
    """
    filters = (_STAFF, ids, role)
    rows = await uow.fetch(_NAMES_BACKWARDS if page.descending else _NAMES, *filters, page.limit, page.offset)
    total: int = await uow.fetch_value(_NAMES_TOTAL, *filters)
    return [StaffName.from_row(row) for row in rows], total


async def _member_responses(uow: UnitOfWork, rows: Sequence[asyncpg.Record]) -> list[StaffMember]:
    appointments: dict[UUID, list[asyncpg.Record]] = {row["id"]: [] for row in rows}
    for appointment in await uow.fetch(_APPOINTMENTS, list(appointments)):
        appointments[appointment["user_id"]].append(appointment)
    return [_member_response(row, appointments[row["id"]]) for row in rows]


def _member_response(row: asyncpg.Record, appointments: Sequence[asyncpg.Record]) -> StaffMember:
    roles = [appointment["role"] for appointment in appointments]
    offices = [RoleAssignment.from_row(each) for each in appointments if each["role"] in STAFF_ROLES]
    suspended = row["suspended_at"] is not None
    return StaffMember.from_row(row, role=leading_role(roles), roles=roles, offices=offices, suspended=suspended)


def _grant_response(row: asyncpg.Record) -> StaffGrant:
    names = ("id", "user_id", "role", "status", "prepared_by", "expires_at", "proposed_by")
    grant = PreparedGrant(**{name: row[name] for name in names})
    # Roles that need a second approver are held for the whole platform.
    return StaffGrant.from_row(row, campus_id=None, hub_id=None, hash=grant.hash)
