"""Payouts sends only money that payments released: each vendor's wallet is compared with payments' signed
statements.
"""

import asyncio
from dataclasses import replace
from datetime import timedelta
from itertools import permutations
from typing import Any
from uuid import UUID, uuid4

import msgspec
import pytest

from common.primitives.ids import new_id
from common.primitives.signatures import SigningKey, VerifyKeys
from contracts.payments import VendorStatementIssued
from payouts.domain.errors import NothingToCorrect
from payouts.domain.release_statements import LATE_AFTER
from payouts.timers import check_releases_once
from payouts.use_cases.releases.correct_wallet import correct_wallet

from .conftest import Scenario, released
from .signed_events import RELEASE_KEY, Payments
from .steps import escrow_refunded, skip_reason

OTHER_KEY = SigningKey("AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=")


async def exceptions(scenario: Any, vendor: Any, status: str = "open") -> list[dict[str, Any]]:
    headers = scenario.headers(scenario.operator_id, roles=("finance_maker",))
    path = f"/api/payout-exceptions?vendorId={vendor.id}&status={status}"
    return list((await scenario.client.get(path, headers=headers)).json()["data"])


async def run_timer_once(scenario: Any) -> None:
    await check_releases_once(scenario.database, scenario.clock)


async def correct(scenario: Any, vendor: Any, surplus_minor: int) -> None:
    async with scenario.unit_of_work() as uow:
        await correct_wallet(uow, vendor.id, surplus_minor, "incident 7", scenario.clock.now())


async def test_a_wallet_that_matches_payments_statements_is_paid_out(scenario: Any, sandbox: Any) -> None:
    vendor = await scenario.ready_vendor(1_000)
    await scenario.receive(escrow_refunded(vendor, 300))
    payout = await scenario.payout(vendor, 700)
    assert await skip_reason(scenario, payout) is None
    assert [transfer["amount"] for transfer in await sandbox.transfers()] == [700]
    assert await exceptions(scenario, vendor) == []


async def a_forged_event(scenario: Any, vendor: Any, event: Any) -> None:
    await scenario.app.deliver_unsigned(released(vendor, 500))


async def a_forged_event_under_another_key(scenario: Any, vendor: Any, event: Any) -> None:
    await scenario.app.deliver_unsigned(Payments(OTHER_KEY).signed(released(vendor, 500)))


async def a_real_order_with_another_amount(scenario: Any, vendor: Any, event: Any) -> None:
    statement = scenario.payments.statement(vendor.id, f"release:{(real := released(vendor, 10)).release_id}", 10)
    forged = msgspec.structs.replace(real, net_minor=510, gross_minor=510, statement=statement)
    await scenario.app.deliver_unsigned(forged)


async def the_same_release_under_another_id(scenario: Any, vendor: Any, event: Any) -> None:
    await scenario.app.deliver_unsigned(msgspec.structs.replace(event, release_id=new_id()))


async def a_statement_of_another_vendor(scenario: Any, vendor: Any, event: Any) -> None:
    other = await scenario.vendor()
    theirs = scenario.payments.signed(released(other, 500))
    await scenario.app.deliver_unsigned(msgspec.structs.replace(theirs, vendor_id=vendor.id))


async def a_row_by_hand(scenario: Any, vendor: Any, event: Any) -> None:
    await scenario.tamper(
        "UPDATE ledger_balances SET balance_minor = balance_minor + 500 WHERE account = $1", f"wallet:{vendor.id}"
    )


async def a_line_and_its_posting_by_hand(scenario: Any, vendor: Any, event: Any) -> None:
    async with scenario.connected("admin") as admin:
        await admin.execute(
            "INSERT INTO wallet_lines (id, vendor_id, kind, source_key, net_minor, balance_minor, at) "
            "VALUES ($1, $2, 'release', $3, 500, 1500, now())",
            new_id(), vendor.id, f"release:{new_id()}",
        )  # fmt: skip
        await admin.execute(
            "SELECT ledger_post($1, 'release', $2, 'NGN', $3, $4, ARRAY['debit', 'credit'], ARRAY[false, true], "
            "ARRAY[500, -500]::bigint[])",
            new_id(), f"release:{new_id()}", b"x", ["escrow_released", f"wallet:{vendor.id}"],
        )  # fmt: skip


