"""Make sure that this process opens what is sealed."""

from common.caller import THE_SERVICE
from common.database import Database
from payouts import store
from payouts.store.account_numbers import AccountNumbers


async def check_sealing_key(database: Database, numbers: AccountNumbers) -> None:
    """Opens one sealed account number, if there is any; raises SealBroken under another key than the one that sealed it."""
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        found = await store.find_sealed_number(uow)
    if found is not None:
        numbers.open(*found)
