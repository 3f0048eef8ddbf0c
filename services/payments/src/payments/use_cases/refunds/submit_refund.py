"""Submit a refund to the gateway: decide and commit, call, record. A query resolves a call without a response."""

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database, UnitOfWork
from common.primitives.clock import Clock
from common.primitives.lifecycles import Rejection
from payments.clients.gateway import GatewayRejected, Gateways, PaymentGateway
from payments.domain.accounts import NO_CURRENCY
from payments.domain.errors import RefundOutcomeUnknown, RefundUnderWay, UnrecordedRefund
from payments.domain.identifiers import refund_reference
from payments.domain.refunds import RESUBMIT_AFTER, RefundUpdate, may_call, refund_of_transfer
from payments.domain.transitions import REFUND
from payments.store import refunds
from payments.store.refund_attempts import RefundAttempt
from payments.store.refunds import LockedRefund
from payments.use_cases.refunds.confirm_failed_attempts import confirm_failed_attempts
from payments.use_cases.refunds.fail_refund import fail_refund
from payments.use_cases.refunds.list_unrecorded_refunds import list_unrecorded_refunds
from payments.use_cases.refunds.offset_refund import offset_refund
from payments.use_cases.refunds.query_attempt import query_attempt
from payments.use_cases.refunds.record_refund_update import record_refund_update


class RefundsMadeOutside(Exception):
    """The gateway lists refunds of the charge that were made in its dashboard, and are not recorded."""

    def __init__(self, refund: LockedRefund, updates: Sequence[RefundUpdate]) -> None:
        super().__init__()
        self.refund, self.updates = refund, updates


async def submit_refund(database: Database, gateways: Gateways, clock: Clock, refund_id: UUID) -> None:
    """Safe to repeat. Refunds made outside are recorded first, and reduce this one.

    Raises GatewayUnavailable, RefundOutcomeUnknown and RefundsMadeOutside, which are retried, RefundContradiction and
    UnrecordedRefund.
    """
    try:
        await _submit(database, gateways, clock, refund_id)
    except RefundsMadeOutside as found:
        await _record_outside(database, found.refund, found.updates, clock)
        await _submit(database, gateways, clock, refund_id)
    except GatewayRejected as rejection:
        await _fail_unanswered(database, refund_id, f"the gateway rejects the query about it: {rejection}")


async def _submit(database: Database, gateways: Gateways, clock: Clock, refund_id: UUID) -> None:
    await confirm_failed_attempts(database, gateways, clock, refund_id)
    decided_at = clock.now()
    refund = await _mark_submitting(database, clock, refund_id)
    if refund is None:
        return
    attempt, update = refund.attempt, None
    if refund.status == "submitting":
        update = await query_attempt(gateways.of(attempt.gateway), attempt)
        if update is None:
            submitted_at = refund.submitted_at or clock.now()
            if clock.now() - submitted_at < RESUBMIT_AFTER:
                raise RefundUnderWay("an unanswered call may still be running at the gateway")
            decided_at = clock.now()
            refund = await _mark_submitting(database, clock, refund_id, unreceived=refund)
            if refund is None:
                return
    try:
        if update is None:
            attempt, update = await _find_unrecorded(database, gateways, refund, attempt)
        if update is None and not may_call(decided_at, clock.now()):
            raise RefundOutcomeUnknown(
                "the call comes too late after the decision: another worker may have sent the refund"
            )
        update = update or await _send(gateways.of(attempt.gateway), refund, attempt)
    except GatewayRejected as rejection:
        # The gateway may have rejected a repetition of an earlier call of ours.
        update = await query_attempt(gateways.of(attempt.gateway), attempt)
        if update is None:
            await _record_rejection(database, attempt, refund_id, str(rejection))
            return
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await record_refund_update(uow, replace(update, note=refund_reference(attempt.id)), clock.now())


