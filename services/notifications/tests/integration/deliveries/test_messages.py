"""Each event notifies the right user once, by the right channel."""

import pytest

from common.primitives.ids import new_id
from contracts.identity import ProfileChanged, SignUpRepeated
from contracts.orders import ReturnDecided, ReturnRequested
from contracts.payouts import BankDetailsChanged, BankDetailsQuarantined, PayoutDelayed, PayoutProcessed
from notifications.deliveries.domain.errors import ContactUnknown, OrderUnknown

from ..conftest import PHONE, Scenario
from ..providers import Providers, html_of, text_of
from ..steps import code_issued, without_random_values


def mails_to(providers: Providers, address):
    return [mail for mail in providers.mails if mail["To"] == address]


async def test_the_pin_is_sent_to_the_buyers_phone_and_masked_in_the_log(
    scenario: Scenario, providers: Providers
) -> None:
    await scenario.project_users()
    await scenario.receive(scenario.pin("042917"))
    await scenario.send_queued()
    [text] = providers.texts
    assert text["to"] == "2348030000001"
    assert "042917" in text["sms"]
    assert "\n" not in text["sms"]
    [attempt] = await scenario.attempts()
    assert (attempt["status"], attempt["recipient"], attempt["provider_message_id"]) == (
        "sent",
        "+234******0001",
        "sms-1",
    )
    assert [event["status"] for event in await scenario.published("notifications.delivery_settled.v1")] == ["sent"]


async def test_each_reissue_of_a_pin_is_a_message_of_its_own(scenario: Scenario, providers: Providers) -> None:
    await scenario.project_users()
    await scenario.receive(scenario.pin("111111", issue=1))
    await scenario.send_queued()
    await scenario.receive(scenario.pin("222222", issue=2))
    await scenario.send_queued()
    assert ["111111" in providers.texts[0]["sms"], "222222" in providers.texts[1]["sms"]] == [True, True]


async def test_a_buyer_without_a_phone_gets_a_mail_without_the_pin(scenario: Scenario, providers: Providers) -> None:
    await scenario.project_users(phone=None)
    await scenario.receive(scenario.pin("042917"))
    await scenario.send_queued()
    assert providers.texts == []
    [mail] = mails_to(providers, "chidi@unilag.edu.ng")
    assert "042917" not in without_random_values(mail.as_string())
    assert "042917" not in without_random_values(text_of(mail))


async def test_a_pin_goes_to_no_number_that_its_owner_has_not_proved(scenario: Scenario, providers: Providers) -> None:
    await scenario.project_users(phone=None)
    await scenario.receive(scenario.changed_buyer(proven=False))
    await scenario.receive(scenario.pin("042917"))
    await scenario.send_queued()
    assert providers.texts == []
    [mail] = mails_to(providers, "chidi@unilag.edu.ng")
    assert "042917" not in without_random_values(text_of(mail))
    await scenario.receive(scenario.changed_buyer(proven=True))
    await scenario.receive(scenario.pin("111111", issue=2))
    await scenario.send_queued()
    assert [(f"+{text['to']}", "111111" in text["sms"]) for text in providers.texts] == [(PHONE, True)]


async def test_a_paid_order_notifies_buyer_and_vendor(scenario: Scenario, providers: Providers) -> None:
    await scenario.project_users()
    await scenario.project_order()
    await scenario.receive(scenario.held())
    assert await scenario.send_queued() == 2
    [confirmation], [alert] = mails_to(providers, "chidi@unilag.edu.ng"), mails_to(providers, "ada@unilag.edu.ng")
    assert "Ada's Kitchen is confirmed" in confirmation["Subject"]
    for words in ("Hi Chidi", "2 x Jollof <rice>: ₦5,000.00", "Delivery: ₦300.00", "Total paid: ₦5,300.00"):
        assert words in text_of(confirmation)
    assert "Jollof &lt;rice&gt;" in html_of(confirmation)
    assert "Jollof <rice>" not in html_of(confirmation)
    assert "New paid order" in alert["Subject"]
    assert "₦5,300.00" not in text_of(alert)


