import sqlite3
from pathlib import Path

from sandbox.database import Database
from sandbox.gateway.charge_fees import fee_of
from testkit.fixtures import eventually
from testkit.providers.paystack import checking

from .conftest import Receiver, Sandbox


async def test_a_charge_fee_is_deducted_and_reported_when_the_setting_is_on(
    sandbox: Sandbox, receiver: Receiver
) -> None:
    await sandbox.charge("free", 500_000)
    await sandbox.settings_are(charge_fees="standard")
    await sandbox.charge("order-1", 500_000)
    await eventually(lambda: len(receiver.events("charge.success")) == 2)
    reported = {event["data"]["reference"]: event["data"] for event in receiver.events("charge.success")}
    assert [reported[name]["fees"] for name in ("free", "order-1")] == [None, 17_500]
    assert reported["order-1"]["fees_split"] is None
    assert await sandbox.balance() == 982_500
    verified = (await sandbox.client.get("/gateway/transaction/verify/order-1")).json()["data"]
    listed = (await sandbox.client.get("/gateway/transaction")).json()["data"]
    assert (verified["fees"], [line["fees"] for line in listed]) == (17_500, [17_500, None])
    assert (await sandbox.ledger())["charge_fees"] == {"count": 1, "amount_minor": 17_500}


async def test_an_unreported_fee_is_missing_in_the_webhook_only(sandbox: Sandbox, receiver: Receiver) -> None:
    await sandbox.settings_are(charge_fees="unreported")
    await sandbox.charge("order-1", 500_000)
    await eventually(lambda: receiver.events("charge.success"))
    verified = (await sandbox.client.get("/gateway/transaction/verify/order-1")).json()["data"]
    assert (receiver.events("charge.success")[0]["data"]["fees"], verified["fees"]) == (None, 17_500)


def test_a_fee_has_a_flat_part_and_a_maximum() -> None:
    amounts = (100_000, 249_999, 250_000, 500_000, 20_000_000)
    assert [fee_of(amount) for amount in amounts] == [1_500, 3_749, 13_750, 17_500, 200_000]


async def test_a_settlement_transfers_the_charges_less_fees_and_deductions_to_the_bank(sandbox: Sandbox) -> None:
    assert (await sandbox.client.post("/control/settlements")).status_code == 409
    await sandbox.settings_are(charge_fees="standard")
    for reference in ("order-1", "order-2"):
        await sandbox.charge(reference, 500_000)
    made = (await sandbox.client.post("/control/settlements", json={"deductions": 5_000})).json()
    amounts = [made[name] for name in ("total_processed", "total_fees", "total_amount", "effective_amount")]
    assert (amounts, made["deductions"]) == ([1_000_000, 35_000, 965_000, 960_000], 5_000)
    response = (await sandbox.client.get("/gateway/settlement")).json()
    checking.check_response("GET", "/settlement", 200, response)
    assert response["data"] == [made]
    found = (await sandbox.client.get(f"/gateway/settlement/{made['id']}/transactions")).json()
    checking.check_response("GET", f"/settlement/{made['id']}/transactions", 200, found)
    assert ([line["reference"] for line in found["data"]], found["meta"]["total"]) == (["order-2", "order-1"], 2)
    assert await sandbox.balance() == 5_000
    assert (await sandbox.client.get("/gateway/settlement/99/transactions")).status_code == 404
    assert (await sandbox.client.post("/control/settlements")).status_code == 409


def test_an_older_file_gains_the_newer_columns(tmp_path: Path) -> None:
    path = tmp_path / "sandbox.db"
    older = sqlite3.connect(path)
    older.execute("CREATE TABLE transactions (id INTEGER PRIMARY KEY, reference TEXT, created_at TEXT)")
    older.execute(
        "CREATE TABLE disputes (id INTEGER PRIMARY KEY, transaction_id INTEGER, amount_minor INTEGER,"
        " status TEXT CHECK (status IN ('awaiting-merchant-feedback', 'resolved')))"
    )
    older.commit()
    older.close()
    ledger = Database(path)
    ledger.run("INSERT INTO transactions (id, reference, fees_minor) VALUES (1, 'a', 5)")
    ledger.run(
        "INSERT INTO disputes (transaction_id, amount_minor, status, due_at) VALUES (1, 5, "
        "'awaiting-bank-feedback', 'x')"
    )
    ledger.close()
