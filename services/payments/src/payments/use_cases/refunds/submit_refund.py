"""Send a refund to the gateway: decide and commit, call, record. What a lost call did is found out by asking."""

from dataclasses import replace
from uuid import UUID

import asyncpg

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from common.primitives.clock import Clock
from payments import store
from payments.clients.gateway import GatewayRefused, PaymentGateway
from payments.domain.accounts import NO_CURRENCY
from payments.domain.errors import RefundOutcomeUnknown, UnrecordedRefund
from payments.domain.identifiers import refund_reference
from payments.domain.refunds import RESUBMIT_AFTER, RefundUpdate, may_call, read_refund, read_refund_transfer
from payments.store import Attempt
from payments.use_cases.refunds.confirm_failed_attempts import confirm_failed_attempts
from payments.use_cases.refunds.fail_refund import fail_refund
from payments.use_cases.refunds.list_unrecorded_refunds import list_unrecorded_refunds
from payments.use_cases.refunds.offset_refund import offset_refund
from payments.use_cases.refunds.query_attempt import query_attempt
from payments.use_cases.refunds.record_refund_update import record_refund_update


async def submit_refund(database: Database, gateway: PaymentGateway, clock: Clock, refund_id: UUID) -> None:
    """Safe to repeat. Raises GatewayAway and RefundOutcomeUnknown, which climb the retry ladder, RefundContradiction and
    RefundBesideTheBooks."""
    await confirm_failed_attempts(database, gateway, clock, refund_id)
    decided_at = clock.now()
    refund = await _decide(database, clock, refund_id)
    if refund is None:
        return
    attempt, update = Attempt.of(refund), None
    if refund["status"] == "submitting":
        update = await query_attempt(gateway, attempt)
        if update is None:
            if clock.now() - refund["submitted_at"] < RESUBMIT_AFTER:
                raise RefundOutcomeUnknown("an unanswered call may still be at work at the gateway")
            decided_at = clock.now()
            refund = await _decide(database, clock, refund_id, never_arrived=refund)
            if refund is None:
                return
    try:
        if update is None:
            attempt, update = await _find_unrecorded(database, gateway, refund, attempt)
        if update is None and not may_call(decided_at, clock.now()):
            raise RefundOutcomeUnknown("too long after the decision: somebody else may have sent it")
        update = update or await _send(gateway, refund, attempt)
    except GatewayRefused as rejection:
        # What it refuses may be a repetition: our own call of before may have come through meanwhile.
        update = await query_attempt(gateway, attempt)
        if update is None:
            await _record_rejection(database, attempt, refund_id, str(rejection))
            return
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await record_refund_update(uow, replace(update, note=refund_reference(attempt.id)), clock.now())


async def _find_unrecorded(
    database: Database, gateway: PaymentGateway, refund: asyncpg.Record, attempt: Attempt
) -> tuple[Attempt, RefundUpdate | None]:
    """An attempt that paid, or is about to, and of which a database that was put back knows nothing, becomes the refund's own.

    Raises RefundBesideTheBooks when there is one over another amount.
    """
    beside = await list_unrecorded_refunds(database, gateway, attempt)
    if not beside:
        return attempt, None
    fitting = next((found for found in beside if found[1].amount_minor == refund["amount_minor"]), None)
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        if fitting is None:
            await store.save_refund_unsent(uow, refund["id"])
        else:
            await store.save_attempt_taken_over(uow, refund["id"], fitting[0])
    if fitting is None:
        raise UnrecordedRefund(f"{beside[0][1].amount_minor} of this charge were refunded beside the books")
    return replace(attempt, id=fitting[0]), fitting[1]


async def _decide(
    database: Database, clock: Clock, refund_id: UUID, *, never_arrived: asyncpg.Record | None = None
) -> asyncpg.Record | None:
    """The refund as it is to be sent, and written down as being sent; None when nothing is to be sent.

    One whose earlier call is still unclear is given as it stands. `never_arrived` is a row whose call is known not to have
    reached the gateway: it is owed like one that was never sent, and whatever a bank has given meanwhile counts. Raises
    RefundOutcomeUnknown when somebody else sends it again already.
    """
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        refund = await store.lock_refund(uow, refund_id)
        if refund is None:
            raise LookupError("a work item without its refund: they are written in one commit")
        if refund["status"] == "submitting":
            if never_arrived is None:
                return refund
            if any(refund[name] != never_arrived[name] for name in ("attempt_id", "submitted_at")):
                raise RefundOutcomeUnknown("somebody else sends it again")
            await store.save_refund_unsent(uow, refund_id)
        elif refund["status"] != "pending":
            return None
        if await offset_refund(uow, refund, clock.now()):
            return None
        refund = await store.lock_refund(uow, refund_id)
        await store.save_refund_submitting(uow, refund_id, clock.now())
        return refund


async def _send(gateway: PaymentGateway, refund: asyncpg.Record, attempt: Attempt) -> RefundUpdate:
    amount_minor: int = refund["amount_minor"]
    reference = refund_reference(attempt.id)
    if attempt.recipient_code is not None:
        return read_refund_transfer(
            await gateway.start_transfer(
                reference=reference, recipient_code=attempt.recipient_code, amount_minor=amount_minor
            )
        )
    return read_refund(
        await gateway.start_refund(
            transaction=attempt.transaction,
            amount_minor=amount_minor,
            currency=None if refund["currency"] == NO_CURRENCY else refund["currency"],
            note=reference,
        )
    )


async def _record_rejection(database: Database, attempt: Attempt, refund_id: UUID, rejection: str) -> None:
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        refund = await store.lock_refund(uow, refund_id)
        if refund is not None and refund["attempt_id"] == attempt.id and refund["status"] == "submitting":
            await fail_refund(uow, refund, rejection, None)
