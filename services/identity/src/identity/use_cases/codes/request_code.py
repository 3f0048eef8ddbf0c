"""Request a code by mail."""

from datetime import datetime, timedelta

from common.database.unit_of_work import UnitOfWork
from common.primitives.encryption import Encryptor
from identity.credentials.code_hashes import code_key_of
from identity.credentials.keyed_hashes import KeyedHashes
from identity.domain.message_budgets import CountedAs, mail_budgets
from identity.domain.one_time_codes import CodeRequest
from identity.store import codes
from identity.use_cases.codes.steps import issue_code


async def request_code(
    uow: UnitOfWork,
    encryptor: Encryptor,
    hashes: KeyedHashes,
    request: CodeRequest,
    *,
    counted_as: CountedAs,
    now: datetime,
    resend_after: timedelta = timedelta(0),
) -> None:
    """Issue a code for a mail address, and mail it to its account if it has one.

    Nothing happens while the last code of this source is younger than `resend_after`. Raises TooManyMessages beyond the
    budget of the mailbox; then the last codes stay valid.
    """
    key = code_key_of(hashes, request)
    await codes.lock_address(uow, key.address_hash)
    last_issued_at = await codes.find_last_issued(uow, key)
    if last_issued_at is not None and now - last_issued_at < resend_after:
        return
    await issue_code(
        uow, encryptor, hashes, request, mail_budgets(counted_as, request.destination.address, request.source), now=now
    )
