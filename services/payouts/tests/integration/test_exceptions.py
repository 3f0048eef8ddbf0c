"""Exceptions are raised, classified and closed, each with its history."""

import asyncio
from datetime import timedelta
from uuid import UUID

import asyncpg
import pytest

from common.auth.caller import Caller
from common.primitives.clock import iso
from common.primitives.ids import new_id
from contracts.payments import TransferFailed, TransferReversed, TransferSucceeded
from contracts.permissions import permissions_of
from payouts.use_cases.exceptions.close_exception import close_exception
from payouts.use_cases.exceptions.query_exception import QUERIED
from testkit.responses import CONFLICT, data_of, error_of
from testkit.sandbox import Sandbox

from .conftest import Scenario
from .staff import AMOUNT
from .steps import FINDING, act_on_exception, list_exceptions, new_id_v4, receive_update, sent_payouts


async def events_of(scenario: Scenario, event, **about):
    """Return the published events of this type about a subject."""
    events = await scenario.published(event)
    return [one for one in events if all(one.get(name) == value for name, value in about.items())]


def key_of(exception):
    return f"payout-exception:{exception['id']}"


# --- Reports ---


async def test_the_sixth_vendor_of_a_batch_raises_all_six_exceptions(shared_scenario: Scenario) -> None:
    scenario = shared_scenario
    attempts = await sent_payouts(scenario, 6)
    await asyncio.gather(*(attempt.receive(TransferFailed) for attempt in attempts))
    found = [await attempt.exception() for attempt in attempts]
    assert {exception["severity"] for exception in found} == {"SEV-1"}
    for exception in found:
        assert exception["respondBy"] == iso(scenario.clock.now() + timedelta(minutes=15))
    raised = [exception for exception in found if exception["acts"]]
    assert len(raised) == 5
    for exception in raised:
        [change] = exception["acts"]
        assert (change["kind"], change["by"]) == ("changed", None)
        assert (change["severityBefore"], change["severityAfter"]) == ("SEV-3", "SEV-1")
        [changed] = await events_of(scenario, "payouts.exception_changed.v1", exceptionId=exception["id"])
        assert changed["severity"] == "SEV-1"
        pages = await events_of(scenario, "operations.alert_raised.v1", dedupKey=key_of(exception))
        assert [page["severity"] for page in pages] == ["SEV-3", "SEV-1"]


async def test_five_vendors_of_a_batch_raise_no_exception(shared_scenario: Scenario) -> None:
    attempts = await sent_payouts(shared_scenario, 5)
    await asyncio.gather(*(attempt.receive(TransferFailed) for attempt in attempts))
    assert {(await attempt.exception())["severity"] for attempt in attempts} == {"SEV-3"}


async def test_a_reversal_replaces_the_cause_of_an_earlier_failure(shared_scenario: Scenario) -> None:
    [attempt] = await sent_payouts(shared_scenario)
    await attempt.receive(TransferFailed)
    await attempt.receive(TransferReversed, reason=None)
    await attempt.receive(TransferReversed, reason=None)
    exception = await attempt.exception()
    assert (exception["cause"], exception["severity"], exception["detail"]) == (
        "reversed", "SEV-3", "Account number is invalid"
    )  # fmt: skip
    [change] = exception["acts"]
    assert (change["causeBefore"], change["causeAfter"]) == ("account_number_invalid", "reversed")
    [delayed] = await events_of(shared_scenario, "payouts.payout_delayed.v1", payoutId=attempt.payout_id)
    assert (delayed["cause"], delayed["exceptionId"]) == ("account_number_invalid", exception["id"])
    assert len(await events_of(shared_scenario, "payouts.exception_opened.v1", payoutId=attempt.payout_id)) == 1


