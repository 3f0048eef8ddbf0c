"""The rules of the escrow's ledger, also of transactions that few seeds reach."""

from typing import Any
from uuid import uuid4

import pytest

from lab.replay.gateway import GatewayRecord
from lab.replay.payments import PaymentsIds, PaymentsLedger
from lab.replay.postings import NoInput
from lab.replay.recording import _UNSENT_REFUNDS, Command, RecordedEvent, RecordedUnit
from payments.store import chargebacks

ORDER, VENDOR, REFUND, LATER_REFUND, CHARGEBACK = "o", "v", "r", "s", "c"
RELEASE = "018cc251-f400-7003-8000-000000000001"
TOTAL_MINOR, COMMISSION_MINOR, DELIVERY_FEE_MINOR = 100_000, 10_000, 5_000
UNIT = RecordedUnit()


async def nothing(_: str) -> list[Any]:
    return []


def charge(amount_minor: int, *, settlement_minor: int = TOTAL_MINOR, reference: str = "ch-1") -> dict[str, Any]:
    metadata = {"orderId": ORDER, "settlement": str(settlement_minor)}
    return {"reference": reference, "amount": amount_minor, "currency": "NGN", "metadata": metadata, "fees": None}


def event(name: str, sequence: int, **data: Any) -> RecordedEvent:
    return RecordedEvent(uuid4(), f"orders.{name}.v1", ORDER, sequence, {"orderId": ORDER} | data)


PLACED = event(
    "order_placed",
    1,
    buyerId="b",
    vendorId=VENDOR,
    totalMinor=TOTAL_MINOR,
    commissionMinor=COMMISSION_MINOR,
    deliveryFeeMinor=DELIVERY_FEE_MINOR,
)


@pytest.fixture
def gateway() -> GatewayRecord:
    return GatewayRecord(nothing, nothing, charges={"ch-1/7": charge(TOTAL_MINOR)})


@pytest.fixture
def commands() -> list[Command]:
    return []


@pytest.fixture
def ledger(gateway: GatewayRecord, commands: list[Command]) -> PaymentsLedger:
    ledger = PaymentsLedger(gateway, commands)
    ledger.ids = PaymentsIds(dispute_of_chargeback={CHARGEBACK: "1"}, order_of_release={RELEASE: ORDER})
    ledger.of_event(PLACED)
    return ledger


@pytest.fixture
def paid(ledger: PaymentsLedger) -> PaymentsLedger:
    ledger.of_key("charge:ch-1/7", UNIT)
    return ledger


def entries_of(ledger: PaymentsLedger, key: str, unit: RecordedUnit = UNIT) -> dict[str, int]:
    posting = ledger.of_key(key, unit)
    assert posting.key == key
    return dict(posting.entries)


def entries_after(ledger: PaymentsLedger, consumed: RecordedEvent) -> list[dict[str, int]]:
    return [dict(posting.entries) for posting in ledger.of_event(consumed)]


def refund_requested(sequence: int, refund_id: str, amount_minor: int) -> RecordedEvent:
    return event("refund_requested", sequence, refundId=refund_id, amountMinor=amount_minor)


def dispute_is_lost(gateway: GatewayRecord, amount_minor: int) -> None:
    transaction = {"reference": "ch-1", "id": 7}
    gateway.disputes["1"] = {
        "status": "resolved",
        "resolution": "auto-accepted",
        "refund_amount": amount_minor,
        "transaction": transaction,
    }
    gateway.losses["1"] = gateway.disputes["1"]


@pytest.mark.parametrize(("surcharge_minor", "is_surcharge"), [(12_000, True), (12_001, False)])
def test_a_surcharge_beyond_its_bound_is_a_surplus(
    gateway: GatewayRecord, ledger: PaymentsLedger, surcharge_minor: int, is_surcharge: bool
) -> None:
    gateway.charges["ch-1/7"] = charge(TOTAL_MINOR + surcharge_minor)
    entries = entries_of(ledger, "charge:ch-1/7")
    assert (entries.pop("gateway_cash"), entries.pop("escrow:o")) == (TOTAL_MINOR + surcharge_minor, -TOTAL_MINOR)
    [(account, amount_minor)] = entries.items()
    assert (account == "charge_surcharge", amount_minor) == (is_surcharge, -surcharge_minor)


