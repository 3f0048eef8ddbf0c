"""Issue a code for an address."""

from collections.abc import Sequence
from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from common.primitives.encryption import Encryptor
from common.primitives.ids import new_digits, new_id, new_secret
from identity.credentials.code_hashes import code_key_of
from identity.credentials.keyed_hashes import KeyedHashes
from identity.domain.message_budgets import Budget
from identity.domain.one_time_codes import CODE_DIGITS, LIFE, SENDING_QUEUE, CodeRequest
from identity.store import codes
from identity.use_cases.codes.count_messages import count_messages


async def issue_code(
    uow: UnitOfWork,
    encryptor: Encryptor,
    hashes: KeyedHashes,
    request: CodeRequest,
    budgets: Sequence[Budget],
    *,
    now: datetime,
) -> None:
    """Issue a code, whether or not its address has an account, count it, and enqueue its delivery.

    The worker looks up the account after the response, so known and unknown addresses cost the same work. The caller holds
    the lock of the address. Raises TooManyMessages.
    """
    purpose, destination = request.purpose, request.destination
    key = code_key_of(hashes, request)
    code_id = new_id()
    code = new_digits(CODE_DIGITS) if purpose == "sign_in" else new_secret()
    # A short code is only valid with its address; a reset token is presented alone.
    code_hash = hashes.of(purpose, destination.address if purpose == "sign_in" else "", code)
    await codes.save_code(uow, key, code_id, code_hash, now=now, expires_at=now + LIFE[purpose])
    # Lock order: code, count.
    await count_messages(uow, hashes, budgets, now=now)
    uow.enqueue_work(
        SENDING_QUEUE,
        code_id,
        {
            "codeId": str(code_id),
            "purpose": purpose,
            "channel": destination.channel,
            "addressSealed": encryptor.encrypt(destination.address, str(code_id)),
            "codeSealed": encryptor.encrypt(code, str(code_id)),
            "claimantId": str(request.claimant_id) if request.claimant_id else None,
        },
    )
