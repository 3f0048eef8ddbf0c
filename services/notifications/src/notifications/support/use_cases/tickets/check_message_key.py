"""Check that MESSAGE_KEY decrypts the stored data."""

from common.auth.caller import ServiceItself
from common.database.unit_of_work import Database
from common.primitives.encryption import Encryptor
from notifications.support.store.encrypted_values import find_one_number

STARTING = ServiceItself("the check of MESSAGE_KEY")


async def check_message_key(database: Database, encryptor: Encryptor) -> None:
    """Decrypt the phone number of one ticket, if any. Raises DecryptionFailed when no configured key fits."""
    async with database.unit_of_work(acting_as=STARTING) as uow:
        found = await find_one_number(uow)
    if found is not None:
        ticket_id, encrypted = found
        encryptor.decrypt(encrypted, str(ticket_id))