async def an_undecided_return(scenario: Any, vendor: Any, event: Any) -> None:
    payout = await scenario.payout(vendor, 500)
    async with scenario.connected("admin") as admin:
        await admin.execute(
            "INSERT INTO wallet_lines (id, vendor_id, kind, source_key, payout_id, net_minor, balance_minor, at) "
            "VALUES ($1, $2, 'restitution', $3, $4, 500, 1000, now())",
            new_id(), vendor.id, f"restitution:{payout}", UUID(payout),
        )  # fmt: skip
        await admin.execute(
            "SELECT ledger_post($1, 'restitution', $2, 'NGN', $3, $4, ARRAY['credit', 'credit'], ARRAY[true, true], "
            "ARRAY[500, -500]::bigint[])",
            new_id(), f"restitution:{payout}", b"x", [f"in_transit:{payout}", f"wallet:{vendor.id}"],
        )  # fmt: skip


async def a_statement_written_by_hand(scenario: Any, vendor: Any, event: Any) -> None:
    await scenario.app.deliver_unsigned(released(vendor, 500))
    async with scenario.connected("admin") as admin:
        await admin.execute(
            "UPDATE release_statements SET net_minor = 1500, amount_minor = 1500 WHERE vendor_id = $1", vendor.id
        )


FORGERIES = [
    a_forged_event,
    a_forged_event_under_another_key,
    a_real_order_with_another_amount,
    the_same_release_under_another_id,
    a_statement_of_another_vendor,
    a_row_by_hand,
    a_line_and_its_posting_by_hand,
    an_undecided_return,
    a_statement_written_by_hand,
]


@pytest.mark.parametrize("forgery", FORGERIES, ids=lambda forgery: forgery.__name__)
async def test_an_unsigned_credit_stops_its_vendor_alone(scenario: Any, sandbox: Any, forgery: Any) -> None:
    vendor, other = await scenario.ready_vendor(1), await scenario.ready_vendor(200)
    event = scenario.payments.signed(released(vendor, 999))
    await scenario.app.deliver_unsigned(event)
    await forgery(scenario, vendor, event)
    payout, honest = await scenario.payout(vendor, 400), await scenario.payout(other, 200)
    batch = (await scenario.dispatch(uuid4(), payoutIds=[payout, honest])).json()["data"]
    assert [transfer["payoutId"] for transfer in batch["transfers"]] == [honest]
    assert batch["skipped"] == [{"payoutId": payout, "reason": "credit_not_released"}]
    [held] = await exceptions(scenario, vendor)
    assert (held["cause"], held["severity"], held["payoutId"]) == ("credit_not_released", "SEV-1", None)
    assert held["vendorId"] == str(vendor.id)
    alerts = list(await scenario.published("operations.alert_raised.v1"))
    [alert] = [alert for alert in alerts if alert["runbook"] == "credit-not-released"]
    assert (alert["severity"], alert["subject"]) == ("SEV-1", str(vendor.id))
    assert len(await sandbox.transfers()) == 1
    # Another dispatch and a round of the worker change nothing, and the vendor's other events continue.
    assert await skip_reason(scenario, payout) == "credit_not_released"
    await run_timer_once(scenario)
    assert len(await exceptions(scenario, vendor)) == 1
    assert await exceptions(scenario, other) == []
    assert (await scenario.request_payout(vendor, 100)).status_code == 201
    assert (await scenario.put_bank_details(vendor)).status_code == 200


async def test_the_exception_names_the_unsigned_line(scenario: Any) -> None:
    vendor = await scenario.ready_vendor(1_000)
    forged = released(vendor, 500)
    await scenario.app.deliver_unsigned(forged)
    await skip_reason(scenario, await scenario.payout(vendor, 100))
    [held] = await exceptions(scenario, vendor)
    assert f"release:{forged.release_id}" in held["detail"]
    assert "500 kobo more" in held["detail"]


