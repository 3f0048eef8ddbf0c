"""Who is told what at each moment of an order's and a payout's money, once, and that the vendor learns nothing of the buyer."""

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
)
from contracts.payouts import PayoutFailed, PayoutReversed
from notifications.domain.errors import OrderUnknown, VendorUnknown

QUEUE = "notifications.deliveries"
BUYER, VENDOR = "chidi@unilag.edu.ng", "ada@unilag.edu.ng"


def moments_of(story):
    """Each event, and the templates that follow it: to the buyer, and to the vendor's owner."""
    parties = {"order_id": story.order_id, "buyer_id": story.buyer_id, "vendor_id": story.vendor_id}
    refund = {"refund_id": new_id(), "kind": "order", "amount_minor": 530_000, "order_id": story.order_id}
    payout = {"payout_id": new_id(), "vendor_id": story.vendor_id, "amount_minor": 150_000}
    left = {"remaining_minor": 0, "remaining_vendor_minor": 0}
    released = {"gross_minor": 500_000, "commission_minor": 25_000, "delivery_fee_minor": 30_000}
    chargeback = {**parties, "amount_minor": 530_000, "chargeback_id": new_id()}
    written = "call me: +2348030000001, chidi@unilag.edu.ng"
    return [
        (OrderCancelled(**parties, reason=written), "order_cancelled", None),
        (OrderExpired(**parties, reason="payment window"), "order_expired", None),
        (OrderDisputed(**parties, reason=written), "dispute_opened", "dispute_opened"),
        (
            DisputeResolved(**parties, outcome="split", refund_minor=200_000, release_minor=330_000),
            "dispute_resolved",
            "dispute_resolved",
        ),
        (
            EscrowReleased(**parties, **left, **released, release_id=new_id(), net_minor=475_000),
            None,
            "order_completed",
        ),
        (EscrowReleased(**parties, **left, **released, release_id=new_id(), net_minor=0), None, None),
        (
            EscrowRefunded(**parties, **left, refund_id=new_id(), amount_minor=530_000, from_vendor_minor=100),
            "refund_on_its_way",
            "order_refunded",
        ),
        (RefundSettled(**refund, buyer_id=story.buyer_id), "refund_settled", None),
        (RefundFailed(**refund, buyer_id=story.buyer_id), "refund_failed", None),
        (RefundFailed(refund_id=new_id(), kind="quarantine", amount_minor=5, currency="USD"), None, None),
        (ChargeDisputed(**chargeback, vendor_minor=475_000), None, "chargeback_opened"),
        (ChargeDisputed(**chargeback, outcome="lost", from_vendor_minor=475_000), None, "chargeback_decided"),
        (ChargeDisputed(**chargeback, outcome="won"), None, "chargeback_decided"),
        (
            PaymentFailed(
                order_id=story.order_id,
                buyer_id=story.buyer_id,
                payment_id=new_id(),
                reference="ch-1",
                amount_minor=530_000,
                currency="NGN",
                failure_reason="Insufficient Funds",
            ),
            "payment_failed",
            None,
        ),
        (ChargeQuarantined(reference="ch-2", amount_minor=1, currency="NGN", reason="unknown_reference"), None, None),
        (PayoutFailed(**payout), None, "payout_failed"),
        (PayoutFailed(**{**payout, "payout_id": new_id()}, cancelled=True), None, None),
        (PayoutReversed(**payout, reconciliation_id=new_id()), None, "payout_reversed"),
    ]


async def test_each_moment_is_told_once_to_whom_it_concerns_and_nothing_of_the_buyer_to_the_vendor(story, outside):
    await story.project_people()
    known = set()
    for event, to_buyer, to_vendor in moments_of(story):
        received = await story.service.hear(event)
        await story.service.hear(event, event_id=received.event_id, sequence=received.sequence)
        # The same news under another event's id.
        await story.service.hear(event)
        await story.service.work(QUEUE)
        told = await story.service.fetch("SELECT id, user_id, template FROM notifications WHERE id <> ALL ($1)", known)
        expected = {(story.buyer_id, to_buyer), (story.owner_id, to_vendor)}
        assert {(row["user_id"], row["template"]) for row in told} == {pair for pair in expected if pair[1]}, event
        assert len(told) == len(outside.mails) == len({pair for pair in expected if pair[1]})
        for mail in outside.mails:
            words = mail.as_string() + mail.get_body(("plain",)).get_content() + mail["Subject"]
            if mail["To"] == VENDOR:
                assert not any(secret in words for secret in (BUYER, "8030000001", "Chidi", "PIN"))
            else:
                assert mail["To"] == BUYER
                assert VENDOR not in words
            assert "call me" not in words
        outside.mails.clear()
        known |= {row["id"] for row in told}


