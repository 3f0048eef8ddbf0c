"""Record a transfer that only the gateway has."""

from datetime import datetime
from functools import partial
from uuid import UUID

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database, UnitOfWork
from common.primitives.ids import new_id
from contracts.payouts import PayoutRequested
from payouts import store
from payouts.clients.gateway import Gateways
from payouts.domain import accounts
from payouts.domain.errors import GatewayUnavailable
from payouts.domain.found_transfers import Candidate, ListedTransfer, may_be_recorded, may_have_sent
from payouts.domain.gateway_results import Unclear
from payouts.domain.gateways import GatewayName
from payouts.domain.wallet import WalletLine
from payouts.store import found_transfers
from payouts.store.account_numbers import AccountNumbers
from payouts.use_cases.wallets.debit_wallet import debit_wallet


async def record_found_transfer(
    database: Database,
    gateways: Gateways,
    gateway: GatewayName,
    numbers: AccountNumbers,
    found: ListedTransfer,
    now: datetime,
) -> UUID | None:
    """Return the recorded attempt; None when staff must assign the transfer, or when it was recorded before.

    It becomes the attempt of a pending payout of its vendor and amount, unless another attempt may have paid that one.
    Without such a payout, the request was lost in the restore: the payout is recorded again, and what the wallet lacks
    becomes debt. Raises GatewayUnavailable.
    """
    if not may_be_recorded(found):
        await _record_open_case(database, found, now)
        return None
    fingerprint = numbers.fingerprint(found.bank_code, found.account_number)
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        owners = await found_transfers.list_owners(uow, fingerprint, found.account_number, found.bank_code)
    if len(owners) != 1:
        await _record_open_case(database, found, now)
        return None
    [(vendor_id, version_id)] = owners
    candidate = await _find_candidate(database, gateways, vendor_id, found.amount_minor)
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await found_transfers.lock_comparison(uow)
        if await found_transfers.is_known(uow, found.reference):
            return None
        transfer_id = new_id()
        if candidate is not None and await found_transfers.lock_candidate(uow, candidate):
            payout_id, retry_count = candidate.payout_id, candidate.retry_count_after
        else:
            payout_id, retry_count = await _recreate_payout(uow, vendor_id, version_id, found, now), 0
        await found_transfers.save_found_attempt(
            uow, payout_id, retry_count, transfer_id, found.reference, now, gateway
        )
        await found_transfers.save_found(uow, found, "taken", payout_id, now)
    return transfer_id


async def _find_candidate(
    database: Database, gateways: Gateways, vendor_id: UUID, amount_minor: int
) -> Candidate | None:
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        candidates = await found_transfers.list_candidates(uow, vendor_id, amount_minor)
    for candidate in candidates:
        results = [await gateways.of(name).verify(reference) for reference, name in candidate.attempts]
        if any(isinstance(result, Unclear) for result in results):
            raise GatewayUnavailable
        if may_have_sent(candidate, results):
            return candidate
    return None


async def _recreate_payout(
    uow: UnitOfWork, vendor_id: UUID, version_id: UUID, found: ListedTransfer, now: datetime
) -> UUID:
    wallet = await store.lock_wallet(uow, vendor_id)
    payout_id, by = new_id(), await found_transfers.find_owner(uow, vendor_id) or vendor_id
    number = await store.save_payout(uow, payout_id, vendor_id, found.amount_minor, version_id, by, now)
    line = WalletLine("payout", -found.amount_minor, payout_id=payout_id)
    posting_of = partial(accounts.payout_requested, payout_id, vendor_id, found.amount_minor)
    await debit_wallet(uow, vendor_id, wallet, f"payout:{payout_id}", line, posting_of, now)
    uow.publish(
        PayoutRequested(payout_id=payout_id, vendor_id=vendor_id, amount_minor=found.amount_minor, number=number)
    )
    return payout_id


async def _record_open_case(database: Database, found: ListedTransfer, now: datetime) -> None:
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await found_transfers.save_found(uow, found, "open", None, now)
