"""Each event tells the right person, once, by a real provider."""

import pytest

from common.primitives.ids import new_id
from contracts.identity import OneTimeCodeIssued, ProfileChanged, SignUpRepeated
from contracts.orders import OrderDelivered, OrderDispatched, ReturnDecided, ReturnRequested
from contracts.payouts import BankDetailsChanged, BankDetailsQuarantined, PayoutDelayed, PayoutProcessed
from notifications.domain.errors import ContactUnknown, OrderUnknown

from .conftest import without_drawn

QUEUE = "notifications.deliveries"


async def send_everything(story) -> int:
    return await story.service.work(QUEUE)


def to(outside, address):
    return [mail for mail in outside.mails if mail["To"] == address]


def text_of(mail):
    return mail.get_body(("plain",)).get_content()


def html_of(mail):
    return mail.get_body(("html",)).get_content()


async def test_the_pin_goes_to_the_buyers_phone_and_the_log_shows_it_without_pin_and_number(story, outside):
    await story.project_people()
    await story.service.hear(story.pin("042917"))
    await send_everything(story)
    [text] = outside.texts
    assert text["to"] == "2348030000001"
    assert "042917" in text["sms"]
    assert "\n" not in text["sms"]
    [attempt] = await story.attempts()
    assert (attempt["status"], attempt["recipient"], attempt["provider_message_id"]) == (
        "sent",
        "+234******0001",
        "sms-1",
    )
    assert [said["status"] for said in await story.service.published("notifications.delivery_settled.v1")] == ["sent"]


async def test_each_reissue_of_a_pin_is_a_message_of_its_own(story, outside):
    await story.project_people()
    await story.service.hear(story.pin("111111", issue=1))
    await send_everything(story)
    await story.service.hear(story.pin("222222", issue=2))
    await send_everything(story)
    assert ["111111" in outside.texts[0]["sms"], "222222" in outside.texts[1]["sms"]] == [True, True]


async def test_a_buyer_without_a_phone_is_told_by_mail_where_the_pin_is_and_never_the_pin(story, outside):
    await story.project_people(phone=None)
    await story.service.hear(story.pin("042917"))
    await send_everything(story)
    assert outside.texts == []
    [mail] = to(outside, "chidi@unilag.edu.ng")
    assert "042917" not in without_drawn(mail.as_string())
    assert "042917" not in without_drawn(text_of(mail))


async def test_a_paid_order_is_confirmed_to_the_buyer_and_told_to_the_vendor(story, outside):
    await story.project_people()
    await story.project_order()
    await story.service.hear(story.held())
    assert await send_everything(story) == 2
    [confirmation], [alert] = to(outside, "chidi@unilag.edu.ng"), to(outside, "ada@unilag.edu.ng")
    assert "Ada's Kitchen is confirmed" in confirmation["Subject"]
    for words in ("Hi Chidi", "2 x Jollof <rice>: ₦5,000.00", "Delivery: ₦300.00", "Total paid: ₦5,300.00"):
        assert words in text_of(confirmation)
    assert "Jollof &lt;rice&gt;" in html_of(confirmation)
    assert "Jollof <rice>" not in html_of(confirmation)
    assert "New paid order" in alert["Subject"]
    assert "₦5,300.00" not in text_of(alert)


async def test_dispatch_and_delivery_are_told_to_the_buyer(story, outside):
    await story.project_people()
    ids = {"order_id": story.order_id, "buyer_id": story.buyer_id, "vendor_id": story.vendor_id}
    await story.service.hear(OrderDispatched(**ids))
    await story.service.hear(OrderDelivered(**ids, delivered_at="2026-01-01T10:00:00.000Z", verified_by=new_id()))
    await send_everything(story)
    subjects = [mail["Subject"] for mail in to(outside, "chidi@unilag.edu.ng")]
    assert ["on its way" in subjects[0], "was delivered" in subjects[1]] == [True, True]


