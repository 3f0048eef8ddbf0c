"""Retry a refund at the gateway with the approved account of its payer: call, record."""

from uuid import UUID

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from common.primitives.clock import Clock
from payments.clients.gateway import GatewayRejected, Gateways
from payments.domain.accounts import HOME_CURRENCY
from payments.domain.refunds import FIRST_POLL_AFTER, NEEDS_ACCOUNT, RefundUpdate, check_refund
from payments.store import refunds
from payments.store.refunds import LockedRefund
from payments.use_cases.refunds.apply_refund_update import apply_refund_update
from payments.use_cases.refunds.fail_refund import fail_refund


async def retry_with_account(database: Database, gateways: Gateways, clock: Clock, refund_id: UUID) -> bool:
    """Return whether the refund has an approved account. Safe to repeat: the gateway has one refund, whose state is
    queried first.

    Raises GatewayUnavailable, which is retried, and RefundContradiction.
    """
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        refund = await refunds.lock_refund(uow, refund_id)
    if refund is None or refund.retry_recipient_code is None or refund.gateway_refund_id is None:
        return False
    gateway = gateways.of(refund.gateway)
    accounts = gateway.refund_accounts
    rejection, update = None, await gateway.find_refund(refund.gateway_refund_id)
    if update is None or update.status == NEEDS_ACCOUNT:
        if accounts is None:
            rejection = f"{gateway.name} takes no account for a refund"
        else:
            try:
                update = await accounts.retry_refund(
                    refund.gateway_refund_id, refund.retry_recipient_code, HOME_CURRENCY
                )
            except GatewayRejected as rejected:
                rejection = str(rejected)
    await _record(database, clock, refund, update, rejection)
    return True


async def _record(
    database: Database, clock: Clock, refund: LockedRefund, update: RefundUpdate | None, rejection: str | None
) -> None:
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        locked = await refunds.lock_refund(uow, refund.id)
        if locked is None or locked.retry_recipient_code != refund.retry_recipient_code:
            return
        if rejection is not None or update is None:
            reason = rejection or "the gateway no longer has the refund"
            await fail_refund(uow, locked, reason, None, needs_account_at=clock.now())
            return
        check_refund(update, locked.amount_minor, locked.currency)
        await refunds.save_refund_retried(uow, refund.id, clock.now() + FIRST_POLL_AFTER)
        submitted = await refunds.lock_refund(uow, refund.id)
        if submitted is not None:
            await apply_refund_update(uow, submitted, update, clock.now())
