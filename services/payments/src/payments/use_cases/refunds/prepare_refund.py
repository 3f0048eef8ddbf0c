"""How a failed refund shall reach its payer after all, as the first of two people sees it."""

from dataclasses import dataclass
from uuid import UUID

import asyncpg

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database, UnitOfWork
from common.primitives.clock import Clock
from common.primitives.ids import new_id
from common.primitives.problems import NotFound
from payments import store
from payments.clients.gateway import GatewayRefused, PaymentGateway
from payments.domain.accounts import HOME_CURRENCY
from payments.domain.destinations import Destination, Recipient
from payments.domain.errors import DestinationRefused, OnlyNairaToAccounts, RefundNotFailed


@dataclass(frozen=True, slots=True)
class RefundPlan:
    """What the maker wants: the same way again, or with a destination to that account."""

    reason: str
    destination: Destination | None

    @property
    def action(self) -> str:
        return "retry" if self.destination is None else "other_destination"


async def prepare_refund(
    database: Database, gateway: PaymentGateway, clock: Clock, refund_id: UUID, plan: RefundPlan, by: UUID
) -> None:
    """Nothing is sent yet. The gateway is shown the account, and gives its code for it: the number is kept nowhere here.

    Raises NotFound, RefundNotFailed and OnlyNairaToAccounts (409), DestinationRefused (422) and GatewayAway (503).
    """
    recipient = None
    if plan.destination is not None:
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            await _lock_failed(uow, refund_id, plan)
        recipient = await _introduce(gateway, plan.destination)
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await _lock_failed(uow, refund_id, plan)
        now = clock.now()
        await store.record_refund_decision(uow, new_id(), refund_id, plan.action, plan.reason, by, now, recipient)
        await store.save_refund_prepared(uow, refund_id)


async def _lock_failed(uow: UnitOfWork, refund_id: UUID, plan: RefundPlan) -> asyncpg.Record:
    refund = await store.lock_refund(uow, refund_id)
    if refund is None:
        raise NotFound
    if refund["status"] != "failed":
        raise RefundNotFailed(refund["status"])
    if plan.destination is not None and refund["currency"] != HOME_CURRENCY:
        raise OnlyNairaToAccounts
    return refund


async def _introduce(gateway: PaymentGateway, destination: Destination) -> Recipient:
    """The account as the gateway knows it. A name that does not match is for the second person to judge."""
    name_at_bank = await gateway.account_name(destination.account_number, destination.bank_code)
    try:
        code = await gateway.create_recipient(
            account_number=destination.account_number,
            bank_code=destination.bank_code,
            account_name=destination.account_name,
        )
    except GatewayRefused as rejection:
        raise DestinationRefused from rejection
    return Recipient(code, destination.last4, destination.bank_code, destination.account_name, name_at_bank)
