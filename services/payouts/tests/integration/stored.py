"""Payouts in the database, for the tests of the stores: every statement is run beside the row of another vendor."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from payouts.domain.transfer_updates import TransferUpdate
from payouts.store import transfers
from testkit.sandbox import Sandbox

from .conftest import Scenario, Vendor
from .staff import AMOUNT, Staff


@dataclass(frozen=True)
class Sent:
    """A payout that the gateway has, with its only attempt."""

    vendor: Vendor
    payout_id: UUID
    transfer_id: UUID
    batch_id: UUID
    reference: str


def unit_of_work(scenario: Scenario) -> Any:
    return scenario.unit_of_work()


async def sent_payout(scenario: Scenario, sandbox: Sandbox) -> Sent:
    case = await Staff(scenario, sandbox).dispatched()
    [row] = await scenario.fetch(
        "SELECT id, payout_id, batch_id, reference FROM payout_transfers WHERE payout_id = $1", UUID(case.payout_id)
    )
    return Sent(case.vendor, row["payout_id"], row["id"], row["batch_id"], row["reference"])


async def sent_pair(scenario: Scenario, sandbox: Sandbox) -> tuple[Sent, Sent]:
    """Make two, of which the second is the older one, which a statement without its condition would find first."""
    other = await sent_payout(scenario, sandbox)
    return await sent_payout(scenario, sandbox), other


async def observe(
    uow: Any, scenario: Scenario, transfer_id: UUID, source: Any, status: Any, verdict: Any, amount_minor: int = AMOUNT
) -> None:
    """Record what the gateway reported of a transfer."""
    update = TransferUpdate(source, status, amount_minor, "NGN")
    transfer = await transfers.read_transfer(uow, transfer_id)
    record = transfers.RecordedUpdate(update, verdict)
    await transfers.record_observation(uow, transfer, record, scenario.clock.now())


async def append_line(
    uow: Any, scenario: Scenario, sent: Sent, kind: str, *, source_key: str | None = None, net_minor: int = AMOUNT
) -> None:
    """Add a line of the vendor's statement, without its posting."""
    await uow.execute(
        "INSERT INTO wallet_lines (id, vendor_id, kind, source_key, payout_id, net_minor, balance_minor, at) "
        "VALUES ($1, $2, $3, $4, $5, $6, 0, $7)",
        uuid4(), sent.vendor.id, kind, source_key or f"{kind}:{sent.payout_id}", sent.payout_id, net_minor,
        scenario.clock.now(),
    )  # fmt: skip
