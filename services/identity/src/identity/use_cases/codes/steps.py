"""Steps of codes that several operations share."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.encryption import Encryptor
from common.primitives.ids import new_digits, new_id, new_secret
from identity.credentials.code_hashes import budget_hash_of, code_key_of
from identity.credentials.keyed_hashes import KeyedHashes
from identity.domain.errors import TooManyMessages
from identity.domain.message_budgets import Budget, CountedAs, mail_budgets
from identity.domain.one_time_codes import CODE_DIGITS, LIFE, SENDING_QUEUE, CodeRequest, Destination
from identity.metrics import MESSAGES_REFUSED
from identity.store import codes, message_counts


async def count_messages(uow: UnitOfWork, hashes: KeyedHashes, budgets: Sequence[Budget], *, now: datetime) -> None:
    """Count one message in all budgets. Raises TooManyMessages when one is exhausted; the caller then counts in
    none.
    """
    by_hash = {budget_hash_of(hashes, budget): budget for budget in budgets}
    added = [(key, now + budget.window, int(budget.is_counted)) for key, budget in by_hash.items()]
    counted = await message_counts.count_messages(uow, now, added)
    exceeded = {
        by_hash[key]: window_ends_at
        for key, (messages, window_ends_at) in counted.items()
        if messages + (not by_hash[key].is_counted) > by_hash[key].messages_max
    }
    if exceeded:
        for budget in exceeded:
            MESSAGES_REFUSED.labels(budget.subject[0]).inc()
        raise TooManyMessages(max(exceeded.values()) - now)


async def find_recipient(uow: UnitOfWork, destination: Destination, claimant_id: UUID | None) -> UUID | None:
    """Return the user who claims the number of their profile, or the one whom the address signs in; None without
    one.
    """
    if claimant_id is not None and await codes.may_confirm_phone(uow, claimant_id, destination):
        return claimant_id
    return await codes.find_sign_in_user(uow, destination)


async def free_mail_budgets(
    uow: UnitOfWork, hashes: KeyedHashes, counted_as: CountedAs, email: str, source: str
) -> None:
    """Clear the counts of a mailbox whose owner has redeemed a code."""
    budgets = mail_budgets(counted_as, email, source)
    await message_counts.clear_counts(uow, [budget_hash_of(hashes, budget) for budget in budgets])


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

    The worker looks up the account after the response, so known and unknown addresses cost the same work. The caller
    holds the lock of the address. Raises TooManyMessages.
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
