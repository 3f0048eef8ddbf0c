"""Operators' changes by the command line, each once against the running system: staff, payouts, dead letters, keys,
demo data.
"""

import json
import time
from pathlib import Path
from uuid import uuid4

import pytest

from campus_tools.launcher.system import System
from operations.campusctl.sign_ins import SignIn, SignIns
from operations.journey import Marketplace, SignedInUser
from tests.end_to_end.command_line import CommandLine, cli_of_the_machine
from tests.end_to_end.steps import insert_dead_webhook, newcomer, open_shop, signed, stepped_up

from .conftest import Users

# As long as a token given now is surely good.
FRESH_SECONDS = 600
AT_THE_GATEWAY = ("pending", "received", "otp")


@pytest.fixture
def cli_of(system: System, tmp_path: Path):
    def signed_in_cli(user: SignedInUser) -> CommandLine:
        folder = tmp_path / user.email
        kept = SignIn(user.email, user.access_token, user.refresh_token, time.time() + FRESH_SECONDS)
        SignIns(folder / "campusctl.json").keep(system.base_url, kept)
        return CommandLine({"STATE_DIR": str(folder), "CAMPUS_URL": system.base_url})

    return signed_in_cli


@pytest.fixture
def machine(system: System) -> CommandLine:
    return cli_of_the_machine(system)


async def test_staff_are_made_by_the_machine_first_and_then_by_each_other(
    market: Marketplace, cli_of, machine: CommandLine
) -> None:
    first, second, user = await newcomer(market), await newcomer(market), await newcomer(market)
    for admin in (first, second):
        output = await machine.done("staff", "bootstrap", admin.email, "--yes")
        assert output["email"] == admin.email
    maker = cli_of(await stepped_up(market, first.email))
    checker = cli_of(await stepped_up(market, second.email))
    user_id = str(user.id)

    await maker.done("staff", "grant", user_id, "auditor")
    listed = await maker.done("staff", "list", "--role", "auditor", "--limit", "100")
    assert user_id in json.dumps(listed)
    await maker.done("staff", "suspend", user_id, "--reason", "Lost the laptop", "--yes")
    assert user_id in json.dumps(await maker.done("staff", "list", "--suspended", "--limit", "100"))
    await maker.done("staff", "reinstate", user_id)
    await maker.done("staff", "revoke", user_id, "auditor", "--yes")

    prepared = await maker.done("staff", "grant", user_id, "finance_maker")
    assert (await maker.call("staff", "approve", prepared["id"], "--hash", prepared["hash"], "--yes"))[0] == 1, (
        "nobody approves their own"
    )
    await checker.done("staff", "reject", prepared["id"])
    again = await maker.done("staff", "grant", user_id, "finance_maker")
    waiting = await checker.done("staff", "grants", "--status", "prepared", "--limit", "100")
    assert again["id"] in [grant["id"] for grant in waiting]
    assert (await checker.call("staff", "approve", again["id"], "--hash", again["hash"], "--yes"))[0] == 1, (
        "the role can do nothing without a second factor"
    )
    await stepped_up(market, user.email)
    await checker.done("staff", "approve", again["id"], "--hash", again["hash"], "--yes")
    assert user_id in json.dumps(await maker.done("staff", "list", "--role", "finance_maker", "--limit", "100"))


