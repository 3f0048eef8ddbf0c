"""Make sure that this process opens what is sealed."""

from common.caller import THE_SERVICE
from common.database import Database
from common.sealing import Sealer
from payouts import store
from payouts.store.account_numbers import AccountNumbers


async def check_sealing_key(database: Database, numbers: Sealer) -> None:
    """Opens one encrypted account number, if there is any; raises SealBroken when no key of this process does."""
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        found = await store.find_sealed_number(uow)
    if found is not None:
        # Of a number alone: the key of the fingerprints is made when this has shown that the keys belong to the database.
        AccountNumbers(numbers, b"").open(*found)
