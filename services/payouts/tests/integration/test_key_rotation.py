"""ACCOUNT_NUMBER_KEY is rotated while payouts continue, and a quarantined account stays quarantined (decision 36)."""

import asyncio
import uuid
from contextlib import asynccontextmanager

import pytest

from common.primitives.clock import ManualClock
from common.primitives.encryption import DecryptionFailed, Encryptor
from common.process.runtime import running
from payouts.app import SERVICE
from testkit.fixtures import DatabaseUrls
from testkit.sandbox import Sandbox

from .conftest import Scenario, opened_payouts

OLD, NEW = "the old key of account numbers", "the new key of account numbers"
BEFORE_THE_SWITCH = {"account_number_key": OLD, "account_number_key_previous": NEW}
AFTER_THE_SWITCH = {"account_number_key": NEW, "account_number_key_previous": OLD}
SHARED = "the key that all services shared"


@pytest.fixture
async def open_story(urls: DatabaseUrls, broker_url: str, sandbox: Sandbox, clock: ManualClock):
    @asynccontextmanager
    async def open_one(**keys):
        async with opened_payouts(urls, broker_url, sandbox, clock, **keys) as service:
            yield Scenario(service, clock)

    return open_one


async def re_encrypt(scenario: Scenario, option=""):
    await SERVICE.commands["re-encrypt"](scenario.dependencies, option)


async def recipients(sandbox: Sandbox, sent):
    return {
        row["recipient"]["details"]["account_number"] for row in await sandbox.transfers() if row["reference"] in sent
    }


async def dispatched(scenario: Scenario, payout_id):
    data = (await scenario.dispatch(uuid.uuid4(), payoutIds=[payout_id])).json()["data"]
    assert data["skipped"] == []
    [transfer] = data["transfers"]
    return transfer["reference"]


async def quarantined(scenario: Scenario, vendor):
    response = await scenario.client.post(
        f"/api/vendors/{vendor.id}/bank-details/quarantine", json={"reason": "stolen"}, headers=scenario.maker()
    )
    assert response.status_code == 200, response.text


async def test_payouts_reach_the_same_account_during_and_after_a_key_rotation(
    open_story, sandbox: Sandbox, capsys: pytest.CaptureFixture[str]
) -> None:
    async with open_story(account_number_key=OLD) as scenario:
        vendor = await scenario.ready_vendor(5_000)
        account = await sandbox.new_account()
        stopped = await scenario.ready_vendor(5_000, account)
        await quarantined(scenario, stopped)
        payouts = [await scenario.payout(vendor, 1_000) for _ in range(4)]
        references = [await dispatched(scenario, payouts[0])]
    async with open_story(**BEFORE_THE_SWITCH) as scenario:
        references.append(await dispatched(scenario, payouts[1]))
    async with open_story(**AFTER_THE_SWITCH) as scenario:
        references.append(await dispatched(scenario, payouts[2]))
        with pytest.raises(SystemExit):
            await re_encrypt(scenario, "--count")
        await re_encrypt(scenario)
        output = capsys.readouterr().out
        assert "vendor_bank_details: 2 re-encrypted, 0 remain" in output
        assert "hash_keys: 1 re-encrypted, 0 remain" in output
    async with open_story(account_number_key=NEW) as scenario:
        references.append(await dispatched(scenario, payouts[3]))
        # The same account again: its fingerprint did not change with the rotation.
        assert (await scenario.put_bank_details(vendor)).json()["data"]["verified"] is True
        assert (await scenario.put_bank_details(stopped, *account)).status_code == 409
        settings = scenario.settings.model_copy(update={"account_number_key": OLD})
    assert len(references) == 4
    assert await recipients(sandbox, references) == {"0123456785"}
    with pytest.raises(DecryptionFailed):
        async with running(SERVICE, settings, "test", scenario.clock):
            pass


async def test_concurrent_changes_of_bank_details_survive_re_encryption(open_story) -> None:
    accounts = ("0123456785", "058"), ("2087654321", "033")
    async with open_story(account_number_key=OLD) as scenario:
        vendors = [await scenario.ready_vendor(1_000) for _ in range(6)]
    async with open_story(**AFTER_THE_SWITCH) as scenario:

        async def re_encrypted():
            while True:
                try:
                    return await re_encrypt(scenario)
                except SystemExit:
                    continue

        changes = [scenario.put_bank_details(vendor, *accounts[index % 2]) for index, vendor in enumerate(vendors)]
        *responses, _, _ = await asyncio.gather(*changes, re_encrypted(), re_encrypted())
        assert {response.status_code for response in responses} == {200}
    async with open_story(account_number_key=NEW) as scenario:
        numbers = scenario.dependencies.account_numbers
        rows = await scenario.fetch("SELECT vendor_id, account_sealed, last4 FROM vendor_bank_details")
        assert len(rows) == len(vendors)
        assert all(numbers.plain_number(row["vendor_id"], row["account_sealed"])[-4:] == row["last4"] for row in rows)
        rows = await scenario.fetch("SELECT vendor_id, account_sealed, last4 FROM bank_detail_versions")
        assert all(numbers.plain_number(row["vendor_id"], row["account_sealed"])[-4:] == row["last4"] for row in rows)


async def test_fingerprints_of_the_previous_release_stay_valid(open_story, sandbox: Sandbox) -> None:
    async with open_story(account_number_key=NEW, sealing_key=SHARED) as scenario:
        account = await sandbox.new_account()
        vendor, stopped = await scenario.ready_vendor(5_000), await scenario.ready_vendor(5_000, account)
        await quarantined(scenario, stopped)
        [row] = await scenario.fetch("SELECT account_sealed FROM vendor_bank_details WHERE vendor_id = $1", vendor.id)
        before = Encryptor("unused", "unused", old_keys=(SHARED,))
        assert before.decrypt(row["account_sealed"], f"account-number:{vendor.id}") == "0123456785"
        # The previous release has no such table: the first start derives the fingerprint key from the shared one.
        await scenario.fetch("DELETE FROM hash_keys RETURNING 1")
    async with open_story(account_number_key=NEW, sealing_key_previous=SHARED) as scenario:
        await re_encrypt(scenario)
    async with open_story(account_number_key=NEW) as scenario:
        assert await dispatched(scenario, await scenario.payout(vendor, 1_000))
        assert (await scenario.put_bank_details(stopped, *account)).status_code == 409


async def test_an_upgraded_installation_does_not_start_without_its_former_key(open_story) -> None:
    """A new fingerprint key would recognize no quarantined account."""
    async with open_story(account_number_key=NEW, sealing_key=SHARED) as scenario:
        await scenario.ready_vendor(1_000)
        await scenario.fetch("DELETE FROM hash_keys RETURNING 1")
        settings = scenario.settings.model_copy(update={"sealing_key": ""})
        with pytest.raises(DecryptionFailed):
            async with running(SERVICE, settings, "test", scenario.clock):
                pass
        assert await scenario.fetch("SELECT 1 FROM hash_keys") == []
