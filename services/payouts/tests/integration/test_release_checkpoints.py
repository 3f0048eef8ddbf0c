"""The check of a vendor's credits continues from an authenticated checkpoint, so that it reads few rows."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any
from uuid import UUID

import msgspec
import pytest

from common.primitives.encryption import DecryptionFailed, Encryptor
from common.primitives.ids import new_id
from operations.audit.invariants import INVARIANTS
from payouts.domain.release_statements import LINES_TO_CHECKPOINT, STATEMENTS_TRIED_MAX, ReleaseCheckpoint
from payouts.store import release_statements
from payouts.store.release_checkpoints import authenticated_rows, list_checkpoints
from payouts.timers import check_releases_once

from .conftest import Scenario, Vendor, released
from .steps import escrow_refunded, skip_reason

RULE = "each checkpoint of a vendor's credits equals its lines and statements up to there"
[AUDIT] = [line.offending for line in INVARIANTS if line.rule == RULE]
# Releases of one kobo, each with its line, statement and part of the balance.
GROW = (
    "INSERT INTO release_statements SELECT $1, n, 's', 'release:' || gen_random_uuid(), NULL, 1, n, 'k', now() "
    "FROM generate_series($2::bigint, $2 + $3 - 1) AS n",
    "INSERT INTO wallet_lines (id, vendor_id, kind, source_key, net_minor, balance_minor, at) "
    "SELECT gen_random_uuid(), $1, 'release', 'release:' || gen_random_uuid(), 1, n, now() "
    "FROM generate_series($2::bigint, $2 + $3 - 1) AS n",
    "UPDATE ledger_balances SET balance_minor = balance_minor + $3 + 0 * $2::bigint "
    "WHERE account = 'wallet:' || $1::uuid",
)

OTHERS = (
    "INSERT INTO wallet_lines (id, vendor_id, kind, source_key, net_minor, balance_minor, at) "
    "SELECT gen_random_uuid(), md5((n % 100)::text)::uuid, 'release', 'release:' || gen_random_uuid(), 1, 1, now() "
    "FROM generate_series(1, 10000) AS n",
    "INSERT INTO release_statements SELECT md5((n % 100)::text)::uuid, n, gen_random_uuid(), 'release:1', NULL, 1, n, "
    "'k', now() FROM generate_series(1, 10000) AS n",
)


async def grow(connection: Any, scenario: Scenario, vendor: Vendor, count: int) -> None:
    """Add so many releases of a kobo, the newest of which payments signed."""
    sequence = await connection.fetchval("SELECT max(sequence) FROM release_statements WHERE vendor_id = $1", vendor.id)
    for statement in GROW:
        await connection.execute(statement, vendor.id, sequence + 1, count)
    for number in range(count):
        scenario.payments.statement(vendor.id, f"release:{number}", 1)
    await scenario.release(vendor, 1)


async def add_others(connection: Any) -> None:
    """Add lines and statements of a hundred other vendors, as a marketplace has them."""
    for statement in OTHERS:
        await connection.execute(statement)
    await connection.execute("ANALYZE wallet_lines, release_statements, payout_requests, ledger_balances")


async def checkpoint_of(scenario: Scenario, vendor: Vendor) -> Any:
    async with scenario.unit_of_work() as uow:
        [checkpoint] = await list_checkpoints(uow, [vendor.id])
    return checkpoint


class ExplainingUnitOfWork:
    """A unit of work that explains each statement beside running it, and counts the rows that its scans visit."""

    def __init__(self, uow: Any) -> None:
        self._uow, self.statements, self.rows = uow, 0, 0

    @property
    def checkpoints(self) -> Any:
        return self._uow.checkpoints

    async def fetch(self, statement: str, *values: Any) -> Any:
        [(explained,)] = await self._uow.fetch(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {statement}", *values)
        self.statements += 1
        self.rows += sum(rows_of(msgspec.json.decode(explained)[0]["Plan"]))
        return await self._uow.fetch(statement, *values)


def rows_of(plan: dict[str, Any]) -> Iterator[float]:
    """Yield the rows that each scan of a table read, those that it dropped too."""
    if "Relation Name" in plan:
        dropped = plan.get("Rows Removed by Filter", 0) + plan.get("Rows Removed by Index Recheck", 0)
        yield (plan["Actual Rows"] + dropped) * plan["Actual Loops"]
    for inner in plan.get("Plans", ()):
        yield from rows_of(inner)


async def cost_of_check(scenario: Scenario, vendor: Vendor) -> tuple[int, float]:
    async with scenario.unit_of_work() as uow:
        explaining: Any = ExplainingUnitOfWork(uow)
        checkpoints = await list_checkpoints(explaining, [vendor.id])
        await release_statements.read_vendor_ledgers(explaining, checkpoints)
    return explaining.statements, explaining.rows


@pytest.fixture
async def admin(scenario: Scenario) -> Any:
    async with scenario.tampering() as connection:
        yield connection


async def test_a_check_costs_the_same_with_a_hundred_times_the_releases(scenario: Scenario, admin: Any) -> None:
    small, large = 150, 15_000
    vendors = {count: await scenario.ready_vendor(1_000) for count in (small, large)}
    for count, vendor in vendors.items():
        await grow(admin, scenario, vendor, count)
        await scenario.payout(vendor, 100)
    await add_others(admin)
    _, unbounded = await cost_of_check(scenario, vendors[large])
    assert unbounded > 2 * large
    await check_releases_once(scenario.database, scenario.clock)
    await add_others(admin)
    costs = [await cost_of_check(scenario, vendor) for vendor in vendors.values()]
    # The planner reads a small table as it likes.
    assert abs(costs[0][1] - costs[1][1]) < 10
    # The newest statements are the most of it.
    assert [(statements, rows < 3 * STATEMENTS_TRIED_MAX) for statements, rows in costs] == [(2, True)] * 2


async def test_a_payout_after_a_checkpoint_is_sent_and_a_wrong_credit_after_it_is_not(
    scenario: Scenario, admin: Any
) -> None:
    vendor = await scenario.ready_vendor(1_000)
    await grow(admin, scenario, vendor, LINES_TO_CHECKPOINT)
    assert await skip_reason(scenario, await scenario.payout(vendor, 100)) is None
    reached = await checkpoint_of(scenario, vendor)
    # 1,000, one of each grown release, and one more.
    assert (reached.received_minor, reached.paid_minor) == (1_001 + LINES_TO_CHECKPOINT, -100)
    assert await admin.fetch(AUDIT) == []
    await scenario.release(vendor, 50)
    await scenario.receive(escrow_refunded(vendor, 30))
    payout = await scenario.payout(vendor, 100)
    await scenario.app.deliver_unsigned(released(vendor, 500))
    assert await skip_reason(scenario, payout) == "credit_not_released"
    # Few lines were added: the checkpoint is still the first one.
    assert await checkpoint_of(scenario, vendor) == reached


async def test_a_vendor_that_is_not_covered_gets_no_checkpoint(scenario: Scenario, admin: Any) -> None:
    vendor = await scenario.ready_vendor(1_000)
    payout = await scenario.payout(vendor, 100)
    await scenario.app.deliver_unsigned(released(vendor, 500))
    await grow(admin, scenario, vendor, LINES_TO_CHECKPOINT)
    assert await skip_reason(scenario, payout) == "credit_not_released"
    assert (await checkpoint_of(scenario, vendor)).sequence == 0


async def test_a_gap_above_the_checkpoint_is_waited_for(scenario: Scenario, admin: Any) -> None:
    vendor = await scenario.ready_vendor(1_000)
    await grow(admin, scenario, vendor, LINES_TO_CHECKPOINT)
    await check_after_payout(scenario, vendor)
    missing = scenario.payments.signed(released(vendor, 10))
    await scenario.app.deliver_unsigned(scenario.payments.signed(released(vendor, 20)))
    payout = await scenario.payout(vendor, 10)
    assert await skip_reason(scenario, payout) == "release_statement_awaited"
    await scenario.app.deliver_unsigned(missing)
    assert await skip_reason(scenario, payout) is None


async def check_after_payout(scenario: Scenario, vendor: Vendor) -> str:
    payout = await scenario.payout(vendor, 10)
    await check_releases_once(scenario.database, scenario.clock)
    assert (await checkpoint_of(scenario, vendor)).sequence > 0
    return payout


@pytest.mark.parametrize(
    "change",
    [
        "received_minor = received_minor - 500",
        "paid_minor = paid_minor + 500",
        "last_line = (SELECT max(position) FROM wallet_lines)",
        "sequence = sequence - 1",
        "vendor_id = $2",
    ],
)
async def test_a_changed_checkpoint_hides_no_credit_and_is_named_by_the_audit(
    scenario: Scenario, admin: Any, change: str
) -> None:
    vendor = await scenario.ready_vendor(1_000)
    other = await scenario.ready_vendor(1_000)
    await grow(admin, scenario, vendor, LINES_TO_CHECKPOINT)
    payout = await check_after_payout(scenario, vendor)
    await scenario.app.deliver_unsigned(released(vendor, 500))
    values = (vendor.id, other.id) if "$2" in change else (vendor.id,)
    await admin.execute(f"UPDATE release_checkpoints SET {change} WHERE vendor_id = $1", *values)
    assert [row["vendor_id"] for row in await admin.fetch(AUDIT)] == [values[-1]]
    assert (await checkpoint_of(scenario, vendor)).sequence == 0
    assert await skip_reason(scenario, payout) == "credit_not_released"


@pytest.mark.parametrize("kind", ["restitution", "recovery"])
async def test_a_forged_return_of_a_payout_before_the_checkpoint_is_found(
    scenario: Scenario, admin: Any, kind: str
) -> None:
    vendor = await scenario.ready_vendor(1_000)
    early = await scenario.payout(vendor, 10)
    assert await skip_reason(scenario, early) is None
    await grow(admin, scenario, vendor, LINES_TO_CHECKPOINT)
    payout = await check_after_payout(scenario, vendor)
    await admin.execute(
        "INSERT INTO wallet_lines (id, vendor_id, kind, source_key, payout_id, net_minor, balance_minor, at) "
        "VALUES ($1, $2, $3, $4, $5, 11, 0, now())",
        new_id(), vendor.id, kind, f"{kind}:{new_id()}", UUID(early),
    )  # fmt: skip
    await admin.execute(
        "UPDATE ledger_balances SET balance_minor = balance_minor + 11 WHERE account = 'wallet:' || $1::uuid", vendor.id
    )
    assert await skip_reason(scenario, payout) == "credit_not_released"


async def test_a_checkpoint_under_an_unknown_key_is_ignored(scenario: Scenario, admin: Any) -> None:
    vendor = await scenario.ready_vendor(1_000)
    await grow(admin, scenario, vendor, LINES_TO_CHECKPOINT)
    payout = await check_after_payout(scenario, vendor)
    async with scenario.unit_of_work() as uow:
        message = (await list_checkpoints(uow, [vendor.id]))[0].message
    foreign = Encryptor("checkpoints", "a key of another system").encrypt("", message)
    await admin.execute("UPDATE release_checkpoints SET authenticator = $1", foreign)
    assert (await checkpoint_of(scenario, vendor)).sequence == 0
    assert await skip_reason(scenario, payout) is None


def test_a_rotation_authenticates_a_checkpoint_again_and_no_changed_one() -> None:
    before, after = "the old key of checkpoints", "the new key of checkpoints"
    checkpoint = ReleaseCheckpoint(new_id(), 9, 8, 7, 1_000, -100)
    row = asdict(checkpoint) | {"authenticator": Encryptor("checkpoints", before).encrypt("", checkpoint.message)}
    renew = authenticated_rows(Encryptor("checkpoints", after, before)).renew
    assert Encryptor("checkpoints", after).decrypt(renew(row)["authenticator"], checkpoint.message) == ""
    with pytest.raises(DecryptionFailed):
        renew(row | {"paid_minor": 0})
