"""The dispatch in memory: production's decisions over a store with honest commits, and an unreliable gateway.

Each method of `Store` is one transaction: all of it, or nothing. Each process is a generator that stops before every
transaction and at every call, so that a schedule may run another one first, or kill it there. Dictionaries replace
production's SQL; every decision is production's own function.
"""

from collections import Counter
from collections.abc import Generator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

from common.ledger.posting import Posting
from common.primitives.problems import Conflict
from payouts.domain import accounts
from payouts.domain.attempts import (
    DETAILS_CHANGED,
    AttemptUpdate,
    CallHistory,
    SubmittableStatus,
    check_submission,
    may_start_call,
    next_poll_at,
    should_resubmit,
    status_when_claimed,
    stays_unknown,
    step_when_due,
    update_after_call,
    update_after_contradiction,
    update_after_query,
    update_while_held,
)
from payouts.domain.dispatch import LEASE, LOST_CALL, Candidate, hold_reason, plan_batch
from payouts.domain.gateway_results import Absent, Refused, Reported, SubmitResult, Unclear, VerifyResult
from payouts.domain.returns import Attempt as LockedAttempt
from payouts.domain.returns import LockedPayout, check_reset, plan_reconciliation, wait_before_retry
from payouts.domain.transfer_fees import FeeSchedule
from payouts.domain.transfer_updates import LockedTransfer, TransferUpdate, consequences_of
from payouts.domain.transitions import MAY_STILL_PAY, UNDER_WAY, Verdict, is_allowed
from payouts.domain.wallet import WalletSnapshot

VENDOR = UUID(int=1)
BATCH = UUID(int=2)
VERSION = UUID(int=3)
BROUGHT_MINOR = 10_000
AMOUNT_MINOR = 100
Response = SubmitResult | VerifyResult
# The verb of a call, its reference, and its latest arrival.
Call = tuple[str, str, datetime]
Process = Generator[Call | None, Response | None, None]


@dataclass
class Payout:
    id: UUID
    status: str = "pending"
    retry_count: int = 0
    details_stand: bool = True
    returned: str | None = None


@dataclass
class Attempt:
    id: UUID
    payout: Payout
    number: int
    reference: str
    status: str = "reserved"
    due_at: datetime | None = None
    submissions: int = 0
    poll_count: int = 0
    accepted: bool = False
    called_at: datetime | None = None
    arrived_at: datetime | None = None
    recovered: bool = False
    observed: list[tuple[str, str, Verdict]] = field(default_factory=list)

    @property
    def effective_status(self) -> str | None:
        return next(
            (status for _, status, verdict in reversed(self.observed) if verdict in ("advanced", "confirmed")), None
        )

    @property
    def contradicted(self) -> bool:
        return bool(self.observed) and self.observed[-1][2] == "contradiction" and self.observed[-1][0] != "query"


class SimulatedGateway:
    """Accepts each reference once; the money is sent at acceptance. It reports late, twice, in any order, or never.

    An abandoned call arrives at any time within its bound, whatever was queried meanwhile.
    """

    def __init__(self) -> None:
        self.transfers: dict[str, str] = {}
        self.moved_at: dict[str, datetime] = {}
        self.webhooks: list[tuple[str, str]] = []
        self.on_their_way: list[tuple[str, datetime]] = []

    def has_left(self, reference: str) -> bool:
        return self.transfers.get(reference) in ("pending", "success")

    def accept(self, reference: str) -> SubmitResult:
        if reference in self.transfers:
            return Refused("Duplicate reference")
        self.transfers[reference] = "pending"
        return reported("call", "pending")

    def arrive(self, late: tuple[str, datetime]) -> None:
        """Let an abandoned call reach the gateway."""
        self.on_their_way.remove(late)
        self.accept(late[0])

    def time_passes(self, now: datetime) -> None:
        self.on_their_way = [(reference, until) for reference, until in self.on_their_way if now < until]

    def verify(self, reference: str) -> VerifyResult:
        return reported("query", self.transfers[reference]) if reference in self.transfers else Absent()

    def settle_at_bank(self, reference: str, status: str, now: datetime, *, notify: bool = True) -> None:
        self.transfers[reference], self.moved_at[reference] = status, now
        if notify:
            self.webhooks.append((reference, status))

    def do(self, call: Call, outcome: str, now: datetime) -> Response:
        """Execute a call, and returns its response."""
        verb, reference, until = call
        if outcome == "lost_before" or (verb == "transfer" and now >= until):
            return Unclear("timeout")
        if verb == "verify":
            return self.verify(reference)
        if outcome == "late":
            self.on_their_way.append((reference, until))
            return Unclear("timeout")
        if outcome == "refused" and reference not in self.transfers:
            return Refused("the bank is unavailable")
        response = self.accept(reference)
        return Unclear("timeout") if outcome == "lost_after" else response


