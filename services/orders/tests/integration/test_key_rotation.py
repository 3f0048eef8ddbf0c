"""PIN_KEY and PIN_DELIVERY_KEY are rotated while PINs of living orders stay valid (decision 36)."""

import asyncio
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from uuid import UUID, uuid4

import pytest

from common.database.unit_of_work import Database
from common.primitives.clock import ManualClock
from common.primitives.encryption import DecryptionFailed, Encryptor
from common.process.runtime import running
from contracts.identity import ProfileChanged
from contracts.orders import PIN_DELIVERY
from orders.app import SERVICE
from testkit.fixtures import DatabaseFactory
from testkit.service_kit import opened

from .conftest import Market

OLD = {"pin_key": "the old pin key of the tests", "pin_delivery_key": "the old delivery key of the tests"}
NEW = {"pin_key": "the new pin key of the tests", "pin_delivery_key": "the new delivery key of the tests"}
BEFORE_THE_SWITCH = {**OLD, **{f"{name}_previous": key for name, key in NEW.items()}}
AFTER_THE_SWITCH = {**NEW, **{f"{name}_previous": key for name, key in OLD.items()}}
SHARED = "the key that all services shared"


@pytest.fixture
async def open_market(fresh_database: DatabaseFactory, broker_url: str):
    urls, clock = await fresh_database("orders"), ManualClock(datetime(2026, 1, 5, 12, 0, tzinfo=UTC))
    parts = Market(None, clock)

    @asynccontextmanager
    async def open_one(keys):
        async with opened(SERVICE, urls, broker_url, clock=clock, **keys) as service:
            yield Market(service, clock, parts.campus_id, parts.vendor_id, parts.merchant_id, parts.buyer_id)

    return open_one


async def re_encrypt(market: Market, option=""):
    await SERVICE.commands["re-encrypt"](market.dependencies, option)


def another(pin):
    return f"{(int(pin) + 1) % 10 ** len(pin):0{len(pin)}d}"


async def test_a_pin_of_a_living_order_is_valid_through_a_rotation_and_after_it(
    open_market, capsys: pytest.CaptureFixture[str]
) -> None:
    async with open_market(OLD) as market:
        orders = [await market.paid() for _ in range(4)]
        pins = [await market.pin_of(order) for order in orders]
        key = uuid4()
        assert (await market.verify(orders[0], another(pins[0]), key=key)).status_code == 400
    async with open_market(BEFORE_THE_SWITCH) as market:
        assert [await market.pin_of(order) for order in orders] == pins
    async with open_market(AFTER_THE_SWITCH) as market:
        assert [await market.pin_of(order) for order in orders] == pins
        # The try before the rotation is known, and spends nothing again.
        assert (await market.verify(orders[0], another(pins[0]), key=key)).json()["attemptsRemaining"] == 4
        assert (await market.verify(orders[0], pins[0])).status_code == 200
        with pytest.raises(SystemExit):
            await re_encrypt(market, "--count")
        assert "delivery_pins: 0 re-encrypted, 4 remain" in capsys.readouterr().out
        # The events of this test are unpublished: they would be, with a broker, long before a rotation ends.
        await market.fetch("UPDATE outbox SET published_at = now() RETURNING 1")
        await re_encrypt(market)
        assert "delivery_pins: 4 re-encrypted, 0 remain" in capsys.readouterr().out
        await re_encrypt(market)
        assert "delivery_pins: 0 re-encrypted, 0 remain" in capsys.readouterr().out
    async with open_market(NEW) as market:
        assert [await market.pin_of(order) for order in orders[1:]] == pins[1:]
        assert (await market.verify(orders[1], another(pins[1]))).json()["attemptsRemaining"] == 4
        for order, pin in zip(orders[1:], pins[1:], strict=True):
            assert (await market.verify(order, pin)).status_code == 200
        settings = market.settings.model_copy(update={"pin_key": OLD["pin_key"]})
    with pytest.raises(DecryptionFailed):
        async with running(SERVICE, settings, "test", market.clock):
            pass


async def test_a_contact_is_shown_through_a_rotation_and_after_it(
    open_market, capsys: pytest.CaptureFixture[str]
) -> None:
    async with open_market(OLD) as market:
        order = await market.paid()
        await market.fetch("UPDATE outbox SET published_at = now() RETURNING 1")
        event = ProfileChanged(
            user_id=market.buyer_id,
            email="ada@unilag.edu.ng",
            phone="+2348030000001",
            full_name="Ada Obi",
            phone_confirmed=True,
        )
        await market.receive(event)
        contact = (await market.show(order, market.as_merchant()))["contact"]
        assert contact == {"name": "Ada Obi", "phone": "+2348030000001"}
    async with open_market(AFTER_THE_SWITCH) as market:
        assert (await market.show(order, market.as_merchant()))["contact"] == contact
        await re_encrypt(market)
        assert "user_contacts: 1 re-encrypted, 0 remain" in capsys.readouterr().out
    async with open_market(NEW) as market:
        assert (await market.show(order, market.as_merchant()))["contact"] == contact


