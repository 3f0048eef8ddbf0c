"""Encrypt the account numbers that the previous release wrote in plain text."""

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from payouts.store import bank_details, wallets
from payouts.store.account_numbers import AccountNumbers

# One short transaction for each vendor: no request waits for many.
VENDORS_MAX = 500


async def encrypt_account_numbers(database: Database, numbers: AccountNumbers) -> int:
    """Encrypts all rows of up to `VENDORS_MAX` vendors. Returns how many vendors. Repeatable."""
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        vendors = await bank_details.list_vendors_with_plaintext_numbers(uow, VENDORS_MAX)
    for vendor_id in vendors:
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            await wallets.lock_wallet(uow, vendor_id)
            await bank_details.encrypt_numbers_of(uow, numbers, vendor_id)
    return len(vendors)
