"""Check that MESSAGE_KEY opens what is stored."""

from common.auth.caller import ServiceItself
from common.database.unit_of_work import Database
from common.primitives.encryption import Encryptor
from notifications.store.encrypted_values import find_one_number

STARTING = ServiceItself("the check of MESSAGE_KEY")


async def check_message_key(database: Database, sealer: Encryptor) -> None:
    """Opens the telephone number of one ticket, if there is one; raises SealBroken when no key of this process does."""
    async with database.unit_of_work(acting_as=STARTING) as uow:
        found = await find_one_number(uow)
    if found is not None:
        sealer.decrypt(found[1], str(found[0]))