async def test_a_forged_first_credit_of_a_new_vendor_stops_it_at_once(scenario: Any) -> None:
    vendor = await scenario.vendor()
    await scenario.put_bank_details(vendor)
    await scenario.app.deliver_unsigned(released(vendor, 500))
    assert await skip_reason(scenario, await scenario.payout(vendor, 500)) == "credit_not_released"
    assert [held["severity"] for held in await exceptions(scenario, vendor)] == ["SEV-1"]


async def test_a_forged_refund_stops_the_vendor_too(scenario: Any) -> None:
    vendor = await scenario.ready_vendor(1_000)
    await scenario.app.deliver_unsigned(escrow_refunded(vendor, 300))
    assert await skip_reason(scenario, await scenario.payout(vendor, 700)) == "credit_not_released"
    [held] = await exceptions(scenario, vendor)
    assert "300 kobo less" in held["detail"]


async def test_a_forged_payout_is_not_sent(scenario: Any, sandbox: Any) -> None:
    vendor = await scenario.ready_vendor(1_000)
    real = await scenario.payout(vendor, 100)
    async with scenario.connected("admin") as admin:
        forged = await admin.fetchval(
            "INSERT INTO payout_requests SELECT (json_populate_record(p, json_build_object('id', $2::uuid, "
            "'amount', 900000, 'number', new_payout_number()))).* FROM payout_requests AS p WHERE id = $1 RETURNING id",
            UUID(real), new_id(),
        )  # fmt: skip
    assert await skip_reason(scenario, str(forged)) == "credit_not_released"
    assert await sandbox.transfers() == []


async def test_a_forged_credit_after_the_plan_stops_the_attempt(scenario: Any, sandbox: Any, monkeypatch: Any) -> None:
    vendor = await scenario.ready_vendor(1_000)
    payout = await scenario.payout(vendor, 400)
    from payouts.use_cases.transfers import dispatch_payouts as dispatching

    planned = dispatching._send

    async def forge_first(*arguments: Any) -> None:
        await scenario.app.deliver_unsigned(released(vendor, 500))
        await planned(*arguments)

    monkeypatch.setattr(dispatching, "_send", forge_first)
    assert await skip_reason(scenario, payout) == "credit_not_released"
    assert await sandbox.transfers() == []
    assert (await scenario.read_payout(payout))["transfer"]["failure"] == "credit_not_released"


async def test_a_wallet_is_covered_once_all_events_have_arrived_in_any_order(scenario: Any) -> None:
    for order in permutations(range(3)):
        vendor = await scenario.ready_vendor(1_000)
        events = [
            scenario.payments.signed(released(vendor, 500)),
            scenario.payments.signed(escrow_refunded(vendor, 200)),
            scenario.payments.signed(released(vendor, 50)),
        ]
        payout = await scenario.payout(vendor, 600)
        for place in order[:2]:
            received = await scenario.app.deliver_unsigned(events[place])
            await scenario.app.deliver_unsigned(events[place], event_id=received.event_id)
            # Repeated under another id: the same statement, and the same line.
            await scenario.app.deliver_unsigned(events[place])
        missing = order[2]
        expected = None if missing == 2 else "release_statement_awaited"
        if expected:
            assert await skip_reason(scenario, payout) == expected, order
            assert await exceptions(scenario, vendor) == []
        await scenario.app.deliver_unsigned(events[missing])
        assert await skip_reason(scenario, payout) is None, order
        assert await exceptions(scenario, vendor) == []


async def test_a_late_statement_opens_an_exception_until_it_arrives(scenario: Any) -> None:
    vendor = await scenario.ready_vendor(1_000)
    late = scenario.payments.signed(escrow_refunded(vendor, 200))
    await scenario.receive(released(vendor, 50))
    payout = await scenario.payout(vendor, 600)
    scenario.clock.advance(LATE_AFTER)
    await run_timer_once(scenario)
    assert await exceptions(scenario, vendor) == []
    scenario.clock.advance(timedelta(seconds=1))
    await asyncio.gather(*(run_timer_once(scenario) for _ in range(3)))
    [held] = await exceptions(scenario, vendor)
    assert (held["cause"], held["severity"]) == ("release_statement_late", "SEV-2")
    assert await skip_reason(scenario, payout) == "release_statement_awaited"
    await scenario.app.deliver_unsigned(late)
    await run_timer_once(scenario)
    assert await exceptions(scenario, vendor) == []
    [closed] = await exceptions(scenario, vendor, "closed")
    assert closed["id"] == held["id"]
    assert await skip_reason(scenario, payout) is None


