"""Send waiting payouts to the gateway as one batch."""

import asyncio
import hashlib
import time
from dataclasses import dataclass, replace
from uuid import UUID

import msgspec

from common.auth.caller import THE_SERVICE, Caller
from common.database.unit_of_work import Database, UnitOfWork
from common.primitives.clock import Clock
from common.primitives.decisions import AlreadyDecided
from common.primitives.ids import new_id
from common.primitives.problems import ValidationFailed
from payouts.clients.gateway import Gateway, Gateways
from payouts.domain.dispatch import (
    BATCH_PAYOUTS_MAX,
    SEND_FOR_SECONDS,
    SUBMISSIONS_CONCURRENT_MAX,
    BatchPlan,
    ShortBatch,
    plan_batch,
)
from payouts.domain.errors import DispatchListChanged, SecondApproverRequired, TransfersNotCompared
from payouts.queries.batches import describe_batch, hash_of_list, list_unsent
from payouts.store import dispatch_approvals, found_transfers, payouts, transfers
from payouts.use_cases.exceptions.steps import hold_payouts, open_exception
from payouts.use_cases.releases.check_released_credits import check_released_credits
from payouts.use_cases.releases.hold_vendors import hold_vendors
from payouts.use_cases.transfers.resume_payouts import resume_payouts
from payouts.use_cases.transfers.submit_transfer import submit_transfer


@dataclass(frozen=True, slots=True)
class Approval:
    """A checker's approval of a preview, with the hash of the list that the checker saw."""

    preview_id: UUID
    hash: str


@dataclass(frozen=True, slots=True)
class Alone:
    """One person sends a run of at most this many kobo."""

    total_max_minor: int


class _ApproverNeeded(Exception):
    """The run is larger than one person sends."""

    def __init__(self, total_minor: int, limit_minor: int) -> None:
        super().__init__()
        self.total_minor, self.limit_minor = total_minor, limit_minor


class _ListChanged(Exception):
    """The run is not the approved list."""


@dataclass(frozen=True, slots=True)
class DispatchOrder:
    """A request of staff. Without ids: the waiting payouts, oldest first."""

    payout_ids: tuple[UUID, ...] | None
    max_total_minor: int | None
    dry_run: bool
    # The authority to send: that of the caller, up to a limit, or the approval by the caller of another one's preview.
    authority: Alone | Approval

    @property
    def fingerprint(self) -> bytes:
        """Distinguishes another request under the same key."""
        named_ids = None if self.payout_ids is None else sorted(str(payout_id) for payout_id in self.payout_ids)
        return hashlib.sha256(msgspec.json.encode([named_ids, self.max_total_minor, self.dry_run])).digest()


async def dispatch_payouts(
    database: Database, gateways: Gateways, clock: Clock, caller: Caller, key: UUID, order: DispatchOrder
) -> dict[str, object]:
    """Create the batch of this caller and key once, continues it after a crash, and always returns the same response.

    The gateway's balance is read first; a short one stops the batch before the first transfer. Batch, lines and
    attempts with their references commit together. From then on each payout is sent, by this request or, after its
    death or its time, by the worker. Acts as the service: the caller's role may not read account numbers. Raises
    ValidationFailed (the key names another request), GatewayUnavailable and TransfersNotCompared (503, nothing
    changed), SecondApproverRequired and DispatchListChanged (409, nothing sent: each names a preview of the present
    list), and the errors of `evaluate_approval`.
    """
    batch = await payouts.find_batch(database.reads_for(caller), caller.id, key)
    if batch is None:
        gateway = gateways.of(gateways.for_new_transfers)
        balance_minor = await gateway.balance_minor()
        try:
            async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
                await resume_payouts(uow, gateway.name)
                batch = await _plan(uow, clock, caller, key, order, balance_minor, gateway)
        except (_ApproverNeeded, _ListChanged) as refused:
            async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
                preview = replace(order, dry_run=True)
                planned = await _plan(uow, clock, caller, new_id(), preview, balance_minor, gateway)
                await _end_approval(uow, order, caller, clock)
            if isinstance(refused, _ListChanged):
                raise DispatchListChanged(planned.id) from refused
            raise SecondApproverRequired(planned.id, refused.total_minor, refused.limit_minor) from refused
    if batch.fingerprint != order.fingerprint:
        raise ValidationFailed.of("Idempotency-Key", "was used for another request")
    if batch.response is not None:
        return batch.response
    await _send(database, gateways, clock, batch.id)
    fees = gateways.of(gateways.for_new_transfers).fees
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await transfers.requeue_unsent(uow, batch.id, clock.now())
        return await payouts.finish_batch(uow, batch.id, await describe_batch(uow, batch.id, fees), clock.now())