def test_a_second_charge_of_an_order_is_refunded_as_a_whole(gateway: GatewayRecord, paid: PaymentsLedger) -> None:
    gateway.charges["ch-2/8"] = charge(TOTAL_MINOR, reference="ch-2")
    cash, refund = entries_of(paid, "overpayment:ch-2/8").items()
    assert cash == ("gateway_cash", TOTAL_MINOR)
    assert refund[0].startswith("refund_payable:")
    assert refund[1] == -TOTAL_MINOR


def test_one_charge_pays_the_orders_that_its_intent_names(gateway: GatewayRecord, paid: PaymentsLedger) -> None:
    """The share of an order that was paid before is due to the payer."""
    terms = {"vendorId": VENDOR, "commissionMinor": 0, "deliveryFeeMinor": 0}
    paid.of_event(event("order_placed", 1, orderId="p", totalMinor=30_000, **terms))
    paid.of_event(event("order_placed", 1, orderId="q", totalMinor=20_000, **terms))
    paid.ids = PaymentsIds(orders_of_reference={"ch-2": f"{ORDER},p,q"})
    gateway.charges["ch-2/8"] = charge(TOTAL_MINOR + 50_000, settlement_minor=TOTAL_MINOR + 50_000, reference="ch-2")
    entries = entries_of(paid, "charge:ch-2/8")
    surplus = next(account for account in entries if account.startswith("refund_payable:"))
    assert entries == {
        "gateway_cash": TOTAL_MINOR + 50_000,
        "escrow:p": -30_000,
        "escrow:q": -20_000,
        surplus: -TOTAL_MINOR,
    }


def test_a_charge_below_the_total_pays_no_order(gateway: GatewayRecord, ledger: PaymentsLedger) -> None:
    gateway.charges["ch-1/7"] = charge(TOTAL_MINOR - 1)
    assert entries_of(ledger, "quarantine:ch-1/7") == {"gateway_cash": 99_999, "quarantine:ch-1": -99_999}


def test_a_refund_after_a_partial_release_debits_escrow_first(paid: PaymentsLedger, commands: list[Command]) -> None:
    commands.append(Command(f"/api/orders/{ORDER}/release", "None", {"amountMinor": 60_000}, {}))
    released = {"vendor_payable:v": -51_000, "commission": -6_000, "delivery_fee": -3_000}
    assert entries_of(paid, f"release:{RELEASE}") == {"escrow:o": 60_000} | released
    [refund] = entries_after(paid, refund_requested(3, REFUND, 70_000))
    assert refund == {
        "escrow:o": 40_000,
        "vendor_payable:v": 25_500,
        "commission": 3_000,
        "delivery_fee": 1_500,
        "refund_payable:r": -70_000,
    }


def test_a_command_of_staff_releases_once(paid: PaymentsLedger, commands: list[Command]) -> None:
    commands.append(Command(f"/api/orders/{ORDER}/release", "None", {"amountMinor": 60_000}, {}))
    assert paid.unposted() == ["/api/orders/o/release of 60000 kobo was accepted and not posted"]
    entries_of(paid, f"release:{RELEASE}")
    assert paid.unposted() == []
    with pytest.raises(NoInput, match="no event and no accepted command"):
        paid.of_key(f"release:{RELEASE}", UNIT)


def test_a_lost_chargeback_is_debited_to_unsent_refunds_then_escrow_then_receivers(
    gateway: GatewayRecord, paid: PaymentsLedger
) -> None:
    paid.of_event(event("dispute_resolved", 2, releaseMinor=20_000))
    paid.of_event(refund_requested(3, REFUND, 30_000))
    dispute_is_lost(gateway, TOTAL_MINOR)
    unit = RecordedUnit(unsent_refunds=[REFUND])  # type: ignore[list-item]
    assert entries_of(paid, f"chargeback:{CHARGEBACK}", unit) == {
        "refund_payable:r": 30_000,
        "escrow:o": 50_000,
        "vendor_payable:v": 17_000,
        "commission": 2_000,
        "delivery_fee": 1_000,
        "gateway_cash": -TOTAL_MINOR,
    }


def test_a_refund_after_a_lost_chargeback_posts_the_difference(gateway: GatewayRecord, paid: PaymentsLedger) -> None:
    dispute_is_lost(gateway, 30_000)
    entries_of(paid, f"chargeback:{CHARGEBACK}")
    [refund] = entries_after(paid, refund_requested(3, REFUND, 50_000))
    assert refund == {"escrow:o": 20_000, "refund_payable:r": -20_000}
    assert entries_after(paid, refund_requested(4, LATER_REFUND, 50_000)) == [
        {"escrow:o": 50_000, "refund_payable:s": -50_000}
    ]


