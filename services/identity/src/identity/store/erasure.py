"""Erasure requests, and the removal of personal data. The profile row stays, empty."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from common.database.state_changes import StateChanged, allows_change, change_state, states_before
from common.database.unit_of_work import UnitOfWork
from common.primitives.decisions import DECISION
from contracts.permissions import STAFF_ROLES
from identity.domain.erasure import ERASURE, EVALUATING_SERVICES, ErasureStatus
from identity.domain.staff import STAFF_GRANT
from identity.domain.vendors import VENDOR

# Decisions on the user's application and provisioning lock the profile too.
_LOCK_PROFILE: Final = "SELECT mailbox FROM profiles WHERE id = $1 AND erased_at IS NULL FOR NO KEY UPDATE"
_FIND_OBLIGATIONS: Final = """
SELECT own.id AS vendor_id, coalesce(own.status = 'suspended', false) AS is_vendor_suspended,
    EXISTS (SELECT FROM role_grants WHERE user_id = $1 AND role = ANY ($2::text[])) AS is_staff
FROM (VALUES (1)) AS one LEFT JOIN vendors AS own ON own.owner_user_id = $1
"""
_REQUEST: Final = "SELECT id, user_id, vendor_id, status FROM erasure_requests"
_FIND_OPEN_REQUEST: Final = f"{_REQUEST} WHERE user_id = $1 AND status = 'asked'"
_FIND_REQUEST: Final = f"{_REQUEST} WHERE id = $1"
_RECORD_REQUEST: Final = "INSERT INTO erasure_requests (id, user_id, vendor_id, asked_at) VALUES ($1, $2, $3, $4)"
_SAVE_REQUEST: Final = f"""
UPDATE erasure_requests SET status = $2, decided_at = $3 WHERE id = $1 AND {allows_change(ERASURE, "$2")}
"""
_RECORD_VERDICT: Final = """
INSERT INTO erasure_verdicts (request_id, service, open_matters, heard_at) VALUES ($1, $2, $3, $4)
ON CONFLICT (request_id, service) DO NOTHING
"""
_LIST_VERDICTS: Final = "SELECT service, open_matters FROM erasure_verdicts WHERE request_id = $1"
_LIST_OLDEST_PENDING: Final = """
SELECT judge, min(asked.asked_at) AS since
FROM unnest($1::text[]) AS judge LEFT JOIN erasure_requests AS asked ON asked.status = 'asked' AND NOT EXISTS (
    SELECT FROM erasure_verdicts AS verdict WHERE verdict.request_id = asked.id AND verdict.service = judge
)
GROUP BY judge
"""
_CLOSE_VENDOR: Final = f"""
UPDATE vendors SET business_name = '', legal_name = '', category = NULL, description = NULL, suspension_reason = NULL,
    absent_until = NULL, absence_message = NULL, opening_hours = '[]', status = 'closed', revision = revision + 1
WHERE id = $1 AND status IN {states_before(VENDOR, "closed")} RETURNING campus_id
"""
# In the order of their foreign keys. Refresh tokens and providers' sessions are deleted with their sessions.
_DELETE: Final = (
    "DELETE FROM sessions WHERE user_id = $1",
    "DELETE FROM oidc_codes WHERE user_id = $1",
    "DELETE FROM oidc_links WHERE user_id = $1",
    "DELETE FROM totp_factors WHERE user_id = $1",
    "DELETE FROM recovery_codes WHERE user_id = $1",
    "DELETE FROM passkeys WHERE user_id = $1",
    "DELETE FROM passkey_challenges WHERE user_id = $1",
    "DELETE FROM one_time_codes WHERE user_id = $1",
    "DELETE FROM issued_codes WHERE user_id = $1",
    "DELETE FROM api_keys WHERE created_by = $1",
    "DELETE FROM saved_views WHERE user_id = $1",
    "DELETE FROM accounts WHERE user_id = $1",
    "DELETE FROM vendor_applications WHERE user_id = $1",
    "DELETE FROM role_grants WHERE user_id = $1",
    "DELETE FROM shop_members WHERE user_id = $1",
    "DELETE FROM shop_invitations WHERE email = (SELECT email FROM profiles WHERE id = $1)",
    "UPDATE staff_grants SET status = 'expired' "
    f"WHERE user_id = $1 AND status IN {states_before(STAFF_GRANT, 'expired')}",
    "UPDATE factor_resets SET status = 'expired' "
    f"WHERE user_id = $1 AND status IN {states_before(DECISION, 'expired')}",
    "UPDATE factor_resets SET reason = '' WHERE user_id = $1",
    # The suspension stays. Its reason remains only in the audit trail.
    "UPDATE suspensions SET reason = NULL WHERE user_id = $1",
    # The referral stays counted. The stored hash prevents a second reward for the mailbox.
    "UPDATE referrals SET mailbox = user_id::text WHERE user_id = $1",
)
_EMPTY_PROFILE: Final = """
UPDATE profiles
SET email = '', mailbox = '', phone = NULL, full_name = NULL, confirmed_email = NULL, confirmed_phone = NULL,
    referral_token = 'erased:' || id, revision = revision + 1, updated_at = $2, erased_at = $2
