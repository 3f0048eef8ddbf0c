"""What applicants and vendors are told of decisions about them (contract sections 10 and 12)."""

import pytest

from common.primitives.ids import new_id
from contracts.identity import VendorApplicationDecided, VendorReinstated, VendorSuspended
from contracts.payouts import PayoutDelayed
from notifications.domain.errors import ContactUnknown

QUEUE = "notifications.deliveries"


def vendor_of(story, **more):
    return {
        "vendor_id": story.vendor_id,
        "owner_user_id": story.owner_id,
        "business_name": "Ada's Kitchen",
        "legal_name": "Ada Obi Ventures",
        "campus_id": new_id(),
        **more,
    }


def decided(story, outcome, reason=None):
    return VendorApplicationDecided(application_id=new_id(), user_id=story.buyer_id, outcome=outcome, reason=reason)


async def mails_after(story, outside, *events):
    """What goes out when each of the events is delivered twice."""
    for event in events:
        received = await story.service.hear(event)
        await story.service.hear(event, event_id=received.event_id, sequence=received.sequence)
    await story.service.work(QUEUE)
    return [(mail["To"], mail["Subject"], mail.get_body(("plain",)).get_content()) for mail in outside.mails]


async def test_an_applicant_is_told_the_decision_once_and_the_reason_of_a_rejection(story, outside):
    await story.project_people()
    rejected = decided(story, "rejected", "Tell us <b>which</b> books.")
    [(first_to, first, why), (_, second, how)] = await mails_after(story, outside, rejected, decided(story, "approved"))
    assert first_to == "chidi@unilag.edu.ng"
    assert first == "Your application to sell on Campus Marketplace was not approved"
    assert "The reason: Tell us <b>which</b> books." in why
    assert "apply again" in why
    assert "&lt;b&gt;which&lt;/b&gt;" in outside.mails[0].get_body(("html",)).get_content()
    assert second == "Your application to sell on Campus Marketplace was approved"
    assert "Sign in again to open your shop" in how
    assert "reason" not in how
    feed = await story.service.client.get("/api/notifications", headers=story.service.headers(story.buyer_id))
    assert [line["title"] for line in feed.json()["data"]] == ["Your application to sell"] * 2


async def test_an_owner_is_told_of_each_suspension_and_of_its_end(story, outside):
    await story.project_people()
    told = await mails_after(
        story,
        outside,
        VendorSuspended(**vendor_of(story), reason="Complaints"),
        VendorReinstated(**vendor_of(story)),
        VendorSuspended(**vendor_of(story), reason="More complaints"),
    )
    assert [(to, subject) for to, subject, _ in told] == [
        ("ada@unilag.edu.ng", "We have suspended Ada's Kitchen"),
        ("ada@unilag.edu.ng", "The suspension of Ada's Kitchen is over"),
        ("ada@unilag.edu.ng", "We have suspended Ada's Kitchen"),
    ]
    assert "The reason: Complaints" in told[0][2]
    assert "Payouts are held; your money is safe." in told[0][2]
    assert "The reason: More complaints" in told[2][2]


async def test_a_decision_about_somebody_who_is_not_known_yet_is_tried_again(story, outside):
    with pytest.raises(ContactUnknown):
        await story.service.hear(decided(story, "approved"))
    assert await story.service.fetch("SELECT 1 FROM notifications") == []


async def test_a_delayed_payout_is_told_once_for_each_exception_in_plain_words(story, outside):
    await story.project_people()
    payout_id, first, second = new_id(), new_id(), new_id()

    def delayed(exception_id, cause):
        return PayoutDelayed(
            payout_id=payout_id, vendor_id=story.vendor_id, amount_minor=150_000, cause=cause, exception_id=exception_id
        )

    told = await mails_after(
        story, outside, delayed(first, "bank_switch_error"), delayed(first, "reversed"), delayed(second, "unclassified")
    )
    assert [subject for _, subject, _ in told] == ["Your payout of ₦1,500.00 is delayed"] * 2
    for _, _, words in told:
        assert "Your money is safe." in words
        assert not any(internal in words for internal in ("bank_switch_error", "unclassified", "SEV", str(payout_id)))