async def test_a_payout_that_the_bank_refuses_is_led_to_its_end(market: Marketplace, users: Users, cli_of) -> None:
    ops, maker, checker = cli_of(users.ops), cli_of(users.maker), cli_of(users.checker)
    shop = await open_shop(market, users)
    assert (await shop.set_account(market, shop.accounts[0]))[0] == 200
    before = (await market.sandbox.get("/control/settings")).json()["transfer_settlement"]
    await market.sandbox.put("/control/settings", json={"transfer_settlement": "manual"})

    async def refused(reference: str) -> str:
        response = await market.sandbox.post(f"/control/transfers/{reference}/fail", json={})
        response.raise_for_status()

        async def opened() -> str | None:
            found = await ops.done("exceptions", "list", "--status", "open", "--payout", payout["id"])
            return found[0]["id"] if found else None

        return await market.until("the exception", opened, 60)

    try:
        payout = await market.request_payout(shop.owner, 40_000)
        assert payout["id"] in [
            one["id"] for one in await maker.done("payouts", "list", "--vendor", payout["vendorId"])
        ]
        planned = await maker.done("payouts", "dispatch", payout["id"], "--dry-run")
        assert [one["payoutId"] for one in planned["transfers"]] == [payout["id"]]
        [sent] = (await maker.done("payouts", "dispatch", payout["id"], "--yes"))["transfers"]
        exception = await refused(sent["reference"])
        finding = ("--severity", "SEV-2", "--cause", "timeout", "--note", "The bank says so")
        assert (await ops.done("exceptions", "classify", exception, *finding))["severity"] == "SEV-2"
        assert (await ops.call("exceptions", "close", exception, "--evidence", "A letter", "--yes"))[0] == 1
        assert (await ops.done("payouts", "reset", payout["id"], "--reason", "The bank was down", "--yes"))[
            "retryCount"
        ] == 1
        assert (await ops.done("exceptions", "show", exception))["status"] == "closed"

        async def sent_again() -> str | None:
            """Return the reference of the second attempt, when the gateway has it."""
            await maker.done("payouts", "dispatch", payout["id"], "--yes")
            transfer = (await maker.done("payouts", "show", payout["id"]))["transfer"]
            is_there = transfer["reference"] != sent["reference"] and transfer["status"] in AT_THE_GATEWAY
            return str(transfer["reference"]) if is_there else None

        await refused(await market.until("the second attempt", sent_again, 60))
        wrong = await maker.done("reconciliations", "prepare", payout["id"], "--reason", "Account closed")
        await checker.done("reconciliations", "reject", wrong["id"], "--reason", "Say more")
        right = await maker.done(
            "reconciliations", "prepare", payout["id"], "--reason", "Account closed, letter of May"
        )
        assert (await maker.call("reconciliations", "approve", right["id"], "--hash", right["hash"], "--yes"))[
            0
        ] == 1, "nobody approves their own"
        approval = ("reconciliations", "approve", right["id"], "--hash", right["hash"], "--yes")
        assert (await checker.done(*approval))["status"] == "approved"
        listed = await maker.done("reconciliations", "list", "--payout", payout["id"])
        assert sorted(one["status"] for one in listed) == ["approved", "rejected"]
        assert (await maker.done("payouts", "show", payout["id"]))["status"] == "failed"
    finally:
        await market.sandbox.put("/control/settings", json={"transfer_settlement": before})


async def test_a_dead_webhook_is_worked_on_again(market: Marketplace, users: Users, system: System, cli_of) -> None:
    ops = cli_of(users.ops)
    body = json.dumps({"event": "unheard.of", "data": {"id": uuid4().int % 2**40}}).encode()
    response = await market.http.post("/functions/v1/gateway-webhook", content=body, headers=signed(system, body))
    assert response.status_code == 200
    event_id = f"unheard.of:{json.loads(body)['data']['id']}"
    letter_id = await insert_dead_webhook(system, event_id)
    listed = await ops.done("webhooks", "dead", "list", "--outcome", "dead", "--event-type", "unheard.of")
    assert letter_id in [character["id"] for character in listed]
    assert (await ops.done("webhooks", "dead", "show", event_id))["id"] == letter_id
    assert (await ops.done("webhooks", "dead", "replay", event_id))["requeued"] is True
    assert (await ops.call("webhooks", "dead", "replay", f"{event_id}0"))[1]["error"]["status"] == 404

    async def worked_on() -> bool:
        return bool((await ops.done("webhooks", "dead", "show", letter_id))["outcome"] == "ignored")

    assert await market.until("the end of the work", worked_on, 60)
    again = await insert_dead_webhook(system, event_id)
    close = ("webhooks", "dead", "close", again, "--reason")
    requested = await ops.done(*close, "a test")
    assert (requested["id"], requested["status"], requested["closeReason"]) == (again, "requested", "a test")
    assert (await ops.call(*close, "another"))[1]["error"]["status"] == 409, "another person closes it"


async def test_keys_are_shown_and_demo_data_loads_under_load(
    market: Marketplace, users: Users, machine: CommandLine
) -> None:
    async def published() -> set[str]:
        return {key["kid"] for key in (await market.http.get("/.well-known/jwks.json")).json()["keys"]}

    before = await published()
    assert before <= {key["kid"] for key in await machine.done("keys", "show")}
    # `rotate` is tried with the tokens, since a second rotation waits for the end of the first; before it or after it,
    # nothing is retired while tokens of it live.
    code, output = await machine.call("keys", "retire")
    if code == 0:
        assert "Nothing to do" in output["data"]["said"]
    else:
        assert (code, "may live until" in output["error"]["detail"]) == (1, True), output
    assert await published() == before
    assert (await market.http.get("/api/orders", headers=users.buyer.headers)).status_code == 200
    again = await market.sign_in(users.buyer.email)
    assert (await market.http.get("/api/orders", headers=again.headers)).status_code == 200
    assert "orders" in (await machine.done("demo", "load", "--yes"))["loaded"]
