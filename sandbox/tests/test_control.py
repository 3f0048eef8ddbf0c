from typing import Any

import pytest

from testkit.fixtures import eventually

from .conftest import Receiver, Sandbox


async def test_the_summary_includes_every_kind_of_movement(sandbox: Sandbox, receiver: Receiver) -> None:
    await sandbox.charge("order-1", 500_000)
    await sandbox.charge("foreign", 300, currency="GHS")
    await sandbox.transfer("po-0000000000000001", 100_000)
    await sandbox.fault(transfer_call={"fail": "Account number is invalid"})
    await sandbox.transfer("po-0000000000000002", 50_000)
    await sandbox.client.post("/gateway/refund", json={"transaction": "order-1", "amount": 20_000})
    await eventually(lambda: len(receiver.events()) == 5)
    ledger = await sandbox.ledger()
    assert ledger["balance"] == 380_000
    assert ledger["charges"] == {"count": 1, "amount_minor": 500_000}
    assert ledger["transfers"] == {"count": 2, "amount_minor": 150_000}
    assert ledger["transfers_failed"] == {"count": 1, "amount_minor": 50_000}
    assert ledger["refunds"] == {"count": 1, "amount_minor": 20_000}
    assert ledger["movements"] == 5
    assert ledger["currencies"]["GHS"]["balance"] == 300
    movements = (
        await sandbox.client.get("/control/book/movements", params={"reference": "po-0000000000000002"})
    ).json()
    assert [(one["kind"], one["amount_minor"]) for one in movements] == [
        ("transfer_failed", 50_000),
        ("transfer", -50_000),
    ]
    newest = (await sandbox.client.get("/control/book/movements", params={"limit": 1})).json()[0]["id"]
    older = (await sandbox.client.get("/control/book/movements", params={"before": newest, "limit": 2})).json()
    assert [one["id"] for one in older] == [newest - 1, newest - 2]


@pytest.mark.parametrize(
    "path",
    [
        "/control/messages?limit=²",
        "/control/messages?limit=0",
        "/control/webhooks?limit=" + "9" * 5_000,
        "/control/book/movements?before=-1",
        "/gateway/transfer?page=x",
    ],
)
async def test_a_malformed_number_is_rejected(sandbox: Sandbox, path) -> None:
    assert (await sandbox.client.get(path)).status_code == 400


@pytest.mark.parametrize("path", ["/control/webhooks/{}/resend", "/control/refunds/{}/fail"])
async def test_a_missing_row_is_404_for_any_number(sandbox: Sandbox, path: str) -> None:
    for number in (1, 10**30, "x"):
        assert (await sandbox.client.post(path.format(number))).status_code == 404


@pytest.mark.parametrize(
    "changes",
    [{"transfer_settlement": "never"}, {"transfer_delay_seconds": -1}, {"unknown": 1}, {"refund_delay_seconds": 1e9}],
)
async def test_an_invalid_setting_changes_nothing(sandbox: Sandbox, changes: dict[str, Any]) -> None:
    before = (await sandbox.client.get("/control/settings")).json()
    assert (await sandbox.client.put("/control/settings", json=changes)).status_code == 400
    assert (await sandbox.client.get("/control/settings")).json() == before


async def test_text_that_cannot_be_stored_is_rejected(sandbox: Sandbox) -> None:
    raw = b'{"email": "a@b.ng", "amount": 100, "reference": "x", "metadata": {"note": "\\ud800"}}'
    response = await sandbox.client.post("/gateway/transaction/initialize", content=raw)
    assert response.status_code == 400