def _quarantined(story, **changes):
    fields = {
        "reference": "ch-1",
        "amount_minor": 529_999,
        "currency": "NGN",
        "reason": "underpaid",
        "order_id": story.order_id,
        "buyer_id": story.buyer_id,
        "quarantined_charge_id": new_id(),
        **changes,
    }
    return ChargeQuarantined(**fields)


@pytest.mark.parametrize("ending", [OrderExpired, OrderCancelled])
async def test_a_buyer_whose_payment_is_being_checked_is_never_told_that_they_did_not_pay(story, outside, ending):
    await story.project_people()
    await story.project_order()
    quarantined = _quarantined(story)
    for _ in range(2):
        await story.service.hear(quarantined)
    await story.service.work(QUEUE)
    [mail] = outside.mails
    assert mail["To"] == BUYER
    words = mail.get_body(("plain",)).get_content()
    assert "received your payment of ₦5,299.99" in words
    assert "do not pay" not in mail["Subject"].lower()
    outside.mails.clear()

    parties = {"order_id": story.order_id, "buyer_id": story.buyer_id, "vendor_id": story.vendor_id}
    await story.service.hear(ending(**parties, reason="payment window"))
    await story.service.work(QUEUE)
    [mail] = outside.mails
    told = (mail["Subject"] + mail.get_body(("plain",)).get_content()).lower()
    assert "checking" in told
    assert not any(claim in told for claim in ("not paid", "before it was paid", "did not pay"))
    rows = await story.service.fetch("SELECT template FROM notifications ORDER BY template")
    assert [row["template"] for row in rows] == ["order_closed_under_review", "payment_under_review"]


async def test_each_quarantined_charge_is_told_and_one_in_another_currency_without_its_amount(story, outside):
    await story.project_people()
    await story.project_order()
    for changes in ({}, {"currency": "GHS"}):
        await story.service.hear(_quarantined(story, **changes))
    await story.service.work(QUEUE)
    amounts = ["₦" in mail.get_body(("plain",)).get_content() for mail in outside.mails]
    assert sorted(amounts) == [False, True]


async def test_a_quarantined_charge_that_is_faster_than_its_order_comes_again(story):
    await story.project_people()
    with pytest.raises(OrderUnknown):
        await story.service.hear(_quarantined(story))
    assert await story.service.fetch("SELECT 1 FROM notifications") == []


async def test_the_gateways_words_cannot_inject_markup_into_a_mail(story, outside):
    await story.project_people()
    failed = PaymentFailed(
        order_id=story.order_id,
        buyer_id=story.buyer_id,
        payment_id=new_id(),
        reference="ch-1",
        amount_minor=530_000,
        currency="NGN",
        failure_reason="<script>alert(1)</script>",
    )
    await story.service.hear(failed)
    await story.service.work(QUEUE)
    [mail] = outside.mails
    assert "<script>" not in mail.get_body(("html",)).get_content()
    assert "try again" in mail.get_body(("plain",)).get_content()


async def test_money_in_another_currency_is_told_without_an_amount(story, outside):
    await story.project_people()
    abroad = RefundSettled(
        refund_id=new_id(), kind="quarantine", amount_minor=5_000, currency="USD", buyer_id=story.buyer_id
    )
    await story.service.hear(abroad)
    await story.service.work(QUEUE)
    [mail] = outside.mails
    assert mail["Subject"] == "Your refund was paid out"
    assert "₦" not in mail.get_body(("plain",)).get_content()


async def test_what_concerns_a_vendor_who_is_not_known_yet_comes_again(story):
    _, _, _, _, released, *_ = moments_of(story)
    with pytest.raises(VendorUnknown):
        await story.service.hear(released[0])
    assert await story.service.fetch("SELECT 1 FROM notifications") == []