@pytest.fixture
def purchase(gateway: GatewayRecord, paid: PaymentsLedger) -> PaymentsLedger:
    """Charge `ch-2` paid the orders p, q and s of 400,000, 300,000 and 200,000 kobo, whose dispute 2 is lost."""
    for order_id, total_minor in (("p", 400_000), ("q", 300_000), ("s", 200_000)):
        terms = {"vendorId": f"of {order_id}", "commissionMinor": 0, "deliveryFeeMinor": 0}
        paid.of_event(event("order_placed", 1, orderId=order_id, totalMinor=total_minor, **terms))
    paid.ids = PaymentsIds(
        orders_of_reference={"ch-2": "p,q,s"}, dispute_of_chargeback={"first": "2", "second": "2/q", "third": "2/s"}
    )
    gateway.charges["ch-2/8"] = charge(900_000, settlement_minor=900_000, reference="ch-2")
    paid.of_key("charge:ch-2/8", UNIT)
    return paid


def purchase_dispute_is_lost(gateway: GatewayRecord, amount_minor: int) -> None:
    dispute_is_lost(gateway, amount_minor)
    gateway.disputes["2"] = dict(gateway.disputes.pop("1")) | {"transaction": {"reference": "ch-2", "id": 8}}
    gateway.losses["2"] = gateway.disputes["2"]


def test_a_lost_dispute_is_shared_in_proportion_to_what_each_order_has(
    gateway: GatewayRecord, purchase: PaymentsLedger
) -> None:
    """The postings come in any order. The remainder is on the last of the purchase."""
    purchase_dispute_is_lost(gateway, 100_001)
    assert entries_of(purchase, "chargeback:third") == {"escrow:s": 22_224, "gateway_cash": -22_224}
    assert entries_of(purchase, "chargeback:first") == {"escrow:p": 44_444, "gateway_cash": -44_444}
    assert entries_of(purchase, "chargeback:second") == {"escrow:q": 33_333, "gateway_cash": -33_333}


def test_each_part_of_a_lost_dispute_is_due(gateway: GatewayRecord, purchase: PaymentsLedger) -> None:
    purchase_dispute_is_lost(gateway, 100_001)
    keys = ("chargeback:first", "chargeback:second", "chargeback:third")
    assert ("lost dispute 2", keys) in list(purchase.due())
    entries_of(purchase, "chargeback:first")
    assert [due for due in purchase.due() if due[0] == "lost dispute 2"] == [("lost dispute 2", (key,)) for key in keys]


def test_a_refunded_order_bears_no_part_of_a_lost_dispute(gateway: GatewayRecord, purchase: PaymentsLedger) -> None:
    refunded = event("refund_requested", 3, orderId="p", refundId=REFUND, amountMinor=400_000)
    assert entries_after(purchase, refunded) == [{"escrow:p": 400_000, "refund_payable:r": -400_000}]
    purchase_dispute_is_lost(gateway, 100_001)
    assert entries_of(purchase, "chargeback:second") == {"escrow:q": 60_000, "gateway_cash": -60_000}
    assert entries_of(purchase, "chargeback:third") == {"escrow:s": 40_001, "gateway_cash": -40_001}
    assert entries_of(purchase, "chargeback:first") == {}


def test_an_unsent_refund_of_an_order_is_in_the_posting_of_its_chargeback(
    gateway: GatewayRecord, purchase: PaymentsLedger
) -> None:
    purchase.of_event(event("refund_requested", 3, orderId="q", refundId=REFUND, amountMinor=300_000))
    purchase_dispute_is_lost(gateway, 900_000)
    unit = RecordedUnit(unsent_refunds=[REFUND])  # type: ignore[list-item]
    assert entries_of(purchase, "chargeback:first", unit) == {"escrow:p": 400_000, "gateway_cash": -400_000}
    assert entries_of(purchase, "chargeback:second", unit) == {"refund_payable:r": 300_000, "gateway_cash": -300_000}