async def test_a_reclassified_reversal_stays_a_reversal_for_the_vendor_too(shared_scenario: Scenario) -> None:
    scenario = shared_scenario
    [attempt] = await sent_payouts(scenario)
    await attempt.receive(TransferSucceeded)
    path = f"/api/payouts/{attempt.payout_id}"
    assert (await scenario.read_payout(attempt.payout_id))["reversal"] is None
    await attempt.receive(TransferReversed, reason=None)
    returned = {"at": iso(scenario.clock.now()), "creditedAt": None}
    exception = await attempt.exception()
    assert (await act_on_exception(scenario, exception["id"], "classify", **FINDING)).status_code == 200
    vendor = attempt.vendor
    for headers in (scenario.headers(vendor.owner, **vendor.claims()), scenario.maker()):
        shown = data_of(await scenario.client.get(path, headers=headers))
        assert (shown["openException"]["cause"], shown["reversal"]) == (FINDING["cause"], returned)
    # The gateway, queried, has the success again: the money did not come back.
    await receive_update(scenario, attempt.reference, "query", "success")
    assert (await scenario.read_payout(attempt.payout_id))["reversal"] is None


async def test_a_further_report_is_recorded_once_in_the_history(shared_scenario: Scenario) -> None:
    [attempt] = await sent_payouts(shared_scenario)
    await attempt.receive(TransferFailed)
    for _ in range(3):
        await attempt.receive(TransferSucceeded, amount_minor=AMOUNT - 1)
    exception = await attempt.exception()
    assert [line["kind"] for line in exception["acts"]] == ["noted"]
    assert str(AMOUNT - 1) in exception["acts"][0]["note"]
    assert await events_of(shared_scenario, "payouts.exception_changed.v1", exceptionId=exception["id"]) == []


async def test_a_vendor_with_the_money_is_not_notified_of_a_delay(shared_scenario: Scenario) -> None:
    [attempt] = await sent_payouts(shared_scenario)
    await attempt.receive(TransferSucceeded)
    await attempt.receive(TransferFailed)
    assert (await attempt.exception())["status"] == "open"
    assert await events_of(shared_scenario, "payouts.payout_delayed.v1", payoutId=attempt.payout_id) == []


async def test_a_confirmed_success_closes_exception_and_alert(shared_scenario: Scenario) -> None:
    [attempt] = await sent_payouts(shared_scenario)
    await attempt.receive(TransferFailed)
    await attempt.receive(TransferSucceeded)
    await receive_update(shared_scenario, attempt.reference, "query", "success")
    exception = await attempt.exception()
    assert (exception["status"], exception["closedBecause"]) == ("closed", "The gateway confirmed the transfer.")
    assert exception["acts"][-1]["kind"] == "closed"
    [closed] = await events_of(shared_scenario, "payouts.exception_closed.v1", exceptionId=exception["id"])
    assert closed["payoutId"] == attempt.payout_id
    assert len(await events_of(shared_scenario, "operations.alert_cleared.v1", dedupKey=key_of(exception))) == 1


async def test_staff_query_the_gateway_and_a_success_closes_the_exception(
    shared_scenario: Scenario, shared_sandbox: Sandbox
) -> None:
    scenario = shared_scenario
    [attempt] = await sent_payouts(scenario)
    await attempt.receive(TransferFailed)
    exception = await attempt.exception()
    for role in ("finance_checker", "auditor", "merchant", "platform_admin"):
        assert (await act_on_exception(scenario, exception["id"], "query", role=role)).status_code == 403
    assert (await act_on_exception(scenario, new_id(), "query")).status_code == 404
    assert await attempt.exception() == exception
    # The gateway contradicts the report: it has paid.
    await shared_sandbox.settle_transfer(attempt.reference, "succeed")
    shown = data_of(await act_on_exception(scenario, exception["id"], "query"))
    assert (shown["status"], shown["transfer"]["status"]) == ("closed", "success")
    assert [act["note"] for act in shown["acts"] if act["by"]] == [QUERIED]
    assert data_of(await act_on_exception(scenario, exception["id"], "query")) == shown
    assert shown == await attempt.exception()


# One of each kind; the unit tests cover all pairs of states.
STATUSES = ("pending", "otp", "success", "failed", "rejected", "reversed")