async def test_a_crash_before_the_commit_stores_neither_credit_nor_statement(scenario: Any) -> None:
    vendor = await scenario.ready_vendor(1_000)
    event = scenario.payments.signed(released(vendor, 500))
    payout = await scenario.payout(vendor, 100)

    class Crash(Exception):
        pass

    from payouts.consumers import on_escrow_released

    class Envelope(msgspec.Struct):
        sequence: int = 1

    with pytest.raises(Crash):
        async with scenario.unit_of_work() as uow:
            await on_escrow_released(event, Envelope(), uow, scenario.dependencies)
            raise Crash
    assert await skip_reason(scenario, payout) is None
    await scenario.app.deliver_unsigned(event)
    assert await skip_reason(scenario, await scenario.payout(vendor, 1_400)) is None


async def test_a_credit_exception_closes_only_after_a_correction(scenario: Any) -> None:
    vendor = await scenario.ready_vendor(1_000)
    forged = released(vendor, 500)
    await scenario.app.deliver_unsigned(forged)
    payout = await scenario.payout(vendor, 1_300)
    assert await skip_reason(scenario, payout) == "credit_not_released"
    [held] = await exceptions(scenario, vendor)
    headers = scenario.headers(scenario.operator_id, roles=("finance_maker",))
    path = f"/api/payout-exceptions/{held['id']}/close"
    refused = await scenario.client.post(path, json={"evidence": "looked at it"}, headers=headers)
    assert refused.status_code == 409, refused.text
    # Only the exact difference can be corrected.
    for wrong in (499, 501, -500, 0):
        with pytest.raises(NothingToCorrect):
            await correct(scenario, vendor, wrong)
    await correct(scenario, vendor, 500)
    assert await exceptions(scenario, vendor) == []
    [closed] = await exceptions(scenario, vendor, "closed")
    actions = (await scenario.client.get(f"/api/payout-exceptions/{held['id']}", headers=headers)).json()["data"][
        "acts"
    ]
    assert closed["id"] == held["id"]
    assert any("incident 7" in act["note"] for act in actions)
    # 200 were in the wallet; the rest of the payout becomes debt.
    wallet = await scenario.wallet(vendor)
    assert (wallet["availableMinor"], wallet["debtMinor"]) == (0, 300)
    assert await skip_reason(scenario, payout) == "debt_outstanding"
    with pytest.raises(NothingToCorrect):
        await correct(scenario, vendor, 500)


async def test_a_correction_returns_a_forged_refund(scenario: Any) -> None:
    vendor = await scenario.ready_vendor(1_000)
    await scenario.app.deliver_unsigned(escrow_refunded(vendor, 300))
    await correct(scenario, vendor, -300)
    assert (await scenario.wallet(vendor))["availableMinor"] == 1_000
    assert await skip_reason(scenario, await scenario.payout(vendor, 1_000)) is None


async def test_a_forged_amount_before_the_signed_one_is_found(scenario: Any) -> None:
    vendor = await scenario.ready_vendor(1_000)
    real = scenario.payments.signed(released(vendor, 100))
    await scenario.app.deliver_unsigned(msgspec.structs.replace(real, net_minor=900, gross_minor=900, statement=None))
    await scenario.app.deliver_unsigned(real)
    payout = await scenario.payout(vendor, 50)
    assert await skip_reason(scenario, payout) == "credit_not_released"
    await correct(scenario, vendor, 800)
    assert await skip_reason(scenario, payout) is None
    assert (await scenario.wallet(vendor))["availableMinor"] == 1_050


