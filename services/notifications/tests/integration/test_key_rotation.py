"""The keys of messages, codes and PINs are rotated while messages wait to be sent (decision 36)."""

import pytest

from common.primitives.encryption import DecryptionFailed, Encryptor
from common.primitives.ids import new_id
from common.process.runtime import running
from contracts.identity import CODE_DELIVERY, OneTimeCodeIssued
from contracts.orders import PIN_DELIVERY, DeliveryPinIssued
from notifications.app import SERVICE
from notifications.use_cases.deliveries.send_delivery import send_delivery

OLD = {
    "message_key": "the old key of messages",
    "code_delivery_key": "the old key of codes",
    "pin_delivery_key": "the old key of PINs",
}
NEW = {name: key.replace("old", "new") for name, key in OLD.items()}
AFTER_THE_SWITCH = {**NEW, **{f"{name}_previous": key for name, key in OLD.items()}}
SHARED = "the key that all services shared"
PHONE = "+2348030000077"


def pin_issued(story, encryptor):
    sealed = encryptor.encrypt("271828", str(story.order_id))
    return DeliveryPinIssued(order_id=story.order_id, buyer_id=story.buyer_id, pin_sealed=sealed, issue=1)


def code_issued(encryptor, address="+2348030000009"):
    code_id = new_id()
    return OneTimeCodeIssued(
        code_id=code_id,
        purpose="sign_in",
        channel="sms",
        address_sealed=encryptor.encrypt(address, str(code_id)),
        code_sealed=encryptor.encrypt("770031", str(code_id)),
    )


async def re_encrypt(story, option=""):
    await SERVICE.commands["re-encrypt"](story.service.dependencies, option)


async def sent(story):
    for row in await story.deliveries():
        await send_delivery(row["id"], story.service.dependencies.delivery_sender)
    return {row["status"] for row in await story.deliveries()}


async def ticket_of_a_number(story):
    """A ticket from the messaging app, as `hear_customer` leaves it."""
    dependencies, ticket_id = story.service.dependencies, new_id()
    await story.service.fetch(
        "INSERT INTO support_tickets (id, source, subject, status, priority, revision, unread_by_staff, created_at, updated_at, "
        "phone_key, phone_sealed, phone_masked) "
        "VALUES ($1, 'messaging', 'x', 'open', 'normal', 1, 1, now(), now(), $2, $3, '') RETURNING 1",
        ticket_id,
        dependencies.phone_hasher.key_of(PHONE),
        dependencies.delivery_sender.encryptor.encrypt(PHONE, str(ticket_id)),
    )
    return ticket_id


async def test_waiting_secrets_are_sent_and_numbers_are_found_after_a_rotation(
    open_story, outside, fresh_database, capsys
):
    urls = await fresh_database("notifications")
    async with open_story(urls=urls, **OLD) as story:
        await story.project_people()
        await story.service.hear(pin_issued(story, Encryptor(PIN_DELIVERY, OLD["pin_delivery_key"])))
        await story.service.hear(code_issued(Encryptor(CODE_DELIVERY, OLD["code_delivery_key"])))
        ticket_id = await ticket_of_a_number(story)
    async with open_story(urls=urls, **AFTER_THE_SWITCH) as story:
        # A process that was not restarted yet publishes under the old key.
        await story.service.hear(code_issued(Encryptor(CODE_DELIVERY, OLD["code_delivery_key"])))
        await story.service.hear(code_issued(Encryptor(CODE_DELIVERY, NEW["code_delivery_key"])))
        await re_encrypt(story)
        said = capsys.readouterr().out
        assert "notification_deliveries: 3 encrypted anew, 0 remain" in said
        assert "support_tickets: 1 encrypted anew, 0 remain" in said
    async with open_story(urls=urls, **NEW) as story:
        await re_encrypt(story, "--count")
        assert await sent(story) == {"sent"}
        assert len(outside.texts) == 4
        [ticket] = await story.service.fetch(
            "SELECT id, phone_sealed FROM support_tickets WHERE phone_key = $1",
            story.service.dependencies.phone_hasher.key_of(PHONE),
        )
        assert ticket["id"] == ticket_id
        assert (
            story.service.dependencies.delivery_sender.encryptor.decrypt(ticket["phone_sealed"], str(ticket_id))
            == PHONE
        )
        settings = story.service.settings.model_copy(update=OLD)
    with pytest.raises(DecryptionFailed):
        async with running(SERVICE, settings, "test"):
            pass


async def test_dead_letters_under_the_old_key_are_counted_until_they_are_replayed(open_story, fresh_database, capsys):
    urls = await fresh_database("notifications")
    async with open_story(urls=urls, **AFTER_THE_SWITCH) as story:
        event = pin_issued(story, Encryptor(PIN_DELIVERY, OLD["pin_delivery_key"]))
        body = b'{"payload": {"pinSealed": "%s"}}' % event.pin_sealed.encode()
        await story.service.fetch(
            "INSERT INTO dead_letters (id, queue, event_type, body, headers, error, attempts) "
            "VALUES ($1, 'notifications.orders', $2, $3, '{}', 'x', 6) RETURNING 1",
            new_id(),
            event.TYPE,
            body,
        )
        with pytest.raises(SystemExit):
            await re_encrypt(story)
        assert "dead letters: 0 encrypted anew, 1 remain" in capsys.readouterr().out
        await story.service.fetch("UPDATE dead_letters SET replayed_at = now() RETURNING 1")
        await re_encrypt(story)


async def test_messages_and_numbers_of_the_release_before_are_kept(open_story, outside, fresh_database):
    urls = await fresh_database("notifications")
    async with open_story(urls=urls, **NEW, sealing_key=SHARED) as story:
        await story.project_people()
        await story.service.hear(pin_issued(story, Encryptor("x", "x", old_keys=(SHARED,), writes_old_format=True)))
        await ticket_of_a_number(story)
        await story.service.fetch("DELETE FROM hash_keys RETURNING 1")
    async with open_story(urls=urls, **NEW, sealing_key_previous=SHARED) as story:
        await re_encrypt(story)
    async with open_story(urls=urls, **NEW) as story:
        assert await sent(story) == {"sent"}
        key = story.service.dependencies.phone_hasher.key_of(PHONE)
        assert len(await story.service.fetch("SELECT 1 FROM support_tickets WHERE phone_key = $1", key)) == 1


def test_notifications_opens_what_is_sent_to_it_and_nothing_that_rests_elsewhere():
    """Each of these would open with the one key that all services shared before."""
    from notifications.app import encryption_of
    from notifications.settings import Settings

    same = "one value by mistake in every variable"
    settings = Settings.model_construct(
        **{**dict.fromkeys(AFTER_THE_SWITCH, same), "sealing_key": "", "sealing_key_previous": ""}
    )
    messages = encryption_of(settings).messages
    for purpose in (
        "payouts: account numbers",
        "identity: TOTP secrets",
        "identity: signing keys",
        "orders: delivery PINs",
    ):
        with pytest.raises(DecryptionFailed):
            messages.decrypt(Encryptor(purpose, same).encrypt("1", "a"), "a")