def test_a_refund_counts_only_what_the_bank_took_from_its_own_order(
    gateway: GatewayRecord, purchase: PaymentsLedger
) -> None:
    purchase_dispute_is_lost(gateway, 90_000)
    entries_of(purchase, "chargeback:first")
    refunded = event("refund_requested", 3, orderId="s", refundId=REFUND, amountMinor=50_000)
    assert entries_after(purchase, refunded) == [{"escrow:s": 30_000, "refund_payable:r": -30_000}]


def test_a_lost_dispute_beyond_the_orders_is_a_loss_on_the_first(
    gateway: GatewayRecord, purchase: PaymentsLedger
) -> None:
    for order_id, amount_minor in (("p", 400_000), ("q", 300_000)):
        refunded = event("refund_requested", 3, orderId=order_id, refundId=order_id, amountMinor=amount_minor)
        purchase.of_event(refunded)
    purchase_dispute_is_lost(gateway, 250_000)
    assert entries_of(purchase, "chargeback:first") == {"chargeback_loss": 50_000, "gateway_cash": -50_000}
    assert entries_of(purchase, "chargeback:third") == {"escrow:s": 200_000, "gateway_cash": -200_000}


def test_the_recording_finds_the_unsent_refunds_of_a_lost_chargeback() -> None:
    assert _UNSENT_REFUNDS.search(chargebacks._LOCK_UNSENT)


def test_a_sent_refund_failed_after_a_lost_chargeback_offsets_its_uncovered_part(
    gateway: GatewayRecord, paid: PaymentsLedger
) -> None:
    paid.of_event(refund_requested(3, REFUND, TOTAL_MINOR))
    dispute_is_lost(gateway, 40_000)
    assert entries_of(paid, f"chargeback:{CHARGEBACK}") == {"chargeback_loss": 40_000, "gateway_cash": -40_000}
    key = f"refund_spared:{CHARGEBACK}:{REFUND}"
    assert entries_of(paid, key) == {"refund_payable:r": 40_000, "chargeback_loss": -40_000}


def test_a_won_chargeback_returns_what_its_loss_took(gateway: GatewayRecord, paid: PaymentsLedger) -> None:
    """The debit of a refund is due to the payer again, as a new refund."""
    paid.of_event(refund_requested(3, REFUND, 30_000))
    dispute_is_lost(gateway, 50_000)
    unit = RecordedUnit(unsent_refunds=[REFUND])  # type: ignore[list-item]
    lost = entries_of(paid, f"chargeback:{CHARGEBACK}", unit)
    won = entries_of(paid, f"chargeback_won:{CHARGEBACK}")
    [again] = [account for account in won if account.startswith("refund_payable:")]
    assert (won.pop(again), lost.pop("refund_payable:r")) == (-30_000, 30_000)
    assert won == {account: -amount_minor for account, amount_minor in lost.items()}


# Balances: a payment `i` of the order asks for a part of what the buyer has.


@pytest.fixture
def rewarded(gateway: GatewayRecord, ledger: PaymentsLedger) -> PaymentsLedger:
    """Give the buyer a reward of 40,000 kobo, and hold 30,000 of it for the payment `ch-1` of the order."""
    referral = {"applied": True, "rewardMinor": 40_000}
    user = {"userId": "b", "referral": referral, "emailConfirmed": True}
    ledger.of_event(RecordedEvent(uuid4(), "identity.user_provisioned.v1", "b", 1, user))
    ledger.ids = PaymentsIds(intent_of_reference={"ch-1": "i"}, orders_of_intent={"i": ORDER})
    gateway.charges["ch-1/7"] = charge(70_000, settlement_minor=70_000)
    request = Command("/api/payments/intent", "", {"balanceMinor": 30_000}, None, "b")
    hold = entries_of(ledger, "balance_hold:i", RecordedUnit(request=request))
    assert hold == {"buyer_balance:b": 30_000, "balance_held:i": -30_000}
    return ledger


def covered(ledger: PaymentsLedger) -> tuple[dict[str, int], dict[str, int]]:
    unit = RecordedUnit(keys=["balance_spent:i", "charge:ch-1/7"])
    return entries_of(ledger, "balance_spent:i", unit), entries_of(ledger, "charge:ch-1/7", unit)


def test_a_hold_and_a_charge_pay_the_order_together(rewarded: PaymentsLedger) -> None:
    assert covered(rewarded) == (
        {"balance_held:i": 30_000, "escrow:o": -30_000},
        {"gateway_cash": 70_000, "escrow:o": -70_000},
    )


