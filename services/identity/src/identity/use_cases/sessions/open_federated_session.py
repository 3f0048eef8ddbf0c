"""Let somebody with a token of a further issuer use a session of ours."""

from collections.abc import Collection

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from identity.store import accounts, sessions


async def open_federated_session(uow: UnitOfWork, caller: Caller, staff_issuers: Collection[str]) -> None:
    """Whoever came with a token of a further issuer has an account and a session of ours from here on, for what needs one.

    The account has no address and no password, so that no door of ours opens it. In the session, and in the tokens that
    it gives, roles of staff count only when the issuer is one of `staff_issuers`: stepping up must not be a way round that.
    Nothing happens for a caller with a token of our own.
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