async def test_a_query_decides_between_two_reports_in_any_order(shared_scenario: Scenario) -> None:
    """Ordered pairs of states by webhook, then a queried success: paid once; open only after a reversal."""
    scenario, pairs = shared_scenario, [(first, second) for first in STATUSES for second in STATUSES]
    vendor = await scenario.ready_vendor(AMOUNT * len(pairs))
    payouts = [await scenario.payout(vendor, AMOUNT) for _ in pairs]
    response = (await scenario.dispatch(new_id_v4(), payoutIds=payouts)).json()["data"]
    references = {transfer["payoutId"]: transfer["reference"] for transfer in response["transfers"]}
    receive_webhook = dict(zip(payouts, pairs, strict=True))
    for payout_id, pair in receive_webhook.items():
        for status in pair:
            await receive_update(scenario, references[payout_id], "webhook", status)
        await receive_update(scenario, references[payout_id], "query", "success")
    for payout_id, found in (await states(scenario, payouts)).items():
        assert found == ("processed", 0, "reversed" in receive_webhook[payout_id]), receive_webhook[payout_id]
    processed = await scenario.published("payouts.payout_processed.v1")
    assert sorted(one["payoutId"] for one in processed if one["payoutId"] in receive_webhook) == sorted(payouts)


async def states(scenario: Scenario, payouts):
    rows = await scenario.fetch(
        """
        SELECT p.id, p.status, coalesce((
                SELECT balance_minor FROM ledger_balances WHERE account = 'in_transit:' || p.id
            ), 0) AS minor,
               EXISTS (SELECT FROM payout_exceptions AS e WHERE e.payout_id = p.id AND e.status = 'open') AS live
        FROM payout_requests AS p WHERE p.id = ANY ($1)
        """,
        [UUID(payout_id) for payout_id in payouts],
    )
    return {str(row["id"]): (row["status"], row["minor"], row["live"]) for row in rows}


# --- Staff ---


async def test_the_response_time_of_a_classification_counts_from_the_opening(shared_scenario: Scenario) -> None:
    scenario = shared_scenario
    [attempt] = await sent_payouts(scenario)
    await attempt.receive(TransferFailed)
    opened = await attempt.exception()
    opened_at = scenario.clock.now()
    scenario.clock.advance(timedelta(minutes=7))
    staff_id = new_id()
    shown = data_of(await act_on_exception(scenario, opened["id"], "classify", by=staff_id, **FINDING))
    assert (shown["severity"], shown["cause"], shown["status"]) == ("SEV-1", "bank_switch_error", "open")
    assert shown["respondBy"] == iso(opened_at + timedelta(minutes=15))
    [line] = shown["acts"]
    assert {name: value for name, value in line.items() if name not in ("id", "at")} == {
        "kind": "classified",
        "by": str(staff_id),
        "severityBefore": "SEV-3",
        "severityAfter": "SEV-1",
        "causeBefore": "account_number_invalid",
        "causeAfter": "bank_switch_error",
        "note": FINDING["note"],
    }
    assert (await act_on_exception(scenario, opened["id"], "classify", role="finance_maker", **FINDING)).json()[
        "data"
    ] == shown
    [changed] = await events_of(scenario, "payouts.exception_changed.v1", exceptionId=opened["id"])
    assert (changed["severity"], changed["respondBy"]) == ("SEV-1", shown["respondBy"])
    pages = await events_of(scenario, "operations.alert_raised.v1", dedupKey=key_of(opened))
    assert [page["severity"] for page in pages] == ["SEV-3", "SEV-1"]
    # Less severe: recorded, without an alert.
    await act_on_exception(
        scenario, opened["id"], "classify", severity="SEV-3", cause="name_mismatch", note="It is the name."
    )
    assert len(await events_of(scenario, "payouts.exception_changed.v1", exceptionId=opened["id"])) == 2
    assert len(await events_of(scenario, "operations.alert_raised.v1", dedupKey=key_of(opened))) == 2
    # A report does not replace a cause that staff named.
    await attempt.receive(TransferReversed, reason=None)
    assert (await attempt.exception())["cause"] == "name_mismatch"


async def test_an_exception_with_unsettled_money_cannot_be_closed(shared_scenario: Scenario) -> None:
    scenario = shared_scenario
    [attempt] = await sent_payouts(scenario)
    await attempt.receive(TransferFailed)
    exception = await attempt.exception()
    assert error_of(await act_on_exception(scenario, exception["id"], "close", evidence="It looked fine.")) == CONFLICT
    assert await attempt.exception() == exception
    await attempt.receive(TransferSucceeded)
    await receive_update(scenario, attempt.reference, "query", "success")
    await attempt.receive(TransferReversed, reason=None)
    back = await attempt.exception()
    assert (back["id"] != exception["id"], back["cause"], back["status"]) == (True, "reversed", "open")
    # Processed, and the money is neither at the bank nor in the wallet.
    assert (await act_on_exception(scenario, back["id"], "close", evidence="Booked.")).status_code == 409


