"""Verified bank details for the demo vendors, at accounts of the sandbox under their legal names."""

from typing import Final

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from common.primitives.clock import Clock
from contracts import demo
from contracts.payouts import BankDetailsChanged
from payouts.domain.bank_accounts import NameCheck, check_digit_valid
from payouts.queries.bank_details import find_bank_details
from payouts.store import bank_details, wallets
from payouts.store.account_numbers import AccountNumbers

_ACCOUNTS: Final = ((demo.ADA, "058", "0123456785"), (demo.BOLA, "044", "0690123456"))


async def load_demo_data(database: Database, numbers: AccountNumbers, clock: Clock) -> None:
    """Set the accounts of the demo vendors that have none yet; a second run changes nothing."""
    for vendor, bank_code, account_number in _ACCOUNTS:
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            await wallets.lock_wallet(uow, vendor.id)
            if await find_bank_details(uow, vendor.id) is not None:
                continue
            details = bank_details.BankDetails(
                vendor.id,
                numbers.encrypt(vendor.id, bank_code, account_number),
                account_number[-4:],
                bank_code,
                vendor.legal_name,
                NameCheck(True, None),
                check_digit_valid(bank_code, account_number),
            )
            await bank_details.save_bank_details(uow, details, vendor.owner_user_id, clock.now())
            uow.publish(BankDetailsChanged(vendor_id=vendor.id, last4=details.last4, bank_code=bank_code))
