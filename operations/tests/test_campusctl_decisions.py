"""The operators' commands that move money or access: confirmed, under one key, with the decision before the eyes."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from .campusctl_double import HASH, ID, OTHER, PAYOUT, Gateway, call, call_json


def test_no_money_is_transferred_without_confirmation(signed_in: Gateway) -> None:
    signed_in.responses["/api/payout-exceptions"] = (200, [{"id": OTHER, "payoutId": ID, "amountMinor": 450_050}])
    signed_in.responses[f"/api/payouts/{ID}/reset"] = (200, PAYOUT)
    for reply in ("n\n", ""):
        code, document = call_json("payouts", "reset", ID, "--reason", "bank down", input=reply)
        assert (code, document["error"]["detail"]) == (1, "Not confirmed: nothing was changed.")
    assert signed_in.bodies(f"/api/payouts/{ID}/reset") == []
    code, _, err = call("payouts", "reset", ID, "--reason", "bank down", input="y\n")
    assert code == 0
    assert "₦4,500.50" in err
    assert call_json("payouts", "reset", ID, "--reason", "bank down", "--yes")[0] == 0
    assert signed_in.bodies(f"/api/payouts/{ID}/reset") == [{"reason": "bank down"}] * 2


def test_what_was_confirmed_is_exactly_what_is_dispatched(signed_in: Gateway) -> None:
    plan = {"transfers": [{"payoutId": ID}, {"payoutId": OTHER}], "totalMinor": 100}
    signed_in.responses["/api/payouts/dispatch"] = (200, plan)
    assert call_json("payouts", "dispatch", "--max-total-minor", "500", input="y\n")[0] == 0
    assert signed_in.bodies("/api/payouts/dispatch") == [
        {"maxTotalMinor": 500, "dryRun": True},
        {"maxTotalMinor": 500, "payoutIds": [ID, OTHER]},
    ]


def test_a_dry_run_sends_nothing_and_prompts_for_nothing(signed_in: Gateway) -> None:
    signed_in.responses["/api/payouts/dispatch"] = (200, {"transfers": []})
    assert call_json("payouts", "dispatch", ID, "--dry-run")[0] == 0
    assert signed_in.bodies("/api/payouts/dispatch") == [{"payoutIds": [ID], "dryRun": True}]


def test_a_lost_response_is_requested_again_under_the_same_key(signed_in: Gateway) -> None:
    path = f"/api/reconciliations/{ID}/approve"
    signed_in.responses[path] = (200, {"id": ID})
    signed_in.dropped = 2
    assert call_json("reconciliations", "approve", ID, "--hash", HASH, "--yes")[0] == 0
    keys = [request["headers"]["Idempotency-Key"] for request in signed_in.requests if request["path"] == path]
    assert len(keys) == 3
    assert len(set(keys)) == 1


STOP = {"reason": "Wrong prices", "message": "Checkout is back at noon."}
STOP_TEXTS = ("--reason", STOP["reason"], "--message", STOP["message"])


def test_a_stop_of_checkout_is_confirmed_and_has_an_end(signed_in: Gateway) -> None:
    signed_in.responses["/api/stops/checkout"] = (201, {"id": ID})
    assert call("stop", "checkout", "--for", "30m", *STOP_TEXTS, input="n\n")[0] == 1
    assert signed_in.bodies("/api/stops/checkout") == []
    before = datetime.now(UTC).replace(microsecond=0)
    assert call("stop", "checkout", "--for", "30m", *STOP_TEXTS, input="y\n")[0] == 0
    [body] = signed_in.bodies("/api/stops/checkout")
    expires_at = datetime.fromisoformat(body.pop("expiresAt"))
    assert before + timedelta(minutes=30) <= expires_at <= datetime.now(UTC) + timedelta(minutes=30)
    assert body == STOP


@pytest.mark.parametrize("duration", ["30", "0m", "m", "1d", "-5m"])
def test_a_stop_without_a_valid_duration_is_wrong_usage(signed_in: Gateway, duration: str) -> None:
    code, _ = call_json("stop", "dispatch", f"--for={duration}", *STOP_TEXTS, "--yes")
    assert code == 2
    assert signed_in.requests == []


def test_stops_are_listed_by_state_and_ended(signed_in: Gateway) -> None:
    stop = {
        "id": ID,
        **STOP,
        "stoppedBy": OTHER,
        "stoppedAt": "",
        "expiresAt": "",
        "liftedAt": None,
        "liftReason": None,
    }
    signed_in.responses["/api/stops/checkout"] = (200, {"current": stop, "earlier": [{**stop, "liftedAt": "x"}]})
    signed_in.responses["/api/stops/dispatch"] = (200, {"current": None, "earlier": [stop]})
    code, document = call_json("stop", "list")
    assert code == 0
    assert [(one["operation"], one["state"]) for one in document["data"]] == [
        ("checkout", "in force"),
        ("checkout", "lifted"),
        ("dispatch", "expired"),
    ]
    signed_in.responses["/api/stops/checkout/lift"] = (200, {"id": ID})
    assert call("stop", "end", "checkout", "--reason", "Corrected", "--yes")[0] == 0
    assert signed_in.bodies("/api/stops/checkout/lift") == [{"reason": "Corrected"}]


def test_one_payout_is_held_and_released(signed_in: Gateway) -> None:
    for verb in ("hold", "release"):
        signed_in.responses[f"/api/payouts/{ID}/{verb}"] = (200, {"id": ID})
    assert call("payouts", "hold", ID, "--reason", "A theft")[0] == 0
    assert call("payouts", "release", ID, "--reason", "Safe", input="n\n")[0] == 1
    assert signed_in.bodies(f"/api/payouts/{ID}/release") == []
    assert call("payouts", "release", ID, "--reason", "Safe", "--yes")[0] == 0
    assert signed_in.bodies(f"/api/payouts/{ID}/hold") == [{"reason": "A theft"}]


APPROVALS = {
    "payout-runs": (f"/api/payout-batches/{ID}", {"transfers": [{"payoutId": OTHER}], "totalMinor": 100}),
    "reconciliations": (f"/api/reconciliations/{ID}", {"kind": "restitution", "amountMinor": 100, "payoutId": OTHER}),
    "accounts": (
        f"/api/bank-detail-releases/{ID}",
        {"accountLast4": "6789", "bankCode": "058", "reason": "The bank confirmed the owner"},
    ),
    "staff": (f"/api/staff-grants/{ID}", {"userId": OTHER, "role": "finance_maker"}),
    "commissions": (f"/api/commission-changes/{ID}", {"vendorId": OTHER, "commissionBasisPoints": 450}),
}


@pytest.mark.parametrize("group", APPROVALS)
def test_an_approval_shows_the_decision_and_sends_its_hash(signed_in: Gateway, group: str) -> None:
    path, prepared = APPROVALS[group]
    signed_in.responses[path] = (200, {"id": ID, "hash": HASH, **prepared})
    signed_in.responses[f"{path}/approve"] = (200, {"id": ID})
    assert call(group, "approve", ID, input="n\n")[0] == 1
    assert signed_in.bodies(f"{path}/approve") == []
    code, _, err = call(group, "approve", ID, input="y\n")
    assert (code, HASH in err) == (0, True)
    assert signed_in.bodies(f"{path}/approve") == [{"hash": HASH}]


@pytest.mark.parametrize("group", APPROVALS)
def test_nothing_is_approved_unread(signed_in: Gateway, group: str) -> None:
    path, _ = APPROVALS[group]
    signed_in.responses[f"{path}/approve"] = (200, {"id": ID})
    code, document = call_json(group, "approve", ID, "--yes")
    assert (code, "--hash" in document["error"]["advice"]) == (1, True)
    assert signed_in.requests == []
    assert call_json(group, "approve", ID, "--yes", "--hash", HASH)[0] == 0
    assert signed_in.bodies(f"{path}/approve") == [{"hash": HASH}]


def test_without_a_response_the_key_is_shown_for_a_retry(signed_in: Gateway) -> None:
    path = f"/api/dead-letters/orders/{ID}/replay"
    signed_in.dropped = 3
    code, document = call_json("dead-letters", "replay", "orders", ID)
    key = signed_in.requests[0]["headers"]["Idempotency-Key"]
    assert code == 3
    assert key in document["error"]["advice"]
    signed_in.responses[path] = (200, {"id": ID})
    assert call_json("dead-letters", "replay", "orders", ID, "--idempotency-key", key)[0] == 0
    assert {request["headers"]["Idempotency-Key"] for request in signed_in.requests} == {key}


@pytest.mark.parametrize(
    ("verb", "path", "body"),
    [
        ("quarantine", f"/api/vendors/{ID}/bank-details/quarantine", {"reason": "a test"}),
        ("prepare", f"/api/vendors/{ID}/bank-details/release", {"reason": "a test"}),
        ("reject", f"/api/bank-detail-releases/{ID}/reject", {"reason": "a test"}),
    ],
)
def test_an_account_is_quarantined_and_its_release_decided(signed_in: Gateway, verb: str, path: str, body) -> None:
    signed_in.responses[path] = (200, {"id": ID})
    assert call_json("accounts", verb, ID, "--reason", "a test")[0] == 0
    assert signed_in.bodies(path) == [body]


@pytest.mark.parametrize(
    ("arguments", "path"),
    [
        (("dead-letters", "close", "orders", ID), f"/api/dead-letters/orders/{ID}/close"),
        (("webhooks", "dead", "close", ID), f"/api/dead-letter-webhooks/{ID}/close"),
    ],
)
def test_a_dead_letter_is_closed_with_its_reason(signed_in: Gateway, arguments, path: str) -> None:
    signed_in.responses[path] = (200, {"id": ID, "closeReason": "a test"})
    assert call(*arguments)[0] == 2
    assert call_json(*arguments, "--reason", "a test")[1]["data"]["closeReason"] == "a test"
    assert signed_in.bodies(path) == [{"reason": "a test"}]


def test_a_dead_webhook_is_shown_by_the_id_of_its_event(signed_in: Gateway) -> None:
    signed_in.responses["/api/dead-letter-webhooks/charge.success%3A1"] = (200, {"id": ID, "history": []})
    assert call_json("webhooks", "dead", "show", "charge.success:1")[1]["data"]["id"] == ID
    code, document = call_json("webhooks", "dead", "show", OTHER)
    assert (code, document["error"]["detail"]) == (1, f"No dead webhook or event has the id '{OTHER}'.")


@pytest.mark.parametrize("verb", [("replay",), ("close", "--reason", "a test")])
def test_a_dead_webhook_is_named_by_the_id_of_its_event(signed_in: Gateway, verb: tuple[str, ...]) -> None:
    path = f"/api/dead-letter-webhooks/message%3Awamid.HBg%2FA%3D%3D/{verb[0]}"
    signed_in.responses[path] = (200, {"id": ID})
    arguments = ("webhooks", "dead", verb[0], "message:wamid.HBg/A==", *verb[1:])
    assert call_json(*arguments)[1]["data"]["id"] == ID
    signed_in.responses.clear()
    code, document = call_json(*arguments)
    assert (code, document["error"]["status"]) == (1, 404)
    assert document["error"]["detail"] == "No dead webhook or event has the id 'message:wamid.HBg/A=='."
    assert "webhooks dead list" in document["error"]["advice"]


def test_a_quarantined_charge_is_decided_with_its_facts_before_the_eyes(signed_in: Gateway) -> None:
    path = f"/api/quarantined-charges/{ID}"
    charge = {
        "id": ID,
        "reference": "ch-1",
        "orderId": None,
        "amountMinor": 500_000,
        "currency": "GHS",
        "reason": "foreign_currency",
        "status": "prepared",
        "decision": {"outcome": "return", "reason": "paid in cedis"},
        "hash": "f" * 64,
    }
    signed_in.responses["/api/quarantined-charges"] = (200, [charge])
    signed_in.responses |= {path: (200, charge), f"{path}/prepare": (200, charge), f"{path}/reject": (200, charge)}
    signed_in.responses[f"{path}/approve"] = (200, {**charge, "status": "returned"})
    assert call_json("quarantine", "list", "--status", "prepared")[1]["data"] == [charge]
    assert call_json("quarantine", "show", ID)[1]["data"] == charge
    reason = ("--reason", "paid in cedis")
    assert call_json("quarantine", "prepare", ID, "--outcome", "return", *reason)[0] == 0
    assert signed_in.bodies(f"{path}/prepare") == [{"outcome": "return", "reason": "paid in cedis"}]
    code, _, requests = call("quarantine", "approve", ID, input="n\n")
    assert code == 1
    assert signed_in.bodies(f"{path}/approve") == []
    for fact in ("return", "500000 GHS in minor units", "ch-1", "order unknown", "paid in cedis"):
        assert fact in requests
    assert call_json("quarantine", "approve", ID, "--yes", "--hash", "f" * 64)[1]["data"]["status"] == "returned"
    assert signed_in.bodies(f"{path}/approve") == [{"hash": "f" * 64}]
    assert call_json("quarantine", "reject", ID, "--reason", "ask first")[0] == 0
    assert signed_in.bodies(f"{path}/reject") == [{"reason": "ask first"}]


def test_a_failed_refund_is_decided_with_its_facts_before_the_eyes(signed_in: Gateway) -> None:
    path = f"/api/refunds/{ID}"
    account = {"last4": "6789", "bankCode": "058", "accountName": "Chidi Okafor", "nameAtBank": None, "verified": False}
    decision = {"action": "other_destination", "reason": "the payer named it", "destination": account}
    refund = {
        "id": ID,
        "orderId": ID,
        "amountMinor": 500_000,
        "currency": "NGN",
        "status": "prepared",
        "decision": decision,
    }
    refund |= {"hash": "f" * 64, "needsAccount": True}
    signed_in.responses["/api/refunds"] = (200, [refund])
    signed_in.responses |= {path: (200, refund), f"{path}/prepare": (200, refund), f"{path}/reject": (200, refund)}
    signed_in.responses[f"{path}/approve"] = (200, {**refund, "status": "submitting"})
    assert call_json("refunds", "list", "--status", "failed")[1]["data"] == [refund]
    assert call_json("refunds", "show", ID)[1]["data"] == refund
    reason = ("--reason", "the payer named it")
    named = ("--account-number", "0123456789", "--bank-code", "058", "--account-name", "Chidi Okafor")
    assert call_json("refunds", "prepare", ID, *reason)[0] == 0
    assert call_json("refunds", "prepare", ID, *reason, *named)[0] == 0
    assert call("refunds", "prepare", ID, *reason, "--bank-code", "058")[0] == 2
    destination = {"accountNumber": "0123456789", "bankCode": "058", "accountName": "Chidi Okafor"}
    assert signed_in.bodies(f"{path}/prepare") == [
        {"action": "retry", "reason": "the payer named it"},
        {"action": "other_destination", "reason": "the payer named it", "destination": destination},
    ]
    code, _, requests = call("refunds", "approve", ID, input="n\n")
    assert (code, signed_in.bodies(f"{path}/approve")) == (1, [])
    for fact in ("other_destination", "5,000.00", "...6789", "Chidi Okafor", "the payer named it"):
        assert fact in requests
    assert "NOT VERIFIED: the bank confirmed no name" in requests
    account["nameAtBank"] = "BOLA ADE"
    assert "NOT VERIFIED: the bank names BOLA ADE" in call("refunds", "approve", ID, input="n\n")[2]
    account["verified"] = True
    assert "NOT VERIFIED" not in call("refunds", "approve", ID, input="n\n")[2]
    assert call_json("refunds", "approve", ID, "--yes", "--hash", "f" * 64)[1]["data"]["status"] == "submitting"
    assert call_json("refunds", "reject", ID, "--reason", "ask first")[0] == 0
    assert signed_in.bodies(f"{path}/reject") == [{"reason": "ask first"}]


CHARGEBACK = {"id": ID, "status": "opened", "dueAt": "x", "amountMinor": 500_000, "currency": "NGN", "orderId": None}


def test_evidence_for_a_chargeback_is_sent_with_its_optional_parts(signed_in: Gateway) -> None:
    path = f"/api/chargebacks/{ID}"
    signed_in.responses[f"{path}/evidence"] = (200, CHARGEBACK)
    buyer = ("--email", "a@b.example", "--name", "Ngozi", "--phone", "+2348012345678", "--details", "Two books")
    assert call_json("chargebacks", "evidence", ID, *buyer)[0] == 0
    assert (
        call_json("chargebacks", "evidence", ID, *buyer, "--address", "Hall 3", "--delivered-on", "2026-03-04")[0] == 0
    )
    first, second = signed_in.bodies(f"{path}/evidence")
    assert first == {
        "customerEmail": "a@b.example",
        "customerName": "Ngozi",
        "customerPhone": "+2348012345678",
        "serviceDetails": "Two books",
    }
    assert second == {**first, "deliveryAddress": "Hall 3", "deliveryDate": "2026-03-04"}


def test_a_chargeback_is_contested_or_accepted_with_a_file(signed_in: Gateway, tmp_path: Path) -> None:
    path = f"/api/chargebacks/{ID}"
    signed_in.responses |= {path: (200, CHARGEBACK), f"{path}/resolve": (200, CHARGEBACK)}
    signed_in.responses["/api/chargebacks"] = (200, [CHARGEBACK])
    proof = tmp_path / "proof.pdf"
    proof.write_bytes(b"%PDF-1.4")
    given = ("--message", "m", "--file", str(proof))
    assert call_json("chargebacks", "list", "--status", "opened")[1]["data"] == [CHARGEBACK]
    assert call_json("chargebacks", "show", ID)[1]["data"] == CHARGEBACK
    assert call_json("chargebacks", "contest", ID, *given)[0] == 0
    code, _, requests = call("chargebacks", "accept", ID, *given, input="n\n")
    assert (code, "Return ₦5,000.00 to the payer" in requests) == (1, True)
    assert call_json("chargebacks", "accept", ID, *given, "--amount", "200000", "--yes")[0] == 0
    encoded = {"message": "m", "attachment": "JVBERi0xLjQ="}
    assert signed_in.bodies(f"{path}/resolve") == [
        {"resolution": "contest", **encoded},
        {"resolution": "accept", **encoded, "amountMinor": 200_000},
    ]
    assert call("chargebacks", "contest", ID, "--message", "m", "--file", str(tmp_path / "absent"))[0] == 2