async def test_a_return_request_is_told_to_the_vendor_and_its_decision_to_the_buyer(story, outside):
    await story.project_people()
    ids = {"order_id": story.order_id, "buyer_id": story.buyer_id, "vendor_id": story.vendor_id}
    taken, refused = new_id(), new_id()
    for request_id in (taken, refused):
        await story.service.hear(ReturnRequested(**ids, return_request_id=request_id))
    await story.service.hear(ReturnDecided(**ids, return_request_id=taken, outcome="approved", refund_minor=250_000))
    await story.service.hear(ReturnDecided(**ids, return_request_id=refused, outcome="rejected"))
    await send_everything(story)
    assert ["return goods" in text_of(mail) for mail in to(outside, "ada@unilag.edu.ng")] == [True, True]
    approved, rejected = (text_of(mail) for mail in to(outside, "chidi@unilag.edu.ng"))
    assert "was approved. Your refund is ₦2,500.00." in approved
    assert "was not approved." in rejected
    assert "refund" not in rejected.replace("return", "")


async def test_payouts_and_bank_details_are_told_to_the_vendors_owner(story, outside):
    await story.project_people()
    payout = {"payout_id": new_id(), "vendor_id": story.vendor_id, "amount_minor": 47_500_005}
    await story.service.hear(PayoutProcessed(**payout, reference="po-1"))
    await story.service.hear(PayoutDelayed(**payout, cause="name_mismatch"))
    await story.service.hear(BankDetailsChanged(vendor_id=story.vendor_id, last4="6785", bank_code="058"))
    await story.service.hear(BankDetailsQuarantined(vendor_id=story.vendor_id, reason="Name mismatch", last4="6785"))
    await send_everything(story)
    done, delayed, changed, stopped = to(outside, "ada@unilag.edu.ng")
    assert done["Subject"] == "₦475,000.05 was paid out to Ada's Kitchen"
    assert "check them on your bank details page" in text_of(delayed)
    assert "6785" in text_of(changed)
    assert stopped["Subject"] == "Payouts of Ada's Kitchen are stopped"
    assert "6785" in text_of(stopped)
    assert "The reason: Name mismatch" in text_of(stopped)


@pytest.mark.parametrize(("channel", "address"), [("sms", "+2348035550123"), ("email", "bisi@unilag.edu.ng")])
async def test_a_one_time_code_goes_to_the_sealed_address_and_not_into_the_feed(story, outside, channel, address):
    code_id = new_id()
    issued = OneTimeCodeIssued(
        code_id=code_id,
        purpose="sign_in",
        channel=channel,
        address_sealed=story.encryptor.encrypt(address, str(code_id)),
        code_sealed=story.encryptor.encrypt("770031", str(code_id)),
    )
    await story.service.hear(issued)
    await send_everything(story)
    if channel == "sms":
        assert [(text["to"], "770031" in text["sms"]) for text in outside.texts] == [(address[1:], True)]
    else:
        assert ["770031" in text_of(mail) for mail in to(outside, address)] == [True]
    [notification] = await story.service.fetch("SELECT * FROM notifications")
    assert notification["title"] is None
    [delivery] = await story.deliveries()
    assert address not in str(dict(delivery))


async def test_a_code_that_confirms_an_address_says_so_and_names_nobody(story, outside):
    code_id = new_id()
    await story.service.hear(
        OneTimeCodeIssued(
            code_id=code_id,
            purpose="sign_in",
            channel="email",
            address_sealed=story.encryptor.encrypt("bisi@unilag.edu.ng", str(code_id)),
            code_sealed=story.encryptor.encrypt("770031", str(code_id)),
            user_id=story.buyer_id,
            confirms_email=True,
        )
    )
    await send_everything(story)
    [mail] = to(outside, "bisi@unilag.edu.ng")
    assert mail["Subject"] == "Confirm your mail address"
    assert "770031" in text_of(mail)
    assert "Chidi" not in text_of(mail)


async def test_the_owner_hears_by_mail_alone_that_their_address_was_signed_up_with_again(story, outside):
    await story.project_people()
    event = SignUpRepeated(user_id=story.buyer_id, notification_id=new_id())
    for _ in range(2):
        await story.service.hear(event)
    await send_everything(story)
    assert [mail["Subject"] for mail in to(outside, "chidi@unilag.edu.ng")] == ["You have an account already"]
    assert outside.texts == []
    assert await story.service.fetch("SELECT 1 FROM notifications WHERE title IS NOT NULL") == []