WHERE id = $1
"""
_RECORD_MAILBOX: Final = """
INSERT INTO erased_mailboxes (mailbox_hash, erased_at) VALUES ($1, $2)
ON CONFLICT (mailbox_hash) DO UPDATE SET erased_at = excluded.erased_at
"""


@dataclass(frozen=True, slots=True)
class Obligations:
    """The facts that block a user's erasure."""

    vendor_id: UUID | None
    is_vendor_suspended: bool
    is_staff: bool


@dataclass(frozen=True, slots=True)
class Request:
    """A user's erasure request, with the vendor that they owned at that time."""

    id: UUID
    user_id: UUID
    vendor_id: UUID | None
    status: ErasureStatus


async def lock_user(uow: UnitOfWork, user_id: UUID) -> str | None:
    """Return the mailbox of a user who is not erased; the profile stays locked until the transaction ends."""
    mailbox: str | None = await uow.fetch_value(_LOCK_PROFILE, user_id)
    return mailbox


async def find_obligations(uow: UnitOfWork, user_id: UUID) -> Obligations:
    row = await uow.fetch_row(_FIND_OBLIGATIONS, user_id, sorted(STAFF_ROLES))
    if row is None:
        raise AssertionError("the statement always gives a row")
    return Obligations(**row)


async def find_open_request(uow: UnitOfWork, user_id: UUID) -> Request | None:
    """Return the open request. The caller locks the user before, which orders requests and evaluations."""
    row = await uow.fetch_row(_FIND_OPEN_REQUEST, user_id)
    return None if row is None else Request(**row)


async def find_request(uow: UnitOfWork, request_id: UUID) -> Request | None:
    row = await uow.fetch_row(_FIND_REQUEST, request_id)
    return None if row is None else Request(**row)


async def record_request(
    uow: UnitOfWork, request_id: UUID, user_id: UUID, vendor_id: UUID | None, now: datetime
) -> None:
    await uow.execute(_RECORD_REQUEST, request_id, user_id, vendor_id, now)


async def save_request(uow: UnitOfWork, request_id: UUID, status: ErasureStatus, now: datetime) -> None:
    await change_state(uow, _SAVE_REQUEST, request_id, status, now)


async def record_evaluation_if_new(
    uow: UnitOfWork, request_id: UUID, service: str, open_matters: Sequence[str], now: datetime
) -> None:
    await uow.execute(_RECORD_VERDICT, request_id, service, list(open_matters), now)


async def list_verdicts(uow: UnitOfWork, request_id: UUID) -> dict[str, list[str]]:
    """Return the open obligations that each service has reported."""
    return {row["service"]: row["open_matters"] for row in await uow.fetch(_LIST_VERDICTS, request_id)}


async def list_oldest_pending(uow: UnitOfWork) -> dict[str, datetime | None]:
    """Return since when each service's evaluation is missing; None when it is not."""
    return {row["judge"]: row["since"] for row in await uow.fetch(_LIST_OLDEST_PENDING, sorted(EVALUATING_SERVICES))}


async def close_vendor(uow: UnitOfWork, vendor_id: UUID) -> UUID:
    """Remove the vendor's names and return its campus."""
    campus_id: UUID | None = await uow.fetch_value(_CLOSE_VENDOR, vendor_id)
    if campus_id is None:
        raise StateChanged(f"vendor {vendor_id} is closed already")
    return campus_id


async def delete_user(uow: UnitOfWork, user_id: UUID, mailbox_hash: bytes, now: datetime) -> None:
    """Delete all personal data. The stored hash recognizes a returning mailbox."""
    for statement in _DELETE:
        await uow.execute(statement, user_id)
    await uow.execute(_EMPTY_PROFILE, user_id, now)
    await uow.execute(_RECORD_MAILBOX, mailbox_hash, now)