def test_a_refund_goes_to_the_charge_first(rewarded: PaymentsLedger) -> None:
    covered(rewarded)
    assert len(entries_after(rewarded, refund_requested(3, REFUND, 70_000))) == 1
    _, credited = entries_after(rewarded, refund_requested(4, LATER_REFUND, 30_000))
    assert credited == {"refund_payable:s": 30_000, "buyer_balance:b": -30_000}


def test_a_buyer_chooses_the_balance_unless_a_chargeback_is_open(rewarded: PaymentsLedger) -> None:
    covered(rewarded)
    to_balance = event("refund_requested", 3, refundId=REFUND, amountMinor=50_000, refundTo="balance")
    rewarded.unit = RecordedUnit(disputed={ORDER})
    assert len(entries_after(rewarded, to_balance)) == 1
    later = event("refund_requested", 4, refundId=LATER_REFUND, amountMinor=10_000, refundTo="balance")
    rewarded.unit = RecordedUnit()
    assert entries_after(rewarded, later)[1] == {"refund_payable:s": 10_000, "buyer_balance:b": -10_000}


def test_a_charge_without_its_part_of_the_balance_is_quarantined(rewarded: PaymentsLedger) -> None:
    """The hold was returned and the balance spent meanwhile."""
    entries_of(rewarded, "balance_returned:i")
    other = Command("/api/payments/intent", "", {"balanceMinor": 40_000}, None, "b")
    rewarded.ids = PaymentsIds(intent_of_reference={"ch-1": "i"}, orders_of_intent={"i": ORDER, "j": ORDER})
    entries_of(rewarded, "balance_hold:j", RecordedUnit(request=other))
    assert entries_of(rewarded, "quarantine:ch-1/7") == {"gateway_cash": 70_000, "quarantine:ch-1": -70_000}


def test_a_withdrawal_debits_the_requested_amount_once(gateway: GatewayRecord, rewarded: PaymentsLedger) -> None:
    subject = RELEASE
    with pytest.raises(NoInput, match="no request of withdrawal"):
        rewarded.of_key(f"balance_withdrawal:{subject}", UNIT)
    request = Command("/api/balance/withdrawals", "", {"amountMinor": 5_000}, None, "b")
    debited = entries_of(rewarded, f"balance_withdrawal:{subject}", RecordedUnit(request=request))
    assert debited == {"buyer_balance:b": 5_000, f"withdrawal_payable:{subject}": -5_000}
    with pytest.raises(NoInput, match="successful transfer"):
        rewarded.of_key(f"withdrawal_settled:{subject}", UNIT)
    gateway.succeeded["wd-018cc251f40070038000000000000001"] = {"amount": 5_000}
    settled = {f"withdrawal_payable:{subject}": 5_000, "gateway_cash": -5_000}
    assert entries_of(rewarded, f"withdrawal_settled:{subject}") == settled
    with pytest.raises(NoInput, match="is settled, not open"):
        rewarded.of_key(f"withdrawal_settled:{subject}:2", UNIT)


def requested_withdrawal(ledger: PaymentsLedger) -> str:
    """Return the reference of the transfer of a withdrawal of 5,000 kobo, with no other money open."""
    ledger.of_key("balance_returned:i", UNIT)
    request = Command("/api/balance/withdrawals", "", {"amountMinor": 5_000}, None, "b")
    ledger.of_key(f"balance_withdrawal:{RELEASE}", RecordedUnit(request=request))
    return "wd-018cc251f40070038000000000000001"


@pytest.mark.parametrize(("status", "kind"), [("failed", "withdrawal_returned"), ("success", "withdrawal_settled")])
def test_an_ended_transfer_of_a_withdrawal_is_due(
    gateway: GatewayRecord, rewarded: PaymentsLedger, status: str, kind: str
) -> None:
    reference = requested_withdrawal(rewarded)
    gateway.transfers[reference] = {"status": status, "fee_charged": 0}
    gateway.succeeded[reference] = gateway.returned[reference] = {"amount": 5_000}
    [unposted] = rewarded.unposted()
    assert unposted.startswith(f"withdrawal {RELEASE} is open in the ledger")
    rewarded.of_key(f"{kind}:{RELEASE}", UNIT)
    assert rewarded.unposted() == []


