"""The hash chain of the wallets' ledger. Payments' tests cover the mechanism (`common.ledger.hash_chain`)."""

import pytest

from common.ledger.chain_loops import DAILY
from common.primitives.clock import ManualClock
from payouts.app import SERVICE, verify_ledger_command
from payouts.metrics import LEDGER

from .conftest import Scenario


async def test_a_changed_posting_is_named_and_alerted(scenario: Scenario, capsys: pytest.CaptureFixture[str]) -> None:
    vendor = await scenario.ready_vendor(1_000)
    await scenario.payout(vendor, 400)
    await scenario.release(vendor, 50)
    database = scenario.database
    [encrypt] = [loop for loop in SERVICE.loops(scenario.dependencies) if loop.name == "link-postings"]
    assert await encrypt.run_once() == 3
    await verify_ledger_command(scenario.dependencies)
    length, head = capsys.readouterr().out.splitlines()[-1].split()
    assert (length, (await LEDGER.verify(database)).broken) == ("3", None)
    await verify_ledger_command(scenario.dependencies, length, head)
    [row] = await scenario.fetch("SELECT transaction_id FROM ledger_links WHERE sequence = 2")
    tampered = row["transaction_id"]
    await scenario.tamper(
        "UPDATE ledger_entries SET amount_minor = amount_minor * 10 WHERE transaction_id = $1", tampered
    )
    with pytest.raises(SystemExit) as broken:
        await verify_ledger_command(scenario.dependencies)
    assert f"link 2: transaction {tampered} is not what was sealed" in str(broken.value.code)
    [alert] = await scenario.published("operations.alert_raised.v1")
    assert (alert["severity"], alert["runbook"]) == ("SEV-1", "ledger-changed")
    assert alert["detail"].startswith("payouts, 3 links")
    assert str(tampered) in alert["detail"]


async def test_the_ledger_chain_is_verified_once_a_day(scenario: Scenario, clock: ManualClock) -> None:
    database = scenario.database
    assert await LEDGER.verify_when_due(database, clock) is True
    assert await LEDGER.verify_when_due(database, clock) is False
    clock.advance(DAILY)
    assert await LEDGER.verify_when_due(database, clock) is True