async def test_dispatch_and_delivery_notify_the_buyer(scenario: Scenario, providers: Providers) -> None:
    await scenario.project_users()
    await scenario.receive(scenario.dispatched())
    await scenario.receive(scenario.delivered())
    await scenario.send_queued()
    subjects = [mail["Subject"] for mail in mails_to(providers, "chidi@unilag.edu.ng")]
    assert ["on its way" in subjects[0], "was delivered" in subjects[1]] == [True, True]


async def test_a_return_request_notifies_the_vendor_and_its_decision_the_buyer(
    scenario: Scenario, providers: Providers
) -> None:
    await scenario.project_users()
    approved_id, rejected_id = new_id(), new_id()
    for request_id in (approved_id, rejected_id):
        await scenario.receive(ReturnRequested(**scenario.parties, return_request_id=request_id))
    await scenario.receive(
        ReturnDecided(**scenario.parties, return_request_id=approved_id, outcome="approved", refund_minor=250_000)
    )
    await scenario.receive(ReturnDecided(**scenario.parties, return_request_id=rejected_id, outcome="rejected"))
    await scenario.send_queued()
    assert ["return goods" in text_of(mail) for mail in mails_to(providers, "ada@unilag.edu.ng")] == [True, True]
    approved, rejected = (text_of(mail) for mail in mails_to(providers, "chidi@unilag.edu.ng"))
    assert "was approved. Your refund is ₦2,500.00." in approved
    assert "was not approved." in rejected
    assert "refund" not in rejected.replace("return", "")


async def test_payouts_and_bank_details_notify_the_vendors_owner(scenario: Scenario, providers: Providers) -> None:
    await scenario.project_users()
    payout = {"payout_id": new_id(), "vendor_id": scenario.vendor_id, "amount_minor": 47_500_005}
    await scenario.receive(PayoutProcessed(**payout, reference="po-1"))
    await scenario.receive(PayoutDelayed(**payout, cause="name_mismatch"))
    await scenario.receive(BankDetailsChanged(vendor_id=scenario.vendor_id, last4="6785", bank_code="058"))
    await scenario.receive(BankDetailsQuarantined(vendor_id=scenario.vendor_id, reason="Name mismatch", last4="6785"))
    await scenario.send_queued()
    done, delayed, changed, stopped = mails_to(providers, "ada@unilag.edu.ng")
    assert done["Subject"] == "₦475,000.05 was paid out to Ada's Kitchen"
    assert "check them on your bank details page" in text_of(delayed)
    assert "6785" in text_of(changed)
    assert stopped["Subject"] == "Payouts of Ada's Kitchen are stopped"
    assert "6785" in text_of(stopped)
    assert "The reason: Name mismatch" in text_of(stopped)


@pytest.mark.parametrize(("channel", "address"), [("sms", "+2348035550123"), ("email", "bisi@unilag.edu.ng")])
async def test_a_one_time_code_is_sent_to_its_encrypted_address(
    scenario: Scenario, providers: Providers, channel: str, address: str
) -> None:
    await scenario.receive(code_issued(scenario.encryptor, channel, address))
    await scenario.send_queued()
    if channel == "sms":
        assert [(text["to"], "770031" in text["sms"]) for text in providers.texts] == [(address[1:], True)]
    else:
        assert ["770031" in text_of(mail) for mail in mails_to(providers, address)] == [True]
    [notification] = await scenario.fetch("SELECT * FROM notifications")
    assert notification["title"] is None
    [delivery] = await scenario.deliveries()
    assert address not in str(dict(delivery))


async def test_a_confirmation_code_contains_no_name(scenario: Scenario, providers: Providers) -> None:
    event = code_issued(
        scenario.encryptor, "email", "bisi@unilag.edu.ng", user_id=scenario.buyer_id, confirms_email=True
    )
    await scenario.receive(event)
    await scenario.send_queued()
    [mail] = mails_to(providers, "bisi@unilag.edu.ng")
    assert mail["Subject"] == "Confirm your mail address"
    assert "770031" in text_of(mail)
    assert "Chidi" not in text_of(mail)


