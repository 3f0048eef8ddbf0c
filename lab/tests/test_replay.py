"""The recording of a run, and the rules of the wallets' ledger. `tests/resilience/test_simulation.py` runs the
whole.
"""

from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from functools import partial
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.database.outbox import Writes, alone
from common.ledger.posting import POST, Account, Posting, credit, debit, with_posting
from common.messaging import inbox
from common.primitives.ids import new_id
from common.primitives.money import apportion
from lab.replay.gateway import GatewayRecord
from lab.replay.payouts import PayoutsLedger
from lab.replay.postings import DerivedPosting, NoInput, Parts
from lab.replay.recording import RecordedEvent, RecordedUnit, Recording
from lab.stepped.effects import CURRENT

KOBO = st.integers(0, 10**12)
VENDOR, ORDER, CHARGEBACK = "v", "o", "c"
ACCOUNTS = [Account(name, "debit", False) for name in "xy"]
POSTING = Posting("key", "charge", (debit(ACCOUNTS[0], 1), credit(ACCOUNTS[1], 1)))


class PayoutsWorker:
    name = "payouts-worker"


class Connection:
    """A key of the recording: statements are run by the test."""


@pytest.fixture
def recording() -> Any:
    token = CURRENT.set(PayoutsWorker())  # type: ignore[arg-type]
    yield Recording()
    CURRENT.reset(token)


def returns(result: Any) -> Callable[[], Awaitable[Any]]:
    async def run() -> Any:
        return result

    return run


async def is_lost() -> Any:
    raise ConnectionResetError


async def consume(recording: Recording, connection: Any, *event_ids: UUID, known: UUID | None = None) -> None:
    rows = [{"event_id": event_id} for event_id in event_ids if event_id != known]
    statement = f"BEGIN; {inbox._record([(event_id, 'payouts') for event_id in event_ids])}"
    await recording.run(connection, statement, [], returns(f"INSERT 0 {len(rows)}"))
    if known is not None:
        await recording.run(connection, "SELECT event_id FROM inbox ...", [list(event_ids)], returns(rows))


async def test_a_committed_transaction_has_its_new_messages_and_its_postings(recording: Recording) -> None:
    connection, first, second, posting_id = Connection(), new_id(), new_id(), new_id()
    await consume(recording, connection, first, second, known=first)
    await recording.run(connection, POST, [posting_id], returns(True))
    await recording.run(connection, "COMMIT", [], returns("COMMIT"))
    assert recording.units == {"payouts": [RecordedUnit([second], [posting_id], is_certain=True)]}


async def test_a_repeated_posting_is_not_recorded(recording: Recording) -> None:
    connection = Connection()
    await recording.run(connection, POST, [new_id()], returns(False))
    await recording.run(connection, "COMMIT", [], returns("COMMIT"))
    assert not recording.units


@pytest.mark.parametrize("is_posted", [True, False])
async def test_a_posting_with_other_writes_is_recorded_if_it_is_new(recording: Recording, is_posted: bool) -> None:
    connection, posting_id = Connection(), new_id()
    statement, _ = with_posting(Writes("charge AS (INSERT ...)", "true AS is_saved"), ["a", "b"], POSTING)
    await recording.run(connection, statement.statement, ["a", "b", posting_id], returns([{"is_posted": is_posted}]))
    await recording.run(connection, "COMMIT", [], returns("COMMIT"))
    assert recording.units == ({"payouts": [RecordedUnit([], [posting_id], is_certain=True)]} if is_posted else {})


async def test_a_transaction_that_was_rolled_back_is_not_recorded(recording: Recording) -> None:
    connection = Connection()
    await consume(recording, connection, new_id())
    await recording.run(connection, "ROLLBACK", [], returns("ROLLBACK"))
    await recording.run(connection, "COMMIT", [], returns("COMMIT"))
    assert not recording.units


async def test_a_commit_without_a_response_is_uncertain(recording: Recording) -> None:
    connection, event_id = Connection(), new_id()
    await consume(recording, connection, event_id)
    with pytest.raises(ConnectionResetError):
        await recording.run(connection, "COMMIT", [], is_lost)
    assert recording.units == {"payouts": [RecordedUnit([event_id])]}


async def fails_with(error: Exception) -> Any:
    raise error


