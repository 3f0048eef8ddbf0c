"""Who is told what at each moment of an order's and a payout's money, once, and that the vendor learns nothing of the buyer."""

import pytest

from common.ids import new_id
from contracts.orders import DisputeResolved, OrderCancelled, OrderDisputed, OrderExpired
from contracts.payments import ChargeDisputed, EscrowRefunded, EscrowReleased, RefundFailed, RefundSettled
from contracts.payouts import PayoutFailed, PayoutReversed
from notifications.domain.errors import VendorUnknown

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
        (PayoutFailed(**payout), None, "payout_failed"),
        (PayoutFailed(**{**payout, "payout_id": new_id()}, cancelled=True), None, None),
        (PayoutReversed(**payout, reconciliation_id=new_id()), None, "payout_reversed"),
    ]


async def test_each_moment_is_told_once_to_whom_it_concerns_and_nothing_of_the_buyer_to_the_vendor(story, outside):
    await story.know_the_people()
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


async def test_money_in_another_currency_is_told_without_an_amount(story, outside):
    await story.know_the_people()
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