async def test_an_exception_of_a_success_after_reversal_closes_on_gateway_confirmation(
    shared_scenario: Scenario,
) -> None:
    scenario = shared_scenario
    [attempt] = await sent_payouts(scenario)
    await attempt.receive(TransferReversed, reason=None)
    await attempt.receive(TransferSucceeded)
    exception = await attempt.exception()
    assert (exception["cause"], exception["status"]) == ("reversed", "open")
    # The gateway was not queried since.
    assert (await act_on_exception(scenario, exception["id"], "close", evidence="Its letter.")).status_code == 409
    await receive_update(scenario, attempt.reference, "query", "success")
    # A success does not close it: staff must see that the money left again.
    assert (await attempt.exception())["status"] == "open"
    assert (await act_on_exception(scenario, exception["id"], "close", evidence="Its letter.")).json()["data"][
        "status"
    ] == "closed"
    # A further reversal is no repetition: the gateway's response decides.
    await attempt.receive(TransferReversed, reason=None)
    assert (await attempt.exception())["id"] == exception["id"]
    await receive_update(scenario, attempt.reference, "query", "reversed")
    again = await attempt.exception()
    assert (again["id"] != exception["id"], again["cause"], again["status"]) == (True, "reversed", "open")
    assert (await act_on_exception(scenario, again["id"], "close", evidence="Its letter.")).status_code == 409


async def test_a_settled_payouts_exception_is_closed_with_evidence_once(shared_scenario: Scenario) -> None:
    scenario = shared_scenario
    [attempt] = await sent_payouts(scenario)
    await attempt.receive(TransferSucceeded)
    await attempt.receive(TransferFailed)
    exception = await attempt.exception()
    staff_id = new_id()
    for _ in range(2):
        evidence = {"by": staff_id, "role": "finance_maker", "evidence": "  Mail 7 of the bank. "}
        shown = data_of(await act_on_exception(scenario, exception["id"], "close", **evidence))
        assert (shown["status"], shown["closedBecause"]) == ("closed", "Mail 7 of the bank.")
        assert [(line["kind"], line["by"]) for line in shown["acts"]] == [("closed", str(staff_id))]
    assert len(await events_of(scenario, "payouts.exception_closed.v1", exceptionId=exception["id"])) == 1
    assert len(await events_of(scenario, "operations.alert_cleared.v1", dedupKey=key_of(exception))) == 1
    assert error_of(await act_on_exception(scenario, exception["id"], "classify", **FINDING)) == CONFLICT


async def test_a_short_batch_is_closed_at_any_time(shared_scenario: Scenario, shared_sandbox: Sandbox) -> None:
    scenario = shared_scenario
    vendor = await scenario.ready_vendor(2_000_000_000)
    payout_id = await scenario.payout(vendor, 2_000_000_000)
    batch = (await scenario.dispatch(new_id_v4(), payoutIds=[payout_id])).json()["data"]
    assert batch["submitted"] == 0
    [exception] = [
        one
        for one in await list_exceptions(scenario, cause="balance_insufficient")
        if one["batchId"] == batch["batchId"]
    ]
    assert (exception["severity"], exception["payoutId"]) == ("SEV-1", None)
    closed = await act_on_exception(scenario, exception["id"], "close", evidence="The balance was topped up.")
    assert closed.json()["data"]["status"] == "closed"
    [event] = await events_of(scenario, "payouts.exception_closed.v1", exceptionId=exception["id"])
    assert event["batchId"] == batch["batchId"]