async def test_a_code_says_what_it_is_for_and_how_long_it_works(story, outside):
    token = "p4-_Zq" * 7
    for purpose, channel, address, code in (
        ("sign_in", "sms", "+2348035550123", "770031"),
        ("password_reset", "email", "bisi@unilag.edu.ng", token),
    ):
        code_id = new_id()
        await story.service.hear(
            OneTimeCodeIssued(
                code_id=code_id,
                purpose=purpose,
                channel=channel,
                address_sealed=story.encryptor.encrypt(address, str(code_id)),
                code_sealed=story.encryptor.encrypt(code, str(code_id)),
            )
        )
    await send_everything(story)
    assert [text["sms"] for text in outside.texts] == [
        "Campus: 770031 is your code to sign in. It works once, for 10 minutes. Never tell it to anybody."
    ]
    [mail] = to(outside, "bisi@unilag.edu.ng")
    assert mail["Subject"] == "Your code to reset your password"
    # The token stands alone on its line, whole: it is copied from there.
    assert token in [line.strip() for line in text_of(mail).splitlines()]
    assert "for 30 minutes" in text_of(mail)


async def test_every_event_that_comes_twice_tells_once(story, outside):
    await story.project_people()
    await story.project_order()
    payout = {"payout_id": new_id(), "vendor_id": story.vendor_id, "amount_minor": 100}
    ids = {"order_id": story.order_id, "buyer_id": story.buyer_id, "vendor_id": story.vendor_id}
    code_id = new_id()
    events = [
        story.buyer(),
        story.placed(),
        story.held(),
        story.pin(),
        OrderDispatched(**ids),
        OrderDelivered(**ids, delivered_at="2026-01-01T10:00:00.000Z", verified_by=new_id()),
        PayoutProcessed(**payout),
        PayoutDelayed(**payout, cause="reversed"),
        BankDetailsChanged(vendor_id=story.vendor_id, last4="6785", bank_code="058"),
        BankDetailsQuarantined(vendor_id=story.vendor_id, reason="Name mismatch"),
        OneTimeCodeIssued(
            code_id=code_id,
            purpose="password_reset",
            channel="sms",
            address_sealed=story.encryptor.encrypt("+2348030000009", str(code_id)),
            code_sealed=story.encryptor.encrypt("770031", str(code_id)),
        ),
    ]
    for event in events:
        received = await story.service.hear(event)
        await story.service.hear(event, event_id=received.event_id, sequence=received.sequence)
    await send_everything(story)
    # The PIN was used before it was sent: it is not sent any more.
    assert (len(outside.texts), len(outside.mails)) == (1, 8)


async def test_the_same_news_under_two_event_ids_tells_once(story, outside):
    await story.project_people()
    await story.project_order()
    for _ in range(2):
        await story.service.hear(story.held())
        await story.service.hear(story.pin())
    await send_everything(story)
    assert (len(outside.texts), len(outside.mails)) == (1, 2)


async def test_a_work_item_that_comes_twice_sends_once(story, outside):
    await story.project_people()
    await story.service.hear(story.pin())
    await send_everything(story)
    await story.service.fetch("UPDATE outbox SET published_at = NULL WHERE starts_with(queue, $1) RETURNING 1", QUEUE)
    assert await send_everything(story) == 1
    assert len(outside.texts) == 1


async def test_news_before_its_subject_fails_and_leaves_nothing(story, outside):
    with pytest.raises(ContactUnknown):
        await story.service.hear(story.pin())
    await story.project_people()
    with pytest.raises(OrderUnknown):
        await story.service.hear(story.held())
    assert await story.service.fetch("SELECT * FROM notifications") == []
    assert await story.deliveries() == []


async def test_a_stale_profile_never_overwrites_a_newer_one(story, outside):
    newer = ProfileChanged(user_id=story.buyer_id, email="new@unilag.edu.ng", phone="+2348031112222")
    await story.service.hear(newer, sequence=5)
    await story.service.hear(story.buyer(), sequence=1)
    await story.service.hear(story.pin())
    await send_everything(story)
    assert [text["to"] for text in outside.texts] == ["2348031112222"]
