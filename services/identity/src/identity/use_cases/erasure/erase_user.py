"""Erase a person of whom nothing is under way."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from contracts.identity import UserErased, VendorClosed
from identity.credentials.erased_mailboxes import erased_mailbox_hash
from identity.credentials.keyed_hashes import KeyedHashes
from identity.store import erasure
from identity.use_cases.sessions.revoke_sessions import revoke_sessions


async def erase_user(
    uow: UnitOfWork, hashes: KeyedHashes, request: erasure.Request, mailbox: str, *, now: datetime
) -> None:
    """A person goes: account, sessions, factors and contact are removed, their vendor is closed, and every service hears of it.

    The person is locked. Their address is free for a new account, which the same mailbox is not rewarded for.
    """
    await revoke_sessions(uow, request.user_id, because="erased", now=now)
    await erasure.delete_user(uow, request.user_id, erased_mailbox_hash(hashes, mailbox), now)
    if request.vendor_id is not None:
        campus_id = await erasure.close_vendor(uow, request.vendor_id)
        uow.publish(VendorClosed(vendor_id=request.vendor_id, owner_user_id=request.user_id, campus_id=campus_id))
    uow.publish(UserErased(user_id=request.user_id))
