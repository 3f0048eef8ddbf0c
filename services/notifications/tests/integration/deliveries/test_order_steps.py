"""Notifications at each step of an order's and a payout's money; a vendor receives no data of the buyer."""

import pytest

from common.primitives.ids import new_id
from contracts.orders import DisputeResolved, OrderCancelled, OrderDisputed, OrderExpired
from contracts.payments import (
    ChargeDisputed,
    ChargeQuarantined,
    EscrowRefunded,
    EscrowReleased,
    PaymentFailed,
    RefundFailed,
    RefundSettled,
    WithdrawalPaid,
    WithdrawalRequested,
    WithdrawalReturned,
)
from contracts.payouts import PayoutFailed, PayoutReversed
from notifications.deliveries.domain.errors import OrderUnknown, VendorUnknown
from testkit.events import provisioned

from ..conftest import Scenario
from ..providers import Providers, html_of, text_of

BUYER, VENDOR = "chidi@unilag.edu.ng", "ada@unilag.edu.ng"


def steps_of(scenario: Scenario):
    """Each event with the template for the buyer and the template for the vendor's owner."""
    parties = scenario.parties
    refund = {"refund_id": new_id(), "kind": "order", "amount_minor": 530_000, "order_id": scenario.order_id}
    payout = {"payout_id": new_id(), "vendor_id": scenario.vendor_id, "amount_minor": 150_000}
    withdrawal = {
        "withdrawal_id": new_id(),
        "user_id": scenario.buyer_id,
        "amount_minor": 300_000,
        "account_last4": "6789",
    }
    remaining = {"remaining_minor": 0, "remaining_vendor_minor": 0}
    released = {"gross_minor": 530_000, "commission_minor": 25_000, "delivery_fee_minor": 30_000}
    chargeback = {**parties, "amount_minor": 530_000, "chargeback_id": new_id()}
    free_text = "call me: +2348030000001, chidi@unilag.edu.ng"
    return [
        (OrderCancelled(**parties, reason=free_text), "order_cancelled", None),
        (OrderExpired(**parties, reason="payment window"), "order_expired", None),
        (OrderDisputed(**parties, reason=free_text), "dispute_opened", "dispute_opened"),
        (
            DisputeResolved(**parties, outcome="split", refund_minor=200_000, release_minor=330_000),
            "dispute_resolved",
            "dispute_resolved",
        ),
        (
            EscrowReleased(**parties, **remaining, **released, release_id=new_id(), net_minor=475_000),
            None,
            "order_completed",
        ),
        (
            EscrowReleased(
                **parties, **remaining, **{**released, "gross_minor": 55_000}, release_id=new_id(), net_minor=0
            ),
            None,
            None,
        ),
        (
            EscrowRefunded(**parties, **remaining, refund_id=new_id(), amount_minor=530_000, from_vendor_minor=100),
            "refund_on_its_way",
            "order_refunded",
        ),
        (
            EscrowRefunded(
                **parties,
                **remaining,
                refund_id=new_id(),
                amount_minor=530_000,
                from_vendor_minor=0,
                balance_minor=530_000,
            ),
            "refund_in_balance",
            "order_refunded",
        ),
        (RefundSettled(**refund, buyer_id=scenario.buyer_id), "refund_settled", None),
        (RefundSettled(**refund, buyer_id=scenario.buyer_id, balance_minor=refund["amount_minor"]), None, None),
        (RefundFailed(**refund, buyer_id=scenario.buyer_id), "refund_failed", None),
        (RefundFailed(refund_id=new_id(), kind="quarantine", amount_minor=5, currency="USD"), None, None),
        (WithdrawalRequested(**withdrawal), "withdrawal_requested", None),
        (WithdrawalPaid(**withdrawal), "withdrawal_paid", None),
        (WithdrawalReturned(**withdrawal), "withdrawal_returned", None),
        (ChargeDisputed(**chargeback, vendor_minor=475_000), None, "chargeback_opened"),
        (ChargeDisputed(**chargeback, outcome="lost", from_vendor_minor=475_000), None, "chargeback_decided"),
        (ChargeDisputed(**chargeback, outcome="won"), None, "chargeback_decided"),
        (
            payment_failed(scenario, "Insufficient Funds"),
            "payment_failed",
            None,
        ),
        (ChargeQuarantined(reference="ch-2", amount_minor=1, currency="NGN", reason="unknown_reference"), None, None),
        (PayoutFailed(**payout), None, "payout_failed"),
        (PayoutFailed(**{**payout, "payout_id": new_id()}, cancelled=True), None, None),
        (PayoutReversed(**payout, reconciliation_id=new_id()), None, "payout_reversed"),
    ]


def payment_failed(scenario: Scenario, reason: str) -> PaymentFailed:
    return PaymentFailed(
        order_id=scenario.order_id,
        buyer_id=scenario.buyer_id,
        payment_id=new_id(),
        reference="ch-1",
        amount_minor=530_000,
        currency="NGN",
        failure_reason=reason,
    )


async def test_each_step_notifies_its_users_once(scenario: Scenario, providers: Providers) -> None:
    await scenario.project_users()
    known = set()
    for event, to_buyer, to_vendor in steps_of(scenario):
        await scenario.receive_twice(event)
        # The same fact under another event id.
        await scenario.receive(event)
        await scenario.send_queued()
        notifications = await scenario.fetch(
            "SELECT id, user_id, template FROM notifications WHERE id <> ALL ($1)", known
        )
        expected = {(scenario.buyer_id, to_buyer), (scenario.owner_id, to_vendor)}
        assert {(row["user_id"], row["template"]) for row in notifications} == {pair for pair in expected if pair[1]}, (
            event
        )
        assert len(notifications) == len(providers.mails) == len({pair for pair in expected if pair[1]})
        for mail in providers.mails:
            words = mail.as_string() + text_of(mail) + mail["Subject"]
            if mail["To"] == VENDOR:
                assert not any(secret in words for secret in (BUYER, "8030000001", "Chidi", "PIN"))
            else:
                assert mail["To"] == BUYER
                assert VENDOR not in words
            assert "call me" not in words
        providers.mails.clear()
        known |= {row["id"] for row in notifications}