def reported(update_source: str, status: str) -> Reported:
    return Reported(TransferUpdate(update_source, status, AMOUNT_MINOR, "NGN"))  # type: ignore[arg-type]


class Store:
    """The committed data of the service. No method is ever half done."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, tzinfo=UTC)
        self.payouts: list[Payout] = []
        self.attempts: list[Attempt] = []
        self.suspended = False
        # Payouts with an open exception, and its attempt.
        self.excepted: dict[UUID, UUID] = {}
        self.work: list[Attempt] = []
        self.ledger: dict[str, int] = {}
        self.posted: set[str] = set()
        # Counts of events, which show how far the schedules reach.
        self.seen: Counter[str] = Counter()
        self.post(accounts.release("release", VENDOR, BROUGHT_MINOR, 0))

    # --- the ledger ---

    def post(self, posting: Posting) -> None:
        """Once for each key; a guarded account never falls below zero."""
        assert posting.key not in self.posted, posting.key
        self.posted.add(posting.key)
        for entry in posting.entries:
            balance = self.balance(entry.account.name) + entry.amount_minor
            self.ledger[entry.account.name] = balance
            side = 1 if entry.account.side == "debit" else -1
            assert not entry.account.guarded or balance * side >= 0, entry.account.name

    def balance(self, account: str) -> int:
        return self.ledger.get(account, 0)

    def wallet(self) -> WalletSnapshot:
        available_minor = -self.balance(accounts.wallet(VENDOR).name)
        return WalletSnapshot(available_minor, self.balance(accounts.vendor_debt(VENDOR).name), 0, VERSION, True)

    # --- reading ---

    def attempts_of(self, payout: Payout) -> list[Attempt]:
        return [attempt for attempt in self.attempts if attempt.payout is payout]

    def present(self, payout: Payout) -> Attempt | None:
        return next((line for line in self.attempts_of(payout) if line.number == payout.retry_count + 1), None)

    def candidate(self, payout: Payout) -> Candidate:
        present = self.present(payout)
        attempted = present is not None and not (present.status == "reserved" and present.due_at is None)
        return Candidate(
            payout.id,
            VENDOR,
            AMOUNT_MINOR,
            "covered",
            payout.status == "pending",
            attempted,
            payout.details_stand,
            self.suspended,
            bank_details_cooling=False,
            vendor_has_debt=False,
        )

    def locked(self, attempt: Attempt) -> LockedTransfer:
        payout = attempt.payout
        known = (attempt.id, payout.id, VENDOR, BATCH, attempt.reference, attempt.status, AMOUNT_MINOR, "NGN")
        tried = (attempt.due_at is not None, attempt.submissions, attempt.called_at, attempt.arrived_at)
        returned = payout.status == "processed" and payout.returned is not None
        return LockedTransfer(*known, payout.status, attempt.effective_status, attempt.poll_count, *tried, returned)

    def locked_payout(self, payout: Payout) -> LockedPayout:
        attempts = tuple(
            LockedAttempt(
                line.id,
                line.reference,
                line.status,
                line.due_at is not None,
                line.contradicted,
                line.recovered,
                line.submissions > 0,
            )
            for line in self.attempts_of(payout)
        )
        money = (AMOUNT_MINOR, payout.status, payout.retry_count)
        return LockedPayout(payout.id, VENDOR, *money, None, attempts, payout.returned)

    # --- transactions ---

    def request(self) -> None:
        payout = Payout(UUID(int=1_000 + len(self.payouts)))
        self.payouts.append(payout)
        self.post(accounts.payout_requested(payout.id, VENDOR, AMOUNT_MINOR))

    def plan(self, chosen: list[Payout], balance_minor: int) -> list[Attempt]:
        """Plans the batch with all its attempts; the caller sends them."""
        plan = plan_batch([self.candidate(payout) for payout in chosen], [], None, balance_minor, FeeSchedule())
        reserved = [payout for payout in chosen if not plan.short and payout.id in plan.selected]
        return [self.reserve(payout, self.now + LEASE) for payout in reserved]

    def reserve(self, payout: Payout, due_at: datetime) -> Attempt:
        attempt = self.present(payout)
        if attempt is None:
            number = payout.retry_count + 1
            attempt = Attempt(UUID(int=10_000 + len(self.attempts)), payout, number, f"{payout.id.int}-{number}")
            self.attempts.append(attempt)
        attempt.due_at = due_at
        return attempt

    def hold(self, attempt: Attempt) -> None:
        """Open an exception; one for each payout, about its first attempt."""
        self.excepted.setdefault(attempt.payout.id, attempt.id)

    def start_submission(self, attempt: Attempt, was: SubmittableStatus) -> tuple[bool, CallHistory] | None:
        """Whether it may be sent, and its calls; None when this caller may not send it."""
        transfer = self.locked(attempt)
        reason = hold_reason(self.candidate(attempt.payout))
        decision = check_submission(transfer, was, reason, self.now)
        self.seen[f"{was}: {decision}"] += 1
        if decision == "hold":
            attempt.due_at = None
        elif decision == "wait" and reason is not None:
            after = update_while_held(transfer, reason, self.now)
            attempt.due_at, attempt.poll_count = after.poll_at, attempt.poll_count + 1
            if after.opens is not None:
                self.hold(attempt)
        if decision not in ("send", "fail"):
            return None
        attempt.status, attempt.due_at = "submitting", self.now + LEASE
        attempt.submissions += 1
        calls = CallHistory(attempt.submissions, earlier_at=attempt.called_at)
        if decision == "send":
            attempt.called_at = self.now
        return decision == "send", calls

    def mark_unknown(self, attempt: Attempt, after: AttemptUpdate) -> bool:
        if attempt.status != "submitting":
            return False
        attempt.status, attempt.due_at, attempt.called_at = "unknown", after.poll_at, after.called_at
        return True

    def record_call(self, attempt: Attempt, response: SubmitResult, calls: CallHistory) -> None:
        transfer = self.locked(attempt)
        after = update_after_call(transfer, response, calls, self.now)
        if after is None:
            self.seen["overtaken"] += 1
            return
        if after.is_unknown:
            self.seen["refused too early"] += calls.refused and not after.poll_now
            if self.mark_unknown(attempt, after) and after.poll_now:
                self.work.append(attempt)
            return
        assert after.update is not None
        verdict = self.record_update(attempt, after.update)
        if stays_unknown(transfer.status, verdict):
            self.mark_unknown(attempt, update_after_contradiction(transfer, self.now))
            return
        attempt.due_at = after.poll_at

    def record_response(self, attempt: Attempt, response: VerifyResult) -> None:
        after = update_after_query(self.locked(attempt), response, self.now)
        if after.update is not None:
            self.record_update(attempt, after.update)
        attempt.due_at, attempt.poll_count = after.poll_at, attempt.poll_count + 1
        if after.opens is not None:
            self.hold(attempt)

    def record_update(self, attempt: Attempt, update: TransferUpdate) -> Verdict:
        payout = attempt.payout
        follows = consequences_of(self.locked(attempt), update)
        self.seen[f"news {follows.verdict}"] += 1
        self.seen[f"{update.update_source}: {update.status}"] += 1
        attempt.observed.append((update.update_source, update.status, follows.verdict))
        attempt.accepted = attempt.accepted or update.status in (*UNDER_WAY, "success", "reversed")
        if update.status == "success" and attempt.arrived_at is None:
            attempt.arrived_at = self.now
        if follows.sets_status:
            attempt.status = update.status
        if follows.completes_payout and payout.status == "pending":
            payout.status = "processed"
            self.post(accounts.payout_processed(payout.id, AMOUNT_MINOR))
            self.stop_other_attempts(attempt)
        if follows.closes_exception and self.excepted.get(payout.id) == attempt.id:
            del self.excepted[payout.id]
        if follows.opens is not None:
            self.hold(attempt)
        if follows.needs_query:
            self.work.append(attempt)
        return follows.verdict

    def stop_other_attempts(self, arrived: Attempt) -> None:
        for other in self.attempts_of(arrived.payout):
            if other is not arrived and other.status == "reserved":
                other.status, other.due_at = "failed", None
            elif other is not arrived and other.status in MAY_STILL_PAY:
                self.hold(other)

    def claim_transfer(self) -> Attempt | None:
        due = [line for line in self.attempts if line.due_at is not None and line.due_at <= self.now]
        if not due:
            return None
        attempt = min(due, key=lambda line: (line.status == "success", line.due_at, line.reference))
        attempt.status, attempt.due_at = status_when_claimed(attempt.status), self.now + LEASE
        return attempt

    def record_questioned(self, attempt: Attempt, response: VerifyResult) -> None:
        """Record the result of an operator's query."""
        if isinstance(response, Reported):
            self.record_update(attempt, response.update)
            if response.update.status not in UNDER_WAY:
                attempt.due_at = next_poll_at(self.locked(attempt), response.update, self.now)
                attempt.poll_count += 1

    def reset(self, payout: Payout) -> None:
        check_reset(self.locked_payout(payout))
        self.seen["reset"] += 1
        payout.retry_count += 1
        self.reserve(payout, self.now + wait_before_retry(payout.retry_count, timedelta(minutes=5)))
        self.excepted.pop(payout.id, None)

    def reconcile(self, payout: Payout) -> None:
        """Make the four-eyes decision, whichever is needed."""
        plan = plan_reconciliation(self.locked_payout(payout), self.wallet())
        self.seen[plan.kind] += 1
        self.post(plan.posting)
        self.excepted.pop(payout.id, None)
        if plan.transfer_id is not None:
            extra = next(line for line in self.attempts if line.id == plan.transfer_id)
            extra.recovered = plan.kind == "recovery"
            return
        payout.returned = plan.kind
        if plan.kind == "restitution":
            payout.status = "failed"
            for attempt in self.attempts_of(payout):
                if attempt.status == "reserved":
                    attempt.status, attempt.due_at = "failed", None


