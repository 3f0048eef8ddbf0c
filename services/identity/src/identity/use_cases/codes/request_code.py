"""Request a code."""

from datetime import datetime, timedelta
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.encryption import Encryptor
from common.primitives.ids import new_digits, new_id, new_secret
from identity.credentials.keyed_hashes import KeyedHashes
from identity.domain.one_time_codes import (
    CODE_DIGITS,
    LIFE,
    RESEND_AFTER,
    Destination,
    Issuable,
    Purpose,
    evaluate_request,
)
from identity.store import codes

SENDING_QUEUE = "identity.codes"


async def request_code(
    uow: UnitOfWork,
    encryptor: Encryptor,
    hashes: KeyedHashes,
    purpose: Purpose,
    destination: Destination,
    *,
    now: datetime,
    resend_after: timedelta = RESEND_AFTER,
    claimant_id: UUID | None = None,
) -> None:
    """Issue and count a code for an address, whether or not it has an account, and enqueue its delivery.

    The worker looks up the account after the response, so known and unknown addresses cost the same work. Beyond the
    rate limit nothing happens and the last code stays valid. `claimant_id` is the signed-in user: the code of their
    profile's number confirms it.
    """
    address_hash = hashes.of("address", destination.channel, destination.address)
    await codes.lock_address(uow, address_hash)
    verdict = evaluate_request(await codes.find_code(uow, purpose, address_hash), now, resend_after=resend_after)
    if not isinstance(verdict, Issuable):
        return
    code_id = new_id()
    code = new_digits(CODE_DIGITS) if purpose == "sign_in" else new_secret()
    # A short code is only valid with its address; a reset token is presented alone.
    code_hash = hashes.of(purpose, destination.address if purpose == "sign_in" else "", code)
    expires_at = now + LIFE[purpose]
    await codes.save_code(uow, purpose, address_hash, code_id, code_hash, verdict, now=now, expires_at=expires_at)
    uow.enqueue_work(
        SENDING_QUEUE,
        code_id,
        {
            "codeId": str(code_id),
            "purpose": purpose,
            "channel": destination.channel,
            "addressSealed": encryptor.encrypt(destination.address, str(code_id)),
            "codeSealed": encryptor.encrypt(code, str(code_id)),
            "claimantId": str(claimant_id) if claimant_id else None,
        },
    )