async def test_concurrent_classification_and_closing_store_a_complete_history(shared_scenario: Scenario) -> None:
    scenario = shared_scenario
    [attempt] = await sent_payouts(scenario)
    await attempt.receive(TransferSucceeded)
    await attempt.receive(TransferFailed)
    exception = await attempt.exception()
    causes = (
        "timeout",
        "reversed",
        "name_mismatch",
        "account_number_invalid",
        "bank_switch_error",
        "balance_insufficient",
    )
    verbs = [
        act_on_exception(scenario, exception["id"], "classify", severity=severity, cause=cause, note=cause)
        for cause in causes
        for severity in ("SEV-1", "SEV-2")
    ]
    verbs.insert(5, act_on_exception(scenario, exception["id"], "close", evidence="Settled."))
    verbs.insert(9, act_on_exception(scenario, exception["id"], "close", evidence="Settled."))
    responses = await asyncio.gather(*verbs)
    assert {response.status_code for response in responses} <= {200, 409}
    shown = await attempt.exception()
    actions = shown["acts"]
    finding = (exception["severity"], exception["cause"])
    for line in actions:
        assert (line["severityBefore"], line["causeBefore"]) == finding
        finding = (line["severityAfter"], line["causeAfter"])
    assert [line["kind"] for line in actions] == ["classified"] * (len(actions) - 1) + ["closed"]
    assert (shown["status"], shown["severity"], shown["cause"]) == ("closed", *finding)
    refused = sum(response.status_code == 409 for response in responses)
    assert len(actions) - 1 == len(causes) * 2 - refused
    assert (
        len(await events_of(scenario, "payouts.exception_changed.v1", exceptionId=exception["id"])) == len(actions) - 1
    )
    assert len(await events_of(scenario, "payouts.exception_closed.v1", exceptionId=exception["id"])) == 1


async def test_a_concurrent_success_and_closing_close_once(shared_scenario: Scenario) -> None:
    scenario = shared_scenario
    [attempt] = await sent_payouts(scenario)
    await attempt.receive(TransferFailed)
    await attempt.receive(TransferSucceeded)
    exception = await attempt.exception()
    close = [act_on_exception(scenario, exception["id"], "close", evidence="Settled.") for _ in range(3)]
    _, *responses = await asyncio.gather(receive_update(scenario, attempt.reference, "query", "success"), *close)
    assert {response.status_code for response in responses} <= {200, 409}
    shown = await attempt.exception()
    assert [line["kind"] for line in shown["acts"]].count("closed") == 1
    assert len(await events_of(scenario, "payouts.exception_closed.v1", exceptionId=exception["id"])) == 1


async def test_a_refused_exception_action_changes_nothing(shared_scenario: Scenario) -> None:
    scenario = shared_scenario
    [attempt] = await sent_payouts(scenario)
    await attempt.receive(TransferFailed)
    exception = await attempt.exception()
    for role in ("finance_checker", "auditor", "merchant", "buyer", "platform_admin"):
        assert (await act_on_exception(scenario, exception["id"], "classify", role=role, **FINDING)).status_code == 403
        assert (await act_on_exception(scenario, exception["id"], "close", role=role, evidence="x")).status_code == 403
    bad = (
        {},
        {**FINDING, "severity": "SEV-4"},
        {**FINDING, "cause": "weather"},
        {**FINDING, "note": "  "},
        {**FINDING, "note": "x" * 1001},
        {**FINDING, "note": "a\x00b"},
        {**FINDING, "status": "closed"},
    )
    for body in bad:
        assert (await act_on_exception(scenario, exception["id"], "classify", **body)).status_code == 422
    for body in ({}, {"evidence": ""}, {"evidence": "x", "force": True}):
        assert (await act_on_exception(scenario, exception["id"], "close", **body)).status_code == 422
    for absent in (new_id(), "observations", "x"):
        assert (await act_on_exception(scenario, absent, "classify", **FINDING)).status_code == 404
        assert (await act_on_exception(scenario, absent, "close", evidence="x")).status_code == 404
    assert await attempt.exception() == exception


