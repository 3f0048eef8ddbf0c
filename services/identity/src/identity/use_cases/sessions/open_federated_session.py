"""Open a local session for a token of a further issuer."""

from collections.abc import Collection

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from identity.store import accounts, sessions


async def open_federated_session(uow: UnitOfWork, caller: Caller, staff_issuers: Collection[str]) -> None:
    """Record an account and a session for a caller with a further issuer's token; otherwise do nothing.

    The account has no address and no password, so a login to it is impossible. Staff roles count in the session only if
    the issuer is in `staff_issuers`, so a step-up cannot circumvent that limit.
    """
    if caller.issuer is None or caller.session_id is None or caller.issued_at is None:
        return
    await accounts.record_federated_account_if_new(uow, caller.id, caller.issued_at)
    await sessions.record_federated_session_if_new(
        uow,
        caller.session_id,
        caller.id,
        caller.issued_at,
        issuer=caller.issuer,
        without_staff_roles=caller.issuer not in staff_issuers,
    )
