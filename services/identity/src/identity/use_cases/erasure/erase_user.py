"""Erase a user without open obligations."""

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
    """Delete account, sessions, factors and contact data, close the vendor, and publish the erasure.

    The caller holds the user's lock. The address is free for a new account, but its mailbox is not rewarded again.
    """
    await revoke_sessions(uow, request.user_id, because="erased", now=now)
    await erasure.delete_user(uow, request.user_id, erased_mailbox_hash(hashes, mailbox), now)
    if request.vendor_id is not None:
        campus_id = await erasure.close_vendor(uow, request.vendor_id)
        uow.publish(VendorClosed(vendor_id=request.vendor_id, owner_user_id=request.user_id, campus_id=campus_id))
    uow.publish(UserErased(user_id=request.user_id))
