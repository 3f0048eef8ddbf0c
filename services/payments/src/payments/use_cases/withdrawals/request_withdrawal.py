"""Request a withdrawal: take the money from the balance, then send it or let two people decide."""

from dataclasses import dataclass
from uuid import UUID

from common.auth.caller import THE_SERVICE
from common.database.idempotent_commands import IdempotentCommand, find_command_result, record_command_result
from common.database.unit_of_work import Database, UnitOfWork
from common.ledger import posting as ledger
from common.primitives.clock import Clock
from common.primitives.ids import new_id
from contracts.payments import WithdrawalRequested
from payments.clients.gateway import GatewayRejected, Gateways, PaymentGateway
from payments.domain import postings
from payments.domain.balances import Parts
from payments.domain.destinations import Destination, Recipient
from payments.domain.errors import AccountRejected, WithdrawalTooLarge, WithdrawalTooSmall
from payments.domain.queues import WITHDRAWAL_QUEUE
from payments.domain.transitions import WithdrawalStatus
from payments.domain.withdrawals import NewWithdrawal
from payments.store import balances, withdrawals


@dataclass(frozen=True, slots=True)
class WithdrawalRequest:
    """A buyer's request. The gateway alone receives the account number."""

    user_id: UUID
    amount_minor: int
    account_number: str
    bank_code: str
    command: IdempotentCommand


async def request_withdrawal(
    database: Database, gateways: Gateways, clock: Clock, request: WithdrawalRequest, approval_above_minor: int
) -> UUID:
    """Return the withdrawal, also for a repetition of its key. Nothing is taken before the bank confirms the account.

    Raises WithdrawalTooLarge (409), WithdrawalTooSmall, AccountRejected and IdempotencyKeyReused (422), and
    GatewayUnavailable (503).
    """
    gateway = gateways.of(gateways.for_new_payments)
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        repeated = await _check(uow, gateway, request)
    if repeated is not None:
        return repeated
    recipient = await _register_recipient(gateway, request)
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        repeated = await _check(uow, gateway, request)
        if repeated is not None:
            return repeated
        withdrawal_id, now = new_id(), clock.now()
        waits = request.amount_minor > approval_above_minor
        status: WithdrawalStatus = "waiting" if waits else "pending"
        new = NewWithdrawal(withdrawal_id, request.user_id, request.amount_minor, status, gateway.name, recipient)
        await withdrawals.record_withdrawal(uow, new, now)
        await balances.record_withdrawal(uow, request.user_id, Parts(0, request.amount_minor), now)
        await ledger.post(
            uow,
            postings.balance_withdrawal(
                withdrawal_id, 1, request.user_id, from_balance_minor=request.amount_minor, loss_minor=0
            ),
        )
        await record_command_result(uow, request.command, withdrawal_id)
        uow.publish(
            WithdrawalRequested(
                withdrawal_id=withdrawal_id,
                user_id=request.user_id,
                amount_minor=request.amount_minor,
                account_last4=recipient.account_last4,
            )
        )
        if not waits:
            uow.enqueue_work(WITHDRAWAL_QUEUE, withdrawal_id, {"withdrawalId": str(withdrawal_id)})
    return withdrawal_id


async def _check(uow: UnitOfWork, gateway: PaymentGateway, request: WithdrawalRequest) -> UUID | None:
    """Return the withdrawal of a repeated key. The lock of the balance serializes repetitions and payments from it."""
    available = await balances.lock_balance(uow, request.user_id)
    repeated = await find_command_result(uow, request.command)
    if repeated is not None:
        return repeated
    if request.amount_minor < gateway.transfer_minimum_minor:
        raise WithdrawalTooSmall(gateway.transfer_minimum_minor)
    if request.amount_minor > available.refunds_minor:
        raise WithdrawalTooLarge(available.refunds_minor)
    if await withdrawals.is_quarantined(uow, request.bank_code, request.account_number[-4:]):
        raise AccountRejected("no money is sent to this account: name another one, or ask support")
    return None


async def _register_recipient(gateway: PaymentGateway, request: WithdrawalRequest) -> Recipient:
    """Return the account registered at the gateway, under the bank's name for it."""
    name = await gateway.account_name(request.account_number, request.bank_code)
    if name is None:
        raise AccountRejected("the bank does not confirm this account: check the number and the bank code")
    destination = Destination(request.account_number, request.bank_code, name)
    try:
        code = await gateway.create_recipient(
            account_number=request.account_number, bank_code=request.bank_code, account_name=name
        )
    except GatewayRejected as rejection:
        raise AccountRejected("the payment gateway does not accept this account") from rejection
    return Recipient(code, destination.last4, destination.bank_code, name, name)