async def _find_unrecorded(
    database: Database, gateways: Gateways, refund: LockedRefund, attempt: RefundAttempt
) -> tuple[RefundAttempt, RefundUpdate | None]:
    """Adopt an attempt of this refund that the gateway recorded and a restored database lost.

    Raises UnrecordedRefund when its amount differs, and RefundsMadeOutside.
    """
    unrecorded = await list_unrecorded_refunds(database, gateways, attempt)
    if unrecorded.outside:
        raise RefundsMadeOutside(refund, unrecorded.outside)
    if not unrecorded.ours:
        return attempt, None
    matching = next((found for found in unrecorded.ours if found[1].amount_minor == refund.amount_minor), None)
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        if matching is None:
            await _return_unsent(uow, refund)
        else:
            await refunds.save_attempt_adopted(uow, refund.id, matching[0])
    if matching is None:
        raise UnrecordedRefund(
            f"the gateway refunded {unrecorded.ours[0][1].amount_minor} of this charge without a record here"
        )
    return attempt._replace(id=matching[0]), matching[1]


async def _mark_submitting(
    database: Database, clock: Clock, refund_id: UUID, *, unreceived: LockedRefund | None = None
) -> LockedRefund | None:
    """Mark the refund `submitting` and return it; None when nothing is to be sent.

    A refund with an unresolved call is returned unchanged. `unreceived` is the state of a call that did not reach the
    gateway: the refund counts as unsent again, and money that a bank has returned offsets it. Raises RefundUnderWay
    when another worker sends it again already.
    """
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        refund = await refunds.lock_refund(uow, refund_id)
        if refund is None:
            raise LookupError(f"work item of refund {refund_id}, which is not recorded")
        outcome = REFUND.next_state(refund.status, "sent")
        if outcome is Rejection.STALE:
            return None
        if outcome is Rejection.REPEATED:
            if unreceived is None:
                return refund
            if not await _return_unsent(uow, unreceived):
                raise RefundUnderWay("another worker sends it again")
        now = clock.now()
        if await offset_refund(uow, refund, now):
            return None
        unsent = await refunds.lock_refund(uow, refund_id)
        await refunds.save_refund_submitting(uow, refund_id, now)
        return None if unsent is None else unsent._replace(submitted_at=now)


async def _return_unsent(uow: UnitOfWork, sent: LockedRefund) -> bool:
    """Return whether the refund is `pending` again: the call of `sent` did not reach the gateway.

    Its result may have arrived since, or another worker may have sent it again; then it stays as it is.
    """
    refund = await refunds.lock_refund(uow, sent.id)
    if refund is None or (refund.attempt_id, refund.submitted_at) != (sent.attempt_id, sent.submitted_at):
        return False
    if not REFUND.allows(refund.status, "not_sent"):
        return False
    await refunds.save_refund_unsent(uow, refund.id)
    return True


async def _record_outside(
    database: Database, refund: LockedRefund, updates: Sequence[RefundUpdate], clock: Clock
) -> None:
    """Record the refunds made outside before ours is sent, which is reduced by them. Its row and those of the charge
    are locked apart.
    """
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await _return_unsent(uow, refund)
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        for update in updates:
            await record_refund_update(uow, update, clock.now())


async def _send(gateway: PaymentGateway, refund: LockedRefund, attempt: RefundAttempt) -> RefundUpdate:
    reference = refund_reference(attempt.id)
    if attempt.recipient_code is not None:
        return refund_of_transfer(
            await gateway.start_transfer(
                reference=reference, recipient_code=attempt.recipient_code, amount_minor=refund.amount_minor
            )
        )
    return await gateway.start_refund(
        transaction=attempt.transaction,
        amount_minor=refund.amount_minor,
        currency=None if refund.currency == NO_CURRENCY else refund.currency,
        note=reference,
    )


async def _fail_unanswered(database: Database, refund_id: UUID, failure: str) -> None:
    """Finance decides on a refund whose state cannot be queried. The next attempt is sent only after the gateway
    confirms this one.
    """
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        refund = await refunds.lock_refund(uow, refund_id)
        if refund is not None and REFUND.allows(refund.status, "query_rejected"):
            await fail_refund(uow, refund, failure, None)


async def _record_rejection(database: Database, attempt: RefundAttempt, refund_id: UUID, rejection: str) -> None:
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        refund = await refunds.lock_refund(uow, refund_id)
        if refund is None or refund.attempt_id != attempt.id or not REFUND.allows(refund.status, "rejected_by_gateway"):
            return
        await fail_refund(uow, refund, rejection, None)