def test_an_approved_return_of_a_withdrawal_is_due(rewarded: PaymentsLedger, commands: list[Command]) -> None:
    requested_withdrawal(rewarded)
    path = f"/api/withdrawals/{RELEASE}"
    commands.append(Command(f"{path}/prepare", "", {"outcome": "return"}, {}))
    assert rewarded.unposted() == []
    commands.append(Command(f"{path}/approve", "", {}, {}))
    [unposted] = rewarded.unposted()
    assert unposted.startswith(f"withdrawal {RELEASE} is open in the ledger")
    rewarded.of_key(f"withdrawal_returned:{RELEASE}", UNIT)
    assert rewarded.unposted() == []


def test_the_fee_of_a_withdrawal_is_due(gateway: GatewayRecord, rewarded: PaymentsLedger) -> None:
    reference = requested_withdrawal(rewarded)
    gateway.transfers[reference] = {"status": "success", "fee_charged": 1_000}
    gateway.succeeded[reference] = {"amount": 5_000, "fee_charged": 1_000}
    rewarded.of_key(f"withdrawal_settled:{RELEASE}", UNIT)
    assert rewarded.unposted() == [f"the fee of transfer {reference} is 1000 kobo, and 0 are posted"]
    rewarded.of_key(f"transfer_fee:{RELEASE}", UNIT)
    assert rewarded.unposted() == []


def test_a_part_of_the_balance_is_held_until_its_payment_ends(rewarded: PaymentsLedger) -> None:
    assert rewarded.unposted() == ["payment i holds 30000 kobo of a balance"]
    rewarded.of_key("balance_returned:i", UNIT)
    assert rewarded.unposted() == []


def test_a_refund_is_due_until_it_is_settled(gateway: GatewayRecord, paid: PaymentsLedger) -> None:
    attempt = RELEASE
    paid.ids.refund_of_attempt = {attempt: REFUND}
    paid.of_event(refund_requested(3, REFUND, 10_000))
    assert paid.unposted() == [f"10000 kobo of refund {REFUND} are due"]
    note = "re-018cc251f40070038000000000000001"
    gateway.refunds["5"] = {"merchant_note": note, "status": "processed", "amount": 10_000}
    paid.of_key(f"refund_settled:{attempt}", UNIT)
    assert paid.unposted() == []


def test_a_revised_decision_of_a_lost_chargeback_is_due(gateway: GatewayRecord, paid: PaymentsLedger) -> None:
    dispute_is_lost(gateway, 10_000)
    paid.of_key(f"chargeback:{CHARGEBACK}", UNIT)
    assert paid.unposted() == []
    gateway.disputes["1"] = {"status": "resolved", "resolution": "declined"}
    assert paid.unposted() == [f"chargeback {CHARGEBACK} is lost in the ledger, and won at the gateway"]
    paid.of_key(f"chargeback_won:{CHARGEBACK}", UNIT)
    assert paid.unposted() == []


def test_a_lost_chargeback_is_posted_once(gateway: GatewayRecord, paid: PaymentsLedger) -> None:
    dispute_is_lost(gateway, 10_000)
    paid.of_key(f"chargeback:{CHARGEBACK}", UNIT)
    with pytest.raises(NoInput, match="the loss of chargeback c is posted"):
        paid.of_key(f"chargeback:{CHARGEBACK}:2", UNIT)


def test_a_late_resolution_of_a_dispute_releases_nothing(paid: PaymentsLedger) -> None:
    paid.of_event(event("order_disputed", 5))
    assert entries_after(paid, event("dispute_resolved", 4, releaseMinor=20_000)) == []


def test_a_paid_charge_without_a_posting_is_due(ledger: PaymentsLedger) -> None:
    keys = ("charge:ch-1/7", "overpayment:ch-1/7", "quarantine:ch-1/7")
    assert list(ledger.due()) == [("charge ch-1/7", keys)]


def test_a_dispute_that_was_not_lost_has_no_posting(gateway: GatewayRecord, paid: PaymentsLedger) -> None:
    gateway.disputes["1"] = {"status": "resolved", "resolution": "declined"}
    with pytest.raises(NoInput, match="dispute 1 is not lost at the gateway"):
        paid.of_key(f"chargeback:{CHARGEBACK}", UNIT)


def test_a_delivery_releases_all_of_the_escrow_once(paid: PaymentsLedger) -> None:
    [posting] = paid.of_event(event("order_delivered", 4))
    assert (posting.type, posting.entries["escrow:o"]) == ("release", TOTAL_MINOR)
    assert entries_after(paid, event("order_delivered", 5)) == []