# --- processes: `yield` alone is before a transaction, `yield call` at a call to the gateway ---


def dispatch(store: Store, chosen: list[Payout], balance_minor: int) -> Process:
    yield None
    for attempt in store.plan(chosen, balance_minor):
        yield from submit(store, attempt, "reserved")


def submit(store: Store, attempt: Attempt, was: SubmittableStatus) -> Process:
    yield None
    started_at, submission = store.now, store.start_submission(attempt, was)
    if submission is None:
        return
    may_send, calls = submission
    response: Response | None = Refused(DETAILS_CHANGED)
    if may_send:
        # The recipient is created and recorded.
        yield None
        response = Unclear("too late")
        if may_start_call(started_at, store.now):
            response = yield ("transfer", attempt.reference, started_at + LOST_CALL)
    if isinstance(response, Refused):
        calls = replace(calls, refused=True, confirmed_at=store.now)
        wallet = yield ("verify", attempt.reference, store.now)
        response = response if isinstance(wallet, Absent) else wallet
    yield None
    assert not isinstance(response, Absent)
    assert response is not None
    store.record_call(attempt, response, calls)


def settle(store: Store, attempt: Attempt) -> Process:
    yield None
    status = attempt.status
    if not is_allowed(status, "queried"):
        return
    response = yield ("verify", attempt.reference, store.now)
    assert not isinstance(response, Refused)
    assert response is not None
    if should_resubmit(status, response):
        yield from submit(store, attempt, "unknown")
        return
    yield None
    store.record_response(attempt, response)


def work(store: Store) -> Process:
    """One round of the worker's timer over one attempt."""
    yield None
    attempt = store.claim_transfer()
    if attempt is None:
        return
    if step_when_due(attempt.status) == "submit":
        yield from submit(store, attempt, "reserved")
    else:
        yield from settle(store, attempt)


def decide(store: Store, payout: Payout, act: str) -> Process:
    """Yield an operator's action: the gateway is queried about every attempt, each result is recorded, then the action
    is checked.
    """
    for attempt in store.attempts_of(payout):
        if attempt.submissions == 0:
            continue
        response = yield ("verify", attempt.reference, store.now)
        if isinstance(response, Unclear) or (isinstance(response, Absent) and attempt.accepted):
            return
        yield None
        assert not isinstance(response, Refused)
        assert response is not None
        store.record_questioned(attempt, response)
    yield None
    try:
        store.reset(payout) if act == "reset" else store.reconcile(payout)
    except Conflict:
        return
