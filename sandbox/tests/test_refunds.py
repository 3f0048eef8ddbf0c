from testkit.fixtures import eventually

from .conftest import Receiver, Sandbox


async def refund(sandbox: Sandbox, transaction, amount=None, **more):
    body = {"transaction": transaction, "merchant_note": "rf-1", **more}
    return await sandbox.client.post("/gateway/refund", json=body if amount is None else {**body, "amount": amount})


async def test_a_refund_is_deducted_from_the_balance(sandbox: Sandbox, receiver: Receiver) -> None:
    await sandbox.charge("order-1", 500_000)
    queued = (await refund(sandbox, "order-1", 200_000)).json()["data"]
    assert queued["status"] == "pending"
    await eventually(lambda: receiver.events("refund.processed"))
    reported = receiver.events("refund.processed")[0]["data"]
    assert (reported["transaction_reference"], reported["amount"]) == ("order-1", "200000")
    assert not {"id", "merchant_note", "reason"} & set(reported)
    assert await sandbox.balance() == 300_000
    shown = (await sandbox.client.get(f"/gateway/refund/{queued['id']}")).json()["data"]
    assert shown["status"] == "processed"
    listed = (await sandbox.client.get("/gateway/refund", params={"reference": "order-1"})).json()["data"]
    assert [line["merchant_note"] for line in listed] == ["rf-1"]


async def test_refunds_together_never_exceed_what_was_paid(sandbox: Sandbox) -> None:
    await sandbox.settings_are(refund_settlement="manual")
    await sandbox.charge("order-1", 500_000)
    assert (await refund(sandbox, "order-1", 500_001)).status_code == 400
    first = (await refund(sandbox, "order-1", 300_000)).json()["data"]["id"]
    assert (await refund(sandbox, "order-1", 200_001)).status_code == 400
    rest = await refund(sandbox, "order-1")
    assert rest.json()["data"]["amount"] == 200_000
    assert (await refund(sandbox, "order-1")).json()["message"] == "Transaction has been fully reversed"
    # A failed refund gives its part free again.
    assert (await sandbox.client.post(f"/control/refunds/{first}/fail")).json()["status"] == "failed"
    assert (await refund(sandbox, "order-1", 300_000)).status_code == 200
    assert (await sandbox.client.post(f"/control/refunds/{first}/process")).status_code == 409


async def test_a_transaction_is_named_by_reference_or_id_and_must_be_paid(sandbox: Sandbox) -> None:
    await sandbox.initialize("unpaid")
    await sandbox.charge("paid", 1_000)
    assert (await refund(sandbox, "unpaid")).status_code == 400
    assert (await refund(sandbox, "nothing")).status_code == 404
    identifier = (await sandbox.client.get("/gateway/transaction/verify/paid")).json()["data"]["id"]
    assert (await refund(sandbox, identifier, 400)).status_code == 200
    assert (await refund(sandbox, str(identifier), 600)).status_code == 200


async def test_a_refund_can_fail_by_a_fault_or_a_low_balance(sandbox: Sandbox, receiver: Receiver) -> None:
    await sandbox.charge("order-1", 500_000)
    await sandbox.fault(refund_call={"fail": "Card was closed", "times": 1})
    await refund(sandbox, "order-1", 100_000)
    await eventually(lambda: len(receiver.events("refund.failed")) == 1)
    [failed] = (await sandbox.client.get("/gateway/refund")).json()["data"]
    assert (failed["status"], failed["reason"]) == ("failed", "Card was closed")
    await sandbox.settings_are(refund_settlement="manual")
    identifier = (await refund(sandbox, "order-1", 100_000)).json()["data"]["id"]
    await sandbox.transfer("po-0000000000000001", 450_000)
    failed = await sandbox.client.post(f"/control/refunds/{identifier}/process")
    assert (failed.json()["status"], failed.json()["reason"]) == (
        "failed",
        "Insufficient balance to process the refund",
    )
    assert await sandbox.balance() == 50_000