def _quarantined(scenario: Scenario, **changes):
    fields = {
        "reference": "ch-1",
        "amount_minor": 529_999,
        "currency": "NGN",
        "reason": "underpaid",
        "order_id": scenario.order_id,
        "buyer_id": scenario.buyer_id,
        "quarantined_charge_id": new_id(),
        **changes,
    }
    return ChargeQuarantined(**fields)


@pytest.mark.parametrize("ending", [OrderExpired, OrderCancelled])
async def test_a_buyer_with_a_quarantined_payment_is_not_called_unpaid(
    scenario: Scenario, providers: Providers, ending
) -> None:
    await scenario.project_users()
    await scenario.project_order()
    quarantined = _quarantined(scenario)
    for _ in range(2):
        await scenario.receive(quarantined)
    await scenario.send_queued()
    [mail] = providers.mails
    assert mail["To"] == BUYER
    words = text_of(mail)
    assert "received your payment of ₦5,299.99" in words
    assert "do not pay" not in mail["Subject"].lower()
    providers.mails.clear()

    parties = scenario.parties
    await scenario.receive(ending(**parties, reason="payment window"))
    await scenario.send_queued()
    [mail] = providers.mails
    text = (mail["Subject"] + text_of(mail)).lower()
    assert "checking" in text
    assert not any(claim in text for claim in ("not paid", "before it was paid", "did not pay"))
    rows = await scenario.fetch("SELECT template FROM notifications ORDER BY template")
    assert [row["template"] for row in rows] == ["order_closed_under_review", "payment_under_review"]


async def test_a_quarantined_charge_in_another_currency_has_no_amount(scenario: Scenario, providers: Providers) -> None:
    await scenario.project_users()
    await scenario.project_order()
    for changes in ({}, {"currency": "GHS"}):
        await scenario.receive(_quarantined(scenario, **changes))
    await scenario.send_queued()
    amounts = ["₦" in text_of(mail) for mail in providers.mails]
    assert sorted(amounts) == [False, True]


async def test_the_notice_of_too_low_a_payment_names_both_amounts(scenario: Scenario, providers: Providers) -> None:
    await scenario.project_users()
    await scenario.project_order()
    await scenario.receive(_quarantined(scenario, expected_minor=530_000))
    await scenario.send_queued()
    [mail] = providers.mails
    words = text_of(mail)
    assert "₦5,299.99 arrived" in words
    assert "₦5,300.00 was to pay" in words
    [row] = await scenario.fetch("SELECT template FROM notifications")
    assert row["template"] == "payment_too_low"


async def test_a_quarantined_charge_before_its_order_is_retried(scenario: Scenario) -> None:
    await scenario.project_users()
    with pytest.raises(OrderUnknown):
        await scenario.receive(_quarantined(scenario))
    assert await scenario.fetch("SELECT 1 FROM notifications") == []


@pytest.mark.parametrize("has_order", [True, False])
async def test_finance_gets_a_mail_about_a_quarantined_charge(
    scenario: Scenario, providers: Providers, has_order: bool
) -> None:
    await scenario.project_users()
    await scenario.project_order()
    for role in ("finance_maker", "finance_checker", "support_agent"):
        await scenario.receive(provisioned(new_id(), f"{role}@campus.test", full_name="Bola", staff_roles=(role,)))
    order = {} if has_order else {"order_id": None, "buyer_id": None, "reason": "unknown_reference"}
    await scenario.receive_twice(_quarantined(scenario, **order))
    await scenario.send_queued()
    mails = {mail["To"]: mail for mail in providers.mails}
    assert len(mails) == len(providers.mails)
    assert {*mails} - {BUYER} == {"finance_maker@campus.test", "finance_checker@campus.test"}
    words = text_of(mails["finance_maker@campus.test"])
    assert "ch-1 of ₦5,299.99" in words
    assert "flagged for fraud investigation" in words
    assert ("less than the order's total" in words) is has_order


async def test_the_gateways_words_cannot_inject_markup_into_a_mail(scenario: Scenario, providers: Providers) -> None:
    await scenario.project_users()
    await scenario.receive(payment_failed(scenario, "<script>alert(1)</script>"))
    await scenario.send_queued()
    [mail] = providers.mails
    assert "<script>" not in html_of(mail)
    assert "try again" in text_of(mail)


async def test_money_in_another_currency_has_no_amount(scenario: Scenario, providers: Providers) -> None:
    await scenario.project_users()
    settled = RefundSettled(
        refund_id=new_id(), kind="quarantine", amount_minor=5_000, currency="USD", buyer_id=scenario.buyer_id
    )
    await scenario.receive(settled)
    await scenario.send_queued()
    [mail] = providers.mails
    assert mail["Subject"] == "Your refund was paid out"
    assert "₦" not in text_of(mail)


async def test_an_event_before_its_vendor_is_retried(scenario: Scenario) -> None:
    _, _, _, _, released, *_ = steps_of(scenario)
    with pytest.raises(VendorUnknown):
        await scenario.receive(released[0])
    assert await scenario.fetch("SELECT 1 FROM notifications") == []
