"""Check that this process can decrypt the stored account numbers."""

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from common.primitives.encryption import Encryptor
from payouts.store import bank_details
from payouts.store.account_numbers import AccountNumbers


async def check_encryption_key(database: Database, numbers: Encryptor) -> None:
    """Decrypts one account number, if there is any. Raises DecryptionFailed when none of the keys does."""
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        found = await bank_details.find_encrypted_number(uow)
    if found is not None:
        # Without the key of the fingerprints: it is created only after the keys have proved right for the database.
        AccountNumbers(numbers, b"").plain_number(*found)
