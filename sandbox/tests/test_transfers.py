import asyncio
from typing import Any

import pytest

from testkit.fixtures import eventually

from .conftest import Receiver, Sandbox


@pytest.fixture
async def funded(sandbox: Sandbox):
    await sandbox.charge("funds", 500_000)
    return sandbox


async def test_a_settled_transfer_sends_a_webhook(funded, receiver: Receiver) -> None:
    response = await funded.transfer("po-0000000000000001", 100_000)
    data = response.json()["data"]
    assert (data["status"], data["reference"], data["amount"]) == ("pending", "po-0000000000000001", 100_000)
    assert data["transfer_code"].startswith("TRF_")
    await eventually(lambda: receiver.events("transfer.success"))
    reported = receiver.events("transfer.success")[0]["data"]
    assert set(reported) == {
        "amount", "createdAt", "currency", "domain", "failures", "fee_charged", "gateway_response", "id", "integration",
        "reason", "recipient", "reference", "session", "source", "source_details", "status", "titan_code",
        "transfer_code", "transferred_at", "updatedAt",
    }  # fmt: skip
    assert reported["recipient"]["details"] == {
        "account_name": None, "account_number": "0123456785", "authorization_code": None, "bank_code": "058",
        "bank_name": "Guaranty Trust Bank",
    }  # fmt: skip
    assert (reported["status"], reported["reason"]) == ("success", "Payout")
    assert await funded.transfer_status("po-0000000000000001") == "success"
    assert await funded.balance() == 400_000


async def test_a_repeated_reference_transfers_money_once(funded) -> None:
    responses = await asyncio.gather(*(funded.transfer("po-0000000000000001", 100_000) for _ in range(8)))
    assert sorted(response.status_code for response in responses) == [200] + [400] * 7
    refused = next(response for response in responses if response.status_code == 400)
    assert refused.json()["message"].startswith("Please provide a unique reference")
    assert await funded.balance() == 400_000
    assert (await funded.ledger())["transfers"] == {"count": 1, "amount_minor": 100_000}


async def test_a_transfer_above_the_balance_is_rejected(funded) -> None:
    response = await funded.transfer("po-0000000000000001", 500_001)
    assert response.status_code == 400
    assert response.json()["message"] == "Your balance is not enough to fulfil this request"
    assert await funded.balance() == 500_000
    assert (await funded.client.get("/gateway/transfer/verify/po-0000000000000001")).status_code == 404
    assert (await funded.transfer("po-0000000000000001", 500_000)).status_code == 200


async def test_the_same_account_is_the_same_recipient(sandbox: Sandbox) -> None:
    assert await sandbox.recipient() == await sandbox.recipient()
    assert await sandbox.recipient() != await sandbox.recipient("0690123456", "044")


async def test_a_failed_transfer_returns_the_money(funded, receiver: Receiver) -> None:
    await funded.fault(transfer_call={"fail": "Account number is invalid", "match": "0123456785"})
    assert (await funded.transfer("po-0000000000000001")).json()["data"]["status"] == "pending"
    await eventually(lambda: receiver.events("transfer.failed"))
    failed = receiver.events("transfer.failed")[0]["data"]
    assert (failed["gateway_response"], failed["reason"]) == ("Account number is invalid", "Payout")
    assert failed["updated_at"]
    assert "updatedAt" not in failed
    assert await funded.balance() == 500_000
    shown = (await funded.client.get("/gateway/transfer/verify/po-0000000000000001")).json()["data"]
    assert (shown["status"], shown["failures"], shown["reason"]) == ("failed", None, "Payout")
    assert shown["gateway_response"] == "Account number is invalid"


async def test_a_planned_reversal_is_a_success_first(funded, receiver: Receiver) -> None:
    await funded.fault(transfer_call={"reverse": "Beneficiary bank unavailable"})
    await funded.transfer("po-0000000000000001")
    await eventually(lambda: receiver.events("transfer.reversed"))
    # In the order in which they were sent: on the way one may overtake the other.
    sent = await funded.webhooks(reference="po-0000000000000001")
    assert [webhook["event"] for webhook in reversed(sent)] == ["transfer.success", "transfer.reversed"]
    assert receiver.events("transfer.reversed")[0]["data"]["gateway_response"] == "Beneficiary bank unavailable"
    assert await funded.balance() == 500_000


async def test_manual_mode_rejects_forbidden_transitions(funded) -> None:
    await funded.settings_are(transfer_settlement="manual")
    await funded.transfer("po-0000000000000001")

    async def act(name, **body):
        return await funded.client.post(f"/control/transfers/po-0000000000000001/{name}", json=body)

    assert await funded.transfer_status("po-0000000000000001") == "pending"
    assert (await act("succeed")).json()["status"] == "success"
    assert (await act("succeed")).status_code == 409
    assert (await act("fail")).status_code == 409
    assert (await act("reverse", reason="Returned by bank")).json()["gateway_response"] == "Returned by bank"
    assert (await act("reverse")).status_code == 409
    assert await funded.balance() == 500_000
    # The bank contradicts itself: the balance is debited a second time.

    assert (await act("succeed")).json()["status"] == "success"
    assert await funded.balance() == 400_000
    assert (await act("explode")).status_code == 404