async def test_a_list_is_narrowed_and_sorted(shared_scenario: Scenario) -> None:
    scenario = shared_scenario
    first, second = await sent_payouts(scenario, 2)
    await first.receive(TransferFailed)
    scenario.clock.advance(timedelta(seconds=1))
    await second.receive(TransferFailed, reason="Issuer or switch inoperative")
    mine = {first.payout_id, second.payout_id}

    async def order(**query):
        return [
            one["payoutId"] for one in await list_exceptions(scenario, limit=100, **query) if one["payoutId"] in mine
        ]

    assert await order() == [second.payout_id, first.payout_id]
    assert await order(sort="created_at", order="asc") == [first.payout_id, second.payout_id]
    assert await order(sort="severity") == [second.payout_id, first.payout_id]
    assert await order(sort="respond_by", order="asc") == [second.payout_id, first.payout_id]
    assert await order(cause="bank_switch_error", status="open") == [second.payout_id]
    assert await order(severity="SEV-3") == [first.payout_id]
    assert await order(vendorId=first.vendor.id) == await order(payoutId=first.payout_id) == [first.payout_id]
    assert await order(status="closed") == []
    transfer = (await first.exception())["transfer"]
    assert (transfer["reference"], transfer["attempt"]) == (first.reference, 1)


# --- Permissions ---


async def test_row_policies_hide_exceptions_without_any_filter(shared_scenario: Scenario) -> None:
    scenario = shared_scenario
    [attempt] = await sent_payouts(scenario)
    await attempt.receive(TransferFailed)
    exception = await attempt.exception()
    await act_on_exception(scenario, exception["id"], "classify", **FINDING)
    database = scenario.database

    def caller(*roles, vendor_id=None):
        return Caller(user_id=new_id(), roles=frozenset(roles), permissions=permissions_of(roles), vendor_id=vendor_id)

    other, ops, checker = caller("merchant", vendor_id=new_id()), caller("ops_oncall"), caller("finance_checker")
    owner = caller("merchant", vendor_id=attempt.vendor.id)
    async with database.unit_of_work(acting_as=other) as uow:
        assert await uow.fetch("SELECT id FROM payout_exceptions") == []
    async with database.unit_of_work(acting_as=owner) as uow:
        assert [str(row["id"]) for row in await uow.fetch("SELECT id FROM payout_exceptions")] == [exception["id"]]
        for hidden in ("payout_exception_acts", "standing_alerts"):
            assert await uow.fetch(f"SELECT * FROM {hidden}") == []
        assert await uow.execute("UPDATE payout_exceptions SET severity = 'SEV-3'") == 0
    async with database.unit_of_work(acting_as=checker) as uow:
        assert await uow.execute("UPDATE payout_exceptions SET severity = 'SEV-3'") == 0
    async with database.unit_of_work(acting_as=ops) as uow:
        assert await uow.fetch_value("SELECT count(*) FROM payout_exception_acts") > 0
    insert = (
        "INSERT INTO payout_exception_acts (id, exception_id, kind, acted_by, severity_before, severity_after, "
        "cause_before, "
        "cause_after, note, acted_at) VALUES ($1, $2, $3, $4, 'SEV-1', 'SEV-3', 'reversed', 'reversed', 'x', now())"
    )
    forbidden = (
        (ops, insert, (new_id(), UUID(exception["id"]), "classified", new_id())),  # in another's name
        (ops, insert, (new_id(), UUID(exception["id"]), "closed", ops.user_id)),
        (checker, insert, (new_id(), UUID(exception["id"]), "classified", checker.user_id)),
        (ops, "UPDATE payout_exceptions SET status = 'closed', closed_at = now(), closed_because = 'x'", ()),
        (ops, "DELETE FROM payout_exception_acts", ()),
        (ops, "DELETE FROM standing_alerts", ()),
    )
    for who, statement, values in forbidden:
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            async with database.unit_of_work(acting_as=who) as uow:
                await uow.execute(statement, *values)
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await scenario.fetch("UPDATE payout_exception_acts SET note = 'x'")


async def test_a_crash_before_the_commit_stores_nothing(shared_scenario: Scenario) -> None:
    scenario = shared_scenario
    [attempt] = await sent_payouts(scenario)
    await attempt.receive(TransferSucceeded)
    await attempt.receive(TransferFailed)
    exception = await attempt.exception()
    with pytest.raises(RuntimeError):
        async with scenario.unit_of_work() as uow:
            await close_exception(uow, UUID(exception["id"]), "Settled.", new_id(), scenario.clock.now())
            raise RuntimeError
    assert await attempt.exception() == exception
    assert await events_of(scenario, "payouts.exception_closed.v1", exceptionId=exception["id"]) == []
