"""Set the account that a vendor's payouts go to."""

from uuid import UUID

from common.caller import Caller
from common.clock import Clock
from common.database import Database
from common.ids import new_id
from common.problems import NotFound, ValidationFailed
from contracts.payouts import BankDetailsChanged
from payouts import queries, store
from payouts.clients.gateway import Gateway
from payouts.domain.bank_accounts import BANK_NAMES, check_digit_valid, judge_account_name
from payouts.domain.errors import VendorNotHeardOf


async def change_bank_details(
    database: Database, gateway: Gateway, clock: Clock, caller: Caller, vendor_id: UUID, account: tuple[str, str]
) -> None:
    """Resolves the account's name at the gateway and keeps the details, verified when it is the vendor's legal name.

    Raises NotFound (another vendor), ValidationFailed (no such bank), VendorNotHeardOf and GatewayAway (503, nothing changed).
    """
    account_number, bank_code = account
    if caller.vendor_id != vendor_id:
        raise NotFound
    if bank_code not in BANK_NAMES:
        raise ValidationFailed.of("bankCode", "not a bank of the list")
    async with database.unit_of_work(acting_as=caller) as uow:
        legal_name = await queries.find_legal_name(uow, vendor_id)
    if legal_name is None:
        raise VendorNotHeardOf
    account_name = await gateway.account_name(account_number, bank_code)
    details = store.BankDetails(
        vendor_id,
        account_number,
        bank_code,
        account_name,
        judge_account_name(legal_name, account_name),
        check_digit_valid(bank_code, account_number),
    )
    async with database.unit_of_work(acting_as=caller) as uow:
        await store.save_bank_details(uow, new_id(), details, caller.id, clock.now())
        uow.publish(BankDetailsChanged(vendor_id=vendor_id, last4=details.last4, bank_code=bank_code))