async def test_a_repeated_sign_up_notifies_the_owner_by_mail_only(scenario: Scenario, providers: Providers) -> None:
    await scenario.project_users()
    event = SignUpRepeated(user_id=scenario.buyer_id, notification_id=new_id())
    for _ in range(2):
        await scenario.receive(event)
    await scenario.send_queued()
    assert [mail["Subject"] for mail in mails_to(providers, "chidi@unilag.edu.ng")] == ["You already have an account"]
    assert providers.texts == []
    assert await scenario.fetch("SELECT 1 FROM notifications WHERE title IS NOT NULL") == []


async def test_a_code_names_its_purpose_and_lifetime(scenario: Scenario, providers: Providers) -> None:
    token = "p4-_Zq" * 7
    for purpose, channel, address, code in (
        ("sign_in", "sms", "+2348035550123", "770031"),
        ("password_reset", "email", "bisi@unilag.edu.ng", token),
    ):
        await scenario.receive(code_issued(scenario.encryptor, channel, address, code, purpose=purpose))
    await scenario.send_queued()
    assert [text["sms"] for text in providers.texts] == [
        "Campus: 770031 is your code to sign in. It works once, for 10 minutes. Never share it with anybody."
    ]
    [mail] = mails_to(providers, "bisi@unilag.edu.ng")
    assert mail["Subject"] == "Your code to reset your password"
    # The token is alone on its line, for copying.
    assert token in [line.strip() for line in text_of(mail).splitlines()]
    assert "for 30 minutes" in text_of(mail)


async def test_every_repeated_event_notifies_once(scenario: Scenario, providers: Providers) -> None:
    await scenario.project_users()
    await scenario.project_order()
    payout = {"payout_id": new_id(), "vendor_id": scenario.vendor_id, "amount_minor": 100}
    events = [
        scenario.buyer(),
        scenario.placed(),
        scenario.held(),
        scenario.pin(),
        scenario.dispatched(),
        scenario.delivered(),
        PayoutProcessed(**payout),
        PayoutDelayed(**payout, cause="reversed"),
        BankDetailsChanged(vendor_id=scenario.vendor_id, last4="6785", bank_code="058"),
        BankDetailsQuarantined(vendor_id=scenario.vendor_id, reason="Name mismatch"),
        code_issued(scenario.encryptor, "sms", "+2348030000009", purpose="password_reset"),
    ]
    for event in events:
        await scenario.receive_twice(event)
    await scenario.send_queued()
    # The delivery used the PIN: it is no longer sent.
    assert (len(providers.texts), len(providers.mails)) == (1, 8)


async def test_one_fact_under_two_event_ids_notifies_once(scenario: Scenario, providers: Providers) -> None:
    await scenario.project_users()
    await scenario.project_order()
    for _ in range(2):
        await scenario.receive(scenario.held())
        await scenario.receive(scenario.pin())
    await scenario.send_queued()
    assert (len(providers.texts), len(providers.mails)) == (1, 2)


async def test_an_event_before_its_subject_stores_nothing(scenario: Scenario, providers: Providers) -> None:
    with pytest.raises(ContactUnknown):
        await scenario.receive(scenario.pin())
    await scenario.project_users()
    with pytest.raises(OrderUnknown):
        await scenario.receive(scenario.held())
    assert await scenario.fetch("SELECT * FROM notifications") == []
    assert await scenario.deliveries() == []


async def test_a_stale_profile_never_overwrites_a_newer_one(scenario: Scenario, providers: Providers) -> None:
    newer = ProfileChanged(
        user_id=scenario.buyer_id, email="new@unilag.edu.ng", phone="+2348031112222", phone_confirmed=True
    )
    await scenario.receive(newer, sequence=5)
    await scenario.receive(scenario.buyer(), sequence=1)
    await scenario.receive(scenario.pin())
    await scenario.send_queued()
    assert [text["to"] for text in providers.texts] == ["2348031112222"]
