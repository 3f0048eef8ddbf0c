"""Prepare the decision about a failed refund: retry, or another destination."""

from dataclasses import dataclass
from uuid import UUID

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database, UnitOfWork
from common.primitives.clock import Clock
from common.primitives.problems import NotFound
from payments.clients.gateway import GatewayRejected, Gateways, PaymentGateway
from payments.domain.accounts import HOME_CURRENCY
from payments.domain.destinations import Destination, Recipient
from payments.domain.errors import (
    BelowTransferMinimum,
    DestinationRejected,
    MadeOutside,
    OnlyNairaToAccounts,
    RefundNeedsAccount,
    RefundNotFailed,
)
from payments.domain.transitions import REFUND
from payments.store import decisions, refunds


@dataclass(frozen=True, slots=True)
class RefundPlan:
    """The maker's plan: back to the charge, or to a destination."""

    reason: str
    destination: Destination | None

    @property
    def action(self) -> str:
        return "retry" if self.destination is None else "other_destination"


async def prepare_refund(
    database: Database, gateways: Gateways, clock: Clock, refund_id: UUID, plan: RefundPlan, by: UUID
) -> None:
    """No money moves before the approval. Only the gateway receives the account number; its recipient code is stored.

    Raises NotFound, MadeOutside, RefundNotFailed, RefundNeedsAccount, OnlyNairaToAccounts and BelowTransferMinimum
    (409), DestinationRejected (422: the bank does not confirm the account), and GatewayUnavailable (503).
    """
    recipient = None
    if plan.destination is not None:
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            gateway = await _lock_failed(uow, gateways, refund_id, plan)
        recipient = await _register_recipient(gateway, plan.destination)
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await _lock_failed(uow, gateways, refund_id, plan)
        now = clock.now()
        await decisions.record_refund_decision(uow, refund_id, plan.action, plan.reason, by, now, recipient)
        await decisions.save_refund_prepared(uow, refund_id)


async def _lock_failed(uow: UnitOfWork, gateways: Gateways, refund_id: UUID, plan: RefundPlan) -> PaymentGateway:
    """Return the gateway of the charge, which alone can pay the refund."""
    refund = await refunds.lock_refund(uow, refund_id)
    if refund is None:
        raise NotFound
    if refund.kind == "outside":
        raise MadeOutside
    if not REFUND.allows(refund.status, "decision_prepared"):
        raise RefundNotFailed(refund.status)
    if plan.destination is None and refund.needs_account:
        raise RefundNeedsAccount
    if plan.destination is not None and refund.currency != HOME_CURRENCY:
        raise OnlyNairaToAccounts
    gateway = gateways.of(refund.gateway)
    # A refund that needs an account is no transfer of ours: the gateway pays its own refund.
    if (
        plan.destination is not None
        and not refund.needs_account
        and refund.amount_minor < gateway.transfer_minimum_minor
    ):
        raise BelowTransferMinimum(refund.amount_minor, gateway.transfer_minimum_minor)
    return gateway


async def _register_recipient(gateway: PaymentGateway, destination: Destination) -> Recipient:
    """Return the account registered at the gateway, with the bank's name for it. The checker evaluates a name that does
    not match.
    """
    name_at_bank = await gateway.account_name(destination.account_number, destination.bank_code)
    if name_at_bank is None:
        raise DestinationRejected("the bank does not confirm this account: check the number and the bank code")
    try:
        code = await gateway.create_recipient(
            account_number=destination.account_number,
            bank_code=destination.bank_code,
            account_name=destination.account_name,
        )
    except GatewayRejected as rejection:
        raise DestinationRejected from rejection
    return Recipient(code, destination.last4, destination.bank_code, destination.account_name, name_at_bank)