async def test_both_keys_are_valid_during_a_rotation(scenario: Any) -> None:
    vendor = await scenario.ready_vendor(1_000)
    payout = await scenario.payout(vendor, 100)
    database = scenario.database
    signatures = database.signatures
    try:
        # The next key alone: statements of the old key prove nothing until they are signed again.
        object.__setattr__(database, "signatures", replace(signatures, verify_keys=VerifyKeys.of(OTHER_KEY)))
        assert await skip_reason(scenario, payout) == "credit_not_released"
        both = VerifyKeys([OTHER_KEY.public_text, RELEASE_KEY.public_text])
        object.__setattr__(database, "signatures", replace(signatures, verify_keys=both))
        await run_timer_once(scenario)
        assert await exceptions(scenario, vendor) == []
        scenario.payments.key = OTHER_KEY
        renewed = VendorStatementIssued(
            vendor_id=vendor.id, statement=scenario.payments.statement(vendor.id, f"opening:{vendor.id}", 0)
        )
        await scenario.app.deliver_unsigned(renewed)
        object.__setattr__(database, "signatures", replace(signatures, verify_keys=VerifyKeys.of(OTHER_KEY)))
        assert await skip_reason(scenario, payout) is None
    finally:
        object.__setattr__(database, "signatures", signatures)


async def start_statements_now(scenario: Scenario) -> None:
    """Simulate a migrated system that has lines."""
    async with scenario.connected("admin") as admin:
        await admin.execute("DELETE FROM release_statements")
        await admin.execute(
            "UPDATE release_statements_begin SET last_line = (SELECT max(position) FROM wallet_lines), began_at = $1",
            scenario.clock.now(),
        )


async def test_after_the_upgrade_a_vendor_waits_for_its_first_statement(scenario: Any) -> None:
    vendor = await scenario.ready_vendor(1_000)
    await start_statements_now(scenario)
    # The previous version still publishes, without a statement.
    await scenario.app.deliver_unsigned(released(vendor, 500))
    payout = await scenario.payout(vendor, 1_500)
    assert await skip_reason(scenario, payout) == "release_statement_awaited"
    assert await exceptions(scenario, vendor) == []
    payments = Payments()
    payments.statement(vendor.id, "what is signed together", 1_500)
    payments._stated[vendor.id] = (0, 1_500)
    opening = VendorStatementIssued(
        vendor_id=vendor.id, statement=payments.statement(vendor.id, f"opening:{vendor.id}", 0)
    )
    await scenario.app.deliver_unsigned(opening)
    assert await skip_reason(scenario, payout) is None


async def test_an_unstated_credit_long_after_the_upgrade_stops_the_vendor(scenario: Any) -> None:
    vendor = await scenario.ready_vendor(1_000)
    await start_statements_now(scenario)
    scenario.clock.advance(LATE_AFTER + timedelta(seconds=1))
    await scenario.app.deliver_unsigned(released(vendor, 500))
    assert await skip_reason(scenario, await scenario.payout(vendor, 1_500)) == "credit_not_released"


async def test_a_dry_run_opens_no_exception(scenario: Any) -> None:
    vendor = await scenario.ready_vendor(1_000)
    await scenario.app.deliver_unsigned(released(vendor, 500))
    payout = await scenario.payout(vendor, 100)
    batch = (await scenario.dispatch(uuid4(), payoutIds=[payout], dryRun=True)).json()["data"]
    assert batch["skipped"] == [{"payoutId": payout, "reason": "credit_not_released"}]
    assert await exceptions(scenario, vendor) == []


async def test_a_held_vendor_keeps_no_other_out_of_a_batch(scenario: Any) -> None:
    vendor, other = await scenario.ready_vendor(1_000), await scenario.ready_vendor(200)
    await scenario.app.deliver_unsigned(released(vendor, 500))
    held = await scenario.payout(vendor, 100)
    await run_timer_once(scenario)
    honest = await scenario.payout(other, 200)
    batch = (await scenario.dispatch(uuid4())).json()["data"]
    assert [transfer["payoutId"] for transfer in batch["transfers"]] == [honest]
    assert batch["remaining"] == 0
    assert held in [line["payoutId"] for line in batch["skipped"]]