async def test_a_fee_is_debited_with_the_transfer_and_returns_with_it(funded) -> None:
    await funded.settings_are(transfer_settlement="manual", transfer_fees="standard")
    assert (await funded.transfer("po-0000000000000001", 499_500)).status_code == 400
    assert await funded.balance() == 500_000
    await funded.transfer("po-0000000000000001", 100_000)
    assert await funded.balance() == 399_000
    shown = (await funded.client.get("/gateway/transfer/verify/po-0000000000000001")).json()["data"]
    assert (shown["fee_charged"], shown["fees_breakdown"]) == (1_000, None)
    for name, balance_minor in (("succeed", 399_000), ("reverse", 500_000), ("succeed", 399_000)):
        await funded.client.post(f"/control/transfers/po-0000000000000001/{name}", json={})
        assert await funded.balance() == balance_minor
    assert (await funded.ledger())["transfer_fees"] == {"count": 1, "amount_minor": 1_000}


async def test_the_bank_list_is_paged_by_cursor(sandbox: Sandbox) -> None:
    whole = (await sandbox.client.get("/gateway/bank")).json()
    assert "meta" not in whole
    codes, cursor = [], None
    for _ in range(10):
        params = {"use_cursor": "true", "perPage": 20, **({"next": cursor} if cursor else {})}
        page = (await sandbox.client.get("/gateway/bank", params=params)).json()
        codes += [bank["code"] for bank in page["data"]]
        cursor = page["meta"]["next"]
        if cursor is None:
            break
    assert codes == [bank["code"] for bank in whole["data"]]
    assert (await sandbox.client.get("/gateway/bank", params={"use_cursor": "true", "next": "?"})).status_code == 400


async def test_each_transfer_mode_has_its_response(funded) -> None:
    await funded.settings_are(transfer_settlement="immediate")
    assert (await funded.transfer("po-0000000000000001")).json()["data"]["status"] == "success"
    await funded.settings_are(transfer_settlement="otp")
    waiting = (await funded.transfer("po-0000000000000002")).json()
    assert waiting["message"] == "Transfer requires OTP to continue"
    assert waiting["data"]["status"] == "otp"
    body = {"transfer_code": waiting["data"]["transfer_code"], "otp": "928783"}
    assert (await funded.client.post("/gateway/transfer/finalize_transfer", json=body)).json()["data"][
        "status"
    ] == "success"
    assert (await funded.client.post("/gateway/transfer/finalize_transfer", json=body)).status_code == 400


async def test_accounts_resolve_as_documented(sandbox: Sandbox) -> None:
    async def resolve(account_number, bank_code):
        params = {"account_number": account_number, "bank_code": bank_code}
        return await sandbox.client.get("/gateway/bank/resolve", params=params)

    assert (await resolve("0123456785", "058")).json()["data"]["account_name"] == "Ada Obi Ventures"
    assert (await resolve("0690123456", "044")).json()["data"]["account_name"] == "Bola Ade Stores"
    assert (await resolve("0000014579", "011")).status_code == 200
    assert (await resolve("0000014579", "011")).json() == (await resolve("0000014579", "011")).json()
    unknown = await resolve("0000014578", "011")
    assert unknown.status_code == 422
    assert unknown.json()["message"].startswith("Could not resolve account name")
    assert (unknown.json()["type"], unknown.json()["code"]) == ("validation_error", "invalid_bank_code")
    assert (await resolve("0000014579", "000")).status_code == 422
    account = {"bank_code": "011", "account_number": "0000014578", "account_name": "Chidi Foods"}
    assert (await sandbox.client.put("/control/accounts", json=account)).status_code == 200
    assert (await resolve("0000014578", "011")).json()["data"]["account_name"] == "Chidi Foods"
    banks = (await sandbox.client.get("/gateway/bank")).json()["data"]
    assert len(banks) == 44
    assert {"058", "044"} <= {bank["code"] for bank in banks}


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"recipient": "RCP_none"}, 404),
        ({"source": "card"}, 400),
        ({"amount": "1.5"}, 400),
        ({"currency": "naira"}, 400),
        ({"amount": 9_999}, 400),
        ({"reference": "po-00000000000x"}, 400),
        ({"reference": "po-" + "0" * 48}, 400),
        ({"reference": "PO-0000000000000001"}, 400),
        ({"reference": "po.0000000000000001"}, 400),
    ],
)
async def test_a_malformed_transfer_is_rejected(funded, change: dict[str, Any], status: int) -> None:
    assert (await funded.transfer(**{"reference": "po-0000000000000001"} | change)).status_code == status
    assert await funded.balance() == 500_000


async def test_the_smallest_transfer_is_a_setting(funded) -> None:
    assert (await funded.transfer("po-0000000000000001", 10_000)).status_code == 200
    await funded.settings_are(transfer_minimum_minor=1)
    assert (await funded.transfer("po-0000000000000002", 1)).status_code == 200
    assert (await funded.client.put("/control/settings", json={"transfer_minimum_minor": 0})).status_code == 400