async def test_reissue_and_attempts_during_re_encryption_keep_every_attempt(open_market) -> None:
    async with open_market(OLD) as market:
        orders = [await market.paid() for _ in range(12)]
        pins = [await market.pin_of(order) for order in orders]
    async with open_market(AFTER_THE_SWITCH) as market:

        async def reissue(order):
            url = f"/api/orders/{order['id']}/delivery-pin/reissue"
            return (await market.client.post(url, json={}, headers=market.as_buyer())).json()["data"]["pin"]

        async def re_encrypted():
            while True:
                try:
                    return await re_encrypt(market)
                except SystemExit:
                    # Held by the other run or by a request at this moment, or its event is not published.
                    await market.fetch("UPDATE outbox SET published_at = now() RETURNING 1")

        reissued, tried, *_ = await asyncio.gather(
            asyncio.gather(*(reissue(order) for order in orders[:6])),
            asyncio.gather(
                *(market.verify(order, another(pin)) for order, pin in zip(orders[6:], pins[6:], strict=True))
            ),
            re_encrypted(),
            re_encrypted(),
        )
        assert [response.json()["attemptsRemaining"] for response in tried] == [4] * 6
    async with open_market(NEW) as market:
        for order, pin in zip(orders, [*reissued, *pins[6:]], strict=True):
            assert await market.pin_of(order) == pin
            assert (await market.verify(order, pin)).status_code == 200


async def test_events_under_the_old_key_are_counted_until_they_are_published(
    open_market, capsys: pytest.CaptureFixture[str]
) -> None:
    async with open_market(OLD) as market:
        await market.paid()
    async with open_market(AFTER_THE_SWITCH) as market:
        with pytest.raises(SystemExit):
            await re_encrypt(market)
        assert "unpublished messages: 0 re-encrypted, 1 remain" in capsys.readouterr().out
        await market.fetch("UPDATE outbox SET published_at = now() RETURNING 1")
        # One under the current key needs nothing.
        await market.paid()
        await re_encrypt(market)


async def test_the_release_before_reads_pins_and_events_while_it_may_run(
    open_market, capsys: pytest.CaptureFixture[str]
) -> None:
    pin_key = OLD["pin_key"]
    async with open_market({**NEW, "pin_key": pin_key, "sealing_key": SHARED}) as market:
        order = await market.paid()
        pin = await market.pin_of(order)
        [stored] = await market.fetch("SELECT issue, digest, sealed FROM delivery_pins")
        before = Encryptor("unused", "unused", old_keys=(pin_key,))
        assert before.decrypt(stored["sealed"], f"{order['id']}:{stored['issue']}") == pin
        [event] = await market.published("orders.delivery_pin_issued.v1")
        assert Encryptor("unused", "unused", old_keys=(SHARED,)).decrypt(event["pinSealed"], order["id"]) == pin
        with pytest.raises(SystemExit):
            await re_encrypt(market)
        assert "Rotate the key first" in capsys.readouterr().err
    async with open_market({**NEW, "pin_key": pin_key, "sealing_key_previous": SHARED}) as market:
        assert await market.pin_of(order) == pin
        await market.fetch("UPDATE outbox SET published_at = now() RETURNING 1")
        await re_encrypt(market)
        other = await market.paid()
        event = (await market.published("orders.delivery_pin_issued.v1"))[-1]
        opened_by_notifications = Encryptor(PIN_DELIVERY, NEW["pin_delivery_key"]).decrypt(
            event["pinSealed"], other["id"]
        )
        assert opened_by_notifications == await market.pin_of(other)
        assert (await market.verify(order, pin)).status_code == 200


async def test_a_batch_skips_what_others_hold_and_counts_it(open_market, capsys: pytest.CaptureFixture[str]) -> None:
    async with open_market(OLD) as market:
        orders = [await market.paid() for _ in range(2)]
    async with open_market(AFTER_THE_SWITCH) as market:
        await market.fetch("UPDATE outbox SET published_at = now() RETURNING 1")
        database: Database = market.database
        async with database.service.connection() as connection, connection.transaction():
            await connection.execute("SELECT FROM delivery_pins WHERE order_id = $1 FOR UPDATE", UUID(orders[0]["id"]))
            with pytest.raises(SystemExit):
                await re_encrypt(market)
            assert "delivery_pins: 1 re-encrypted, 1 remain" in capsys.readouterr().out
        await re_encrypt(market)
        assert "delivery_pins: 1 re-encrypted, 0 remain" in capsys.readouterr().out