@pytest.mark.parametrize(
    ("error", "is_recorded"), [(None, True), (ConnectionResetError(), True), (asyncpg.UniqueViolationError(), False)]
)
async def test_a_statement_that_commits_itself_is_recorded_unless_it_was_rolled_back(
    recording: Recording, error: Exception | None, is_recorded: bool
) -> None:
    event_id, saved = new_id(), Writes("saved AS (SELECT $1)", "true AS is_saved", final="true")
    statement = alone((inbox._FIRST_WRITES, 2), (saved, 1))
    run = returns([]) if error is None else partial(fails_with, error)
    with nullcontext() if error is None else pytest.raises(type(error)):
        await recording.run(Connection(), statement, [[event_id], ["on_escrow_held"], 5], run)  # type: ignore[arg-type]
    expected = [RecordedUnit([event_id], is_certain=error is None)] if is_recorded else []
    assert recording.units.get("payouts", []) == expected


async def test_a_posting_is_recorded_in_any_place_of_a_statement(recording: Recording) -> None:
    connection, posting_id = Connection(), new_id()
    statement = "WITH held AS (...) SELECT 1, (SELECT ledger_post($3, $4)) AS is_posted"
    values = [5, 6, posting_id, "charge"]
    await recording.run(connection, statement, values, returns([{"is_posted": True}]))  # type: ignore[arg-type]
    await recording.run(connection, "COMMIT", [], returns("COMMIT"))  # type: ignore[arg-type]
    assert [unit.posting_ids for unit in recording.units["payouts"]] == [[posting_id]]


@given(st.tuples(KOBO, KOBO, KOBO), st.data())
def test_shares_are_those_of_the_contract(parts: tuple[int, int, int], data: Any) -> None:
    amount_minor = data.draw(st.integers(0, sum(parts)))
    assert list(Parts(*parts).share(amount_minor)) == apportion(amount_minor, parts)


async def nothing(_: str) -> list[Any]:
    return []


@pytest.fixture
def ledger() -> PayoutsLedger:
    return PayoutsLedger(GatewayRecord(nothing, nothing), [])


def event(name: str, sequence: int, **data: Any) -> RecordedEvent:
    about = {"orderId": ORDER, "vendorId": VENDOR, "remainingVendorMinor": 0}
    return RecordedEvent(uuid4(), f"payments.{name}.v1", ORDER, sequence, about | data)


def released(sequence: int, net_minor: int) -> RecordedEvent:
    return event("escrow_released", sequence, releaseId=str(sequence), netMinor=net_minor)


def disputed(sequence: int, **data: Any) -> RecordedEvent:
    return event("charge_disputed", sequence, chargebackId=CHARGEBACK, **data)


def entries(postings: list[DerivedPosting]) -> list[dict[str, int]]:
    return [dict(posting.entries) for posting in postings]


def test_a_refund_beyond_the_wallet_becomes_debt_that_the_next_release_repays(ledger: PayoutsLedger) -> None:
    ledger.of_event(released(2, 100))
    refund = ledger.of_event(event("escrow_refunded", 3, refundId="r", fromVendorMinor=130))
    assert entries(refund) == [{"wallet:v": 100, "vendor_debt:v": 30, "escrow_released": -130}]
    release = ledger.of_event(released(4, 50))
    assert entries(release) == [{"escrow_released": 50, "vendor_debt:v": -30, "wallet:v": -20}]


def test_a_repeated_release_posts_nothing(ledger: PayoutsLedger) -> None:
    ledger.of_event(released(2, 100))
    assert ledger.of_event(released(2, 100)) == []


def test_an_open_chargeback_holds_what_escrow_does_not_cover_until_its_end(ledger: PayoutsLedger) -> None:
    ledger.of_event(released(2, 100))
    hold = ledger.of_event(disputed(3, vendorMinor=90, remainingVendorMinor=20))
    assert entries(hold) == [{"wallet:v": 70, "held:v": -70}]
    won = ledger.of_event(disputed(4, vendorMinor=0, outcome="won"))
    assert entries(won) == [{"held:v": 70, "wallet:v": -70}]


def test_a_lost_chargeback_that_is_received_late_is_debited_and_holds_nothing(ledger: PayoutsLedger) -> None:
    ledger.of_event(released(2, 100))
    ledger.of_event(disputed(5, outcome="won"))
    late = ledger.of_event(disputed(4, outcome="lost", fromVendorMinor=40))
    assert entries(late) == [{"wallet:v": 40, "escrow_released": -40}]


def test_a_posting_without_an_accepted_request_has_no_input(ledger: PayoutsLedger) -> None:
    with pytest.raises(NoInput, match="no accepted request of payout p"):
        ledger.of_key("payout:p", RecordedUnit())