async def _plan(
    uow: UnitOfWork,
    clock: Clock,
    caller: Caller,
    key: UUID,
    order: DispatchOrder,
    balance_minor: int,
    gateway: Gateway,
) -> payouts.Batch:
    """Save the batch, its lines and its attempts, or returns the one of a concurrent request with the same key."""
    now = clock.now()
    if not await found_transfers.transfers_are_compared(uow):
        raise TransfersNotCompared
    batch = payouts.Batch(new_id(), order.fingerprint, None)
    if not await payouts.save_batch_if_new(
        uow, batch, caller.id, key, dry_run=order.dry_run, balance_minor=balance_minor, at=now
    ):
        existing = await payouts.find_batch(uow, caller.id, key)
        if existing is None:
            raise AssertionError("a batch is never removed")
        return existing
    payout_ids = order.payout_ids or await payouts.list_waiting(uow, BATCH_PAYOUTS_MAX, now)
    await payouts.lock_payouts(uow, payout_ids)
    vendor_ids = await payouts.list_vendors_of(uow, payout_ids)
    checks = await check_released_credits(uow, vendor_ids, now, saves_checkpoints=True)
    if not order.dry_run:
        await hold_vendors(uow, checks, now)
    covers = {vendor_id: verdict.cover for vendor_id, verdict in checks.items()}
    candidates = await payouts.list_candidates(uow, payout_ids, covers, now)
    known = {candidate.payout_id for candidate in candidates}
    absent = [payout_id for payout_id in payout_ids if payout_id not in known]
    plan = plan_batch(candidates, absent, order.max_total_minor, balance_minor, gateway.fees)
    await payouts.save_plan(uow, batch.id, plan.lines, "planned" if order.dry_run else "reserved")
    ready = await payouts.count_ready(uow, now)
    await payouts.save_remaining(uow, batch.id, ready - len(plan.selected))
    if not order.dry_run:
        await _check_authority(uow, batch.id, plan, order, caller, clock, gateway)
        skipped = [line for line in plan.lines if line.skipped is not None or not plan.short]
        await hold_payouts(uow, candidates, skipped, now)
    if not (plan.short or order.dry_run):
        await payouts.reserve_transfers(uow, batch.id, plan.selected, now, gateway.name)
        return batch
    if plan.short and not order.dry_run:
        detail = (
            f"The gateway's balance does not cover a batch of {plan.stopped_minor} kobo and its transfer fees of "
            f"{plan.fees_minor} kobo; nothing was sent."
        )
        await open_exception(uow, ShortBatch(batch.id, plan.stopped_minor), "balance_insufficient", detail, now)
    response = await describe_batch(uow, batch.id, gateway.fees)
    return payouts.Batch(batch.id, batch.fingerprint, await payouts.finish_batch(uow, batch.id, response, now))


async def _check_authority(
    uow: UnitOfWork,
    batch_id: UUID,
    plan: BatchPlan,
    order: DispatchOrder,
    caller: Caller,
    clock: Clock,
    gateway: Gateway,
) -> None:
    """Refuse a run that one person may not send, and one that is not the approved list; record the approval."""
    authority = order.authority
    if isinstance(authority, Alone):
        if plan.planned_minor > authority.total_max_minor:
            raise _ApproverNeeded(plan.planned_minor, authority.total_max_minor)
        return
    preview_id = authority.preview_id
    prepared = await dispatch_approvals.lock_approval(uow, preview_id)
    if not await dispatch_approvals.TABLE.approve(uow, preview_id, prepared, authority.hash, caller.id, clock.now()):
        raise AlreadyDecided("approved")
    if await hash_of_list(uow, batch_id, gateway.fees) != authority.hash:
        raise _ListChanged


async def _end_approval(uow: UnitOfWork, order: DispatchOrder, caller: Caller, clock: Clock) -> None:
    """End the approval of a list that changed: it can never be sent."""
    if isinstance(order.authority, Approval):
        prepared = await dispatch_approvals.lock_approval(uow, order.authority.preview_id)
        if prepared is not None and prepared.status == "prepared":
            preview_id = order.authority.preview_id
            await dispatch_approvals.TABLE.save_verdict(uow, preview_id, "overtaken", caller.id, clock.now())


async def _send(database: Database, gateways: Gateways, clock: Clock, batch_id: UUID) -> None:
    """Submit each attempt by itself; one that fails by our fault delays no other.

    After `SEND_FOR_SECONDS` no submission starts, and open ones are awaited: their calls end.
    """
    turn, until = asyncio.Semaphore(SUBMISSIONS_CONCURRENT_MAX), time.monotonic() + SEND_FOR_SECONDS

    async def send(transfer_id: UUID) -> None:
        async with turn:
            if time.monotonic() < until:
                await submit_transfer(database, gateways, clock, transfer_id, was="reserved")

    unsent = await list_unsent(database.reads_for(THE_SERVICE), batch_id)
    outcomes = await asyncio.gather(*(send(transfer_id) for transfer_id in unsent), return_exceptions=True)
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            raise outcome
