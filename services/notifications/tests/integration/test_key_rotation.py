"""The keys of messages, codes and PINs are rotated while messages wait to be sent (decision 36)."""

import pytest

from common.primitives.encryption import DecryptionFailed, Encryptor
from common.primitives.ids import new_id
from common.process.runtime import running
from contracts.identity import CODE_DELIVERY
from contracts.orders import PIN_DELIVERY, DeliveryPinIssued
from notifications.app import SERVICE
from testkit.fixtures import DatabaseFactory

from .conftest import OpenScenario, Scenario
from .providers import Providers
from .steps import code_issued

OLD = {
    "message_key": "the old key of messages",
    "code_delivery_key": "the old key of codes",
    "pin_delivery_key": "the old key of PINs",
}
NEW = {name: key.replace("old", "new") for name, key in OLD.items()}
AFTER_ROTATION = {**NEW, **{f"{name}_previous": key for name, key in OLD.items()}}
SHARED = "the key that all services shared"
PHONE = "+2348030000077"


def pin_issued(scenario: Scenario, encryptor):
    sealed = encryptor.encrypt("271828", str(scenario.order_id))
    return DeliveryPinIssued(order_id=scenario.order_id, buyer_id=scenario.buyer_id, pin_sealed=sealed, issue=1)


async def re_encrypt(scenario: Scenario, option=""):
    await SERVICE.commands["re-encrypt"](scenario.dependencies, option)


async def statuses_after_sending(scenario: Scenario):
    await scenario.retry_queued()
    return set(await scenario.delivery_statuses())


async def ticket_of_a_number(scenario: Scenario):
    """Return a ticket from the messaging app with an encrypted telephone number."""
    dependencies, ticket_id = scenario.dependencies, new_id()
    await scenario.fetch(
        "INSERT INTO support_tickets (id, source, subject, status, priority, revision, unread_by_staff, "
        "created_at, updated_at, "
        "phone_key, phone_sealed, phone_masked) "
        "VALUES ($1, 'messaging', 'x', 'open', 'normal', 1, 1, now(), now(), $2, $3, '') RETURNING 1",
        ticket_id,
        dependencies.phone_hasher.key_of(PHONE),
        dependencies.delivery_sender.encryptor.encrypt(PHONE, str(ticket_id)),
    )
    return ticket_id


async def test_waiting_secrets_are_sent_and_numbers_are_found_after_a_rotation(
    open_scenario: OpenScenario,
    providers: Providers,
    fresh_database: DatabaseFactory,
    capsys: pytest.CaptureFixture[str],
) -> None:
    urls = await fresh_database("notifications")
    async with open_scenario(urls=urls, **OLD) as scenario:
        await scenario.project_users()
        await scenario.receive(pin_issued(scenario, Encryptor(PIN_DELIVERY, OLD["pin_delivery_key"])))
        await scenario.receive(code_issued(Encryptor(CODE_DELIVERY, OLD["code_delivery_key"]), "sms", "+2348030000009"))
        ticket_id = await ticket_of_a_number(scenario)
    async with open_scenario(urls=urls, **AFTER_ROTATION) as scenario:
        # A process that was not restarted yet publishes under the old key.
        await scenario.receive(code_issued(Encryptor(CODE_DELIVERY, OLD["code_delivery_key"]), "sms", "+2348030000009"))
        await scenario.receive(code_issued(Encryptor(CODE_DELIVERY, NEW["code_delivery_key"]), "sms", "+2348030000009"))
        await re_encrypt(scenario)
        output = capsys.readouterr().out
        assert "notification_deliveries: 3 re-encrypted, 0 remain" in output
        assert "support_tickets: 1 re-encrypted, 0 remain" in output
    async with open_scenario(urls=urls, **NEW) as scenario:
        await re_encrypt(scenario, "--count")
        assert await statuses_after_sending(scenario) == {"sent"}
        assert len(providers.texts) == 4
        [ticket] = await scenario.fetch(
            "SELECT id, phone_sealed FROM support_tickets WHERE phone_key = $1",
            scenario.dependencies.phone_hasher.key_of(PHONE),
        )
        assert ticket["id"] == ticket_id
        assert scenario.dependencies.delivery_sender.encryptor.decrypt(ticket["phone_sealed"], str(ticket_id)) == PHONE
        settings = scenario.settings.model_copy(update=OLD)
    with pytest.raises(DecryptionFailed):
        async with running(SERVICE, settings, "test"):
            pass


@pytest.mark.parametrize("resolved", ["replayed_at", "closed_at"])
async def test_dead_letters_under_the_old_key_are_counted_until_resolved(
    open_scenario: OpenScenario, fresh_database: DatabaseFactory, capsys: pytest.CaptureFixture[str], resolved: str
) -> None:
    urls = await fresh_database("notifications")
    async with open_scenario(urls=urls, **AFTER_ROTATION) as scenario:
        event = pin_issued(scenario, Encryptor(PIN_DELIVERY, OLD["pin_delivery_key"]))
        body = b'{"payload": {"pinSealed": "%s"}}' % event.pin_sealed.encode()
        await scenario.fetch(
            "INSERT INTO dead_letters (id, queue, event_type, body, headers, error, attempts) "
            "VALUES ($1, 'notifications.orders', $2, $3, '{}', 'x', 6) RETURNING 1",
            new_id(),
            event.TYPE,
            body,
        )
        with pytest.raises(SystemExit):
            await re_encrypt(scenario)
        assert "dead letters: 0 re-encrypted, 1 remain" in capsys.readouterr().out
        await scenario.fetch(f"UPDATE dead_letters SET {resolved} = now() RETURNING 1")
        await re_encrypt(scenario)


async def test_values_of_the_previous_release_stay_readable(
    open_scenario: OpenScenario, providers: Providers, fresh_database: DatabaseFactory
) -> None:
    urls = await fresh_database("notifications")
    async with open_scenario(urls=urls, **NEW, sealing_key=SHARED) as scenario:
        await scenario.project_users()
        await scenario.receive(pin_issued(scenario, Encryptor("x", "x", old_keys=(SHARED,), writes_old_format=True)))
        await ticket_of_a_number(scenario)
        await scenario.fetch("DELETE FROM hash_keys RETURNING 1")
    async with open_scenario(urls=urls, **NEW, sealing_key_previous=SHARED) as scenario:
        await re_encrypt(scenario)
    async with open_scenario(urls=urls, **NEW) as scenario:
        assert await statuses_after_sending(scenario) == {"sent"}
        key = scenario.dependencies.phone_hasher.key_of(PHONE)
        assert len(await scenario.fetch("SELECT 1 FROM support_tickets WHERE phone_key = $1", key)) == 1


def test_notifications_decrypts_no_value_of_another_service() -> None:
    """The former shared key would decrypt each of these."""
    from notifications.app import encryption_of
    from notifications.settings import Settings

    same = "one value by mistake in every variable"
    settings = Settings.model_construct(
        **{**dict.fromkeys(AFTER_ROTATION, same), "sealing_key": "", "sealing_key_previous": ""}
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
