"""Request a code by text message."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from common.primitives.encryption import Encryptor
from identity.credentials.code_hashes import code_key_of
from identity.credentials.keyed_hashes import KeyedHashes
from identity.domain.errors import NumberNotAccepted
from identity.domain.message_budgets import TextPolicy
from identity.domain.one_time_codes import CodeRequest
from identity.store import codes
from identity.use_cases.codes.steps import find_recipient, issue_code


async def request_text(
    uow: UnitOfWork,
    encryptor: Encryptor,
    hashes: KeyedHashes,
    policy: TextPolicy,
    request: CodeRequest,
    *,
    now: datetime,
) -> None:
    """Issue a code for a number, and text it to the user who proved it, or who claims it with their token.

    Raises NumberNotAccepted, and TooManyMessages beyond a budget. Redeeming a code frees none of them.
    """
    phone = request.destination.address
    if not policy.accepts(phone):
        raise NumberNotAccepted(policy.countries)
    await codes.lock_address(uow, code_key_of(hashes, request).address_hash)
    is_sent = await find_recipient(uow, request.destination, request.claimant_id) is not None
    budgets = policy.budgets(phone, request.source, request.claimant_id, is_sent=is_sent)
    await issue_code(uow, encryptor, hashes, request, budgets, now=now)
