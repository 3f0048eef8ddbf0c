"""Send a code to the account of its address."""

from datetime import datetime
from uuid import UUID

import msgspec

from common.database.unit_of_work import UnitOfWork
from common.primitives.encryption import Encryptor
from contracts.identity import OneTimeCodeIssued, SignUpRepeated
from identity.credentials.code_hashes import address_hash_of
from identity.credentials.keyed_hashes import KeyedHashes
from identity.domain.one_time_codes import Channel, Destination, Purpose
from identity.store import codes
from identity.use_cases.codes.steps import find_recipient


class CodeToSend(msgspec.Struct, frozen=True, rename="camel"):
    """The work item of `identity.codes`: a code for an address, both encrypted."""

    code_id: UUID
    purpose: Purpose
    channel: Channel
    address_sealed: str
    code_sealed: str
    claimant_id: UUID | None = None


async def send_code(
    uow: UnitOfWork, encryptor: Encryptor, hashes: KeyedHashes, item: CodeToSend, *, now: datetime
) -> None:
    """Publish the code for the one account of the address; do nothing without an account, or once it is not valid.

    A repeated sign-up gets a mail without a code. Raises DecryptionFailed when CODE_DELIVERY_KEY does not match.
    """
    destination = Destination(item.channel, encryptor.decrypt(item.address_sealed, str(item.code_id)))
    valid = await codes.lock_valid_codes(uow, item.purpose, address_hash_of(hashes, destination), now)
    if all(code.id != item.code_id or code.user_id is not None for code in valid):
        return
    user_id = await find_recipient(uow, destination, item.claimant_id)
    if user_id is None:
        return
    await codes.save_recipient(uow, item.code_id, user_id, now)
    if item.purpose == "already_registered":
        uow.publish(SignUpRepeated(user_id=user_id, notification_id=item.code_id))
        return
    is_first_proof = destination.channel == "email" and not await codes.is_email_confirmed(uow, user_id)
    uow.publish(
        OneTimeCodeIssued(
            code_id=item.code_id,
            purpose=item.purpose,
            channel=item.channel,
            address_sealed=item.address_sealed,
            code_sealed=item.code_sealed,
            user_id=user_id,
            confirms_email=is_first_proof,
        )
    )
