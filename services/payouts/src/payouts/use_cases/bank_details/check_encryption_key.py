"""Make sure that this process opens what is sealed."""

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from common.primitives.encryption import Encryptor
from payouts import store
from payouts.store.account_numbers import AccountNumbers


async def check_encryption_key(database: Database, numbers: Encryptor) -> None:
    """Opens one encrypted account number, if there is any; raises SealBroken when no key of this process does."""
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        found = await store.find_encrypted_number(uow)
    if found is not None:
        # Of a number alone: the key of the fingerprints is made when this has shown that the keys belong to the database.
        AccountNumbers(numbers, b"").decrypt(*found)
