"""Begin a session with a code that was sent."""

import hmac
from datetime import datetime

from common.database import UnitOfWork
from identity.credentials.keyed_hashes import KeyedHashes
from identity.credentials.signing_keys import SigningKeys
from identity.credentials.tokens import SignedIn
from identity.domain.issued_codes import Destination, is_live
from identity.store import codes
from identity.use_cases.begin_session import begin_session
from identity.use_cases.tell_profile import tell_profile


async def verify_code(
    uow: UnitOfWork,
    hashes: KeyedHashes,
    signing_keys: SigningKeys,
    destination: Destination,
    code: str,
    *,
    user_agent: str | None,
    issuer: str,
    now: datetime,
) -> SignedIn | None:
    """A person shows the code that was sent to an address of theirs, once, and gets the tokens of a new session at AAL1.

    The address is confirmed by it. None means that the code is not good; it is no exception, because the count of tries
    must commit.
    """
    address_hash = hashes.of("address", destination.channel, destination.address)
    shown = hashes.of("sign_in", destination.address, code)
    issued = await codes.lock_code(uow, "sign_in", address_hash)
    if issued is None or not is_live(issued, now):
        return None
    await codes.count_try(uow, issued.id)
    if not hmac.compare_digest(issued.code_hash, shown) or issued.user_id is None:
        return None
    # The number may have changed hands since it was sent.
    if await codes.find_holder(uow, destination) != issued.user_id:
        return None
    await codes.mark_used(uow, issued.id, now)
    for changed in await codes.save_confirmed(uow, issued.user_id, destination):
        await tell_profile(uow, changed)
    return await begin_session(
        uow, signing_keys, issued.user_id, method="otp", user_agent=user_agent, issuer=issuer, now=now
    )
