"""Set the account that receives a vendor's payouts."""

from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import Database, UnitOfWork
from common.primitives.clock import Clock
from common.primitives.problems import NotFound, ValidationFailed
from contracts.payouts import BankDetailsChanged
from payouts.clients.gateway import Gateway
from payouts.domain.bank_accounts import check_account_name, check_change, check_digit_valid
from payouts.domain.errors import AccountQuarantined, VendorNotReceived
from payouts.queries.bank_details import find_legal_name
from payouts.queries.banks import find_bank_name
from payouts.store import bank_details, wallets
from payouts.store.account_numbers import AccountNumbers


@dataclass(frozen=True, slots=True)
class Account:
    """An account as the vendor states it."""

    vendor_id: UUID
    number: str
    bank_code: str


async def change_bank_details(
    database: Database,
    gateway: Gateway,
    clock: Clock,
    numbers: AccountNumbers,
    cooling: timedelta,
    caller: Caller,
    account: Account,
) -> UUID | None:
    """Resolve the account's name at the gateway and save the details, verified when it is the vendor's legal name.

    An account that the bank does not have is saved unverified, with the reason. It replaces no verified account: it is
    a version of the history then, whose id is returned; None when the account is the present one. Raises NotFound
    (another vendor), ValidationFailed (no such bank), AccountQuarantined (409), VendorNotReceived and
    GatewayUnavailable (503); nothing is changed then.
    """
    vendor_id = account.vendor_id
    if caller.vendor_id != vendor_id:
        raise NotFound
    async with database.unit_of_work(acting_as=caller) as uow:
        if await find_bank_name(uow, gateway.name, account.bank_code) is None:
            raise ValidationFailed.of("bankCode", "not a bank of the list")
        await _legal_name(uow, vendor_id)
    account_name = await gateway.account_name(account.number, account.bank_code)
    number, now = numbers.encrypt(vendor_id, account.bank_code, account.number), clock.now()
    async with database.unit_of_work(acting_as=caller) as uow:
        await wallets.lock_wallet(uow, vendor_id)
        # Read again under the lock: name, quarantine and details may have changed during the call.
        name_check = check_account_name(await _legal_name(uow, vendor_id), account_name)
        if await bank_details.is_quarantined(uow, number.fingerprint):
            raise AccountQuarantined
        known = await bank_details.read_known_accounts(uow, vendor_id)
        change = check_change(known, number.fingerprint, name_check, now, cooling)
        details = bank_details.BankDetails(
            vendor_id,
            number,
            account.number[-4:],
            account.bank_code,
            account_name,
            name_check,
            check_digit_valid(account.bank_code, account.number),
            change.quarantine_reason,
            change.payouts_from,
        )
        if not change.is_present:
            return await bank_details.save_version(uow, details, caller.id, now)
        await bank_details.save_bank_details(uow, details, caller.id, now)
        uow.publish(
            BankDetailsChanged(
                vendor_id=vendor_id, last4=details.last4, bank_code=details.bank_code, verified=name_check.verified
            )
        )
    return None


async def _legal_name(uow: UnitOfWork, vendor_id: UUID) -> str:
    legal_name = await find_legal_name(uow, vendor_id)
    if legal_name is None:
        raise VendorNotReceived
    return legal_name
