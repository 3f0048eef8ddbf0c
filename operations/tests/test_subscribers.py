"""The list of subscribing teams, and what their accounts may do at a real broker."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

import aio_pika
import httpx
import pytest
import pytest_asyncio
import yaml
from aio_pika.exceptions import AMQPError
from aiormq.exceptions import ChannelAccessRefused

from campus_tools.servers import Servers
from common.messaging.declaring import declare_broker
from contracts.topology import PUBLIC_EXCHANGE
from operations.broker_accounts import rights_of_subscriber
from operations.provision import ProvisioningFailed, database_url
from operations.subscribers import (
    SubscribersRefused,
    Team,
    apply_teams,
    check_team,
    load_teams,
    manifests_of,
    save_teams,
)
from testkit.fixtures import eventually

HELD, PLACED = "payments.escrow_held.v1", "orders.order_placed.v1"
SEARCH = Team("search", (HELD,), connections=2, channels=10)
EVERYTHING = Team("analytics", ("*",))


@pytest_asyncio.fixture(loop_scope="session")
async def servers(own_servers: Servers) -> Servers:
    await asyncio.to_thread(own_servers.rabbitmq.start)
    await declare_broker(own_servers.broker_url, {})
    return own_servers


async def applied(servers: Servers, *teams: Team) -> list[str]:
    passwords = {team.account: f"password of {team.name}" for team in teams}
    return await apply_teams(servers.management_url, servers.broker_url, teams, passwords)


def url_of(servers: Servers, team: Team) -> str:
    return database_url(servers.broker_url, role=team.account, password=f"password of {team.name}")


async def test_a_team_reads_its_topics(servers: Servers) -> None:
    await applied(servers, SEARCH)
    async with await aio_pika.connect(url_of(servers, SEARCH)) as connection:
        queue = await (await connection.channel()).declare_queue("sub.search.it", exclusive=True)
        await queue.bind(PUBLIC_EXCHANGE, HELD)
        async with await aio_pika.connect(servers.broker_url) as ours:
            public = await (await ours.channel()).get_exchange(PUBLIC_EXCHANGE)
            await public.publish(aio_pika.Message(b"held"), HELD)
            await public.publish(aio_pika.Message(b"placed"), PLACED, mandatory=False)
        message = await queue.get(timeout=60)
        assert message is not None
        assert message.body == b"held"
        assert await queue.get(fail=False) is None


@pytest.mark.parametrize("key", [PLACED, "#", "payments.#", "payments.*.v1", "payments.escrow_held.v10"])
async def test_a_team_binds_to_no_other_topic(servers: Servers, key: str) -> None:
    await applied(servers, SEARCH)
    async with await aio_pika.connect(url_of(servers, SEARCH)) as connection:
        queue = await (await connection.channel()).declare_queue("sub.search.it", exclusive=True)
        with pytest.raises(ChannelAccessRefused):
            await queue.bind(PUBLIC_EXCHANGE, key)


async def test_a_team_cannot_publish(servers: Servers) -> None:
    await applied(servers, SEARCH)
    for exchange in (PUBLIC_EXCHANGE, "campus.events", "campus.work"):
        async with await aio_pika.connect(url_of(servers, SEARCH)) as connection:
            aimed = await (await connection.channel()).get_exchange(exchange, ensure=False)
            with pytest.raises(ChannelAccessRefused):
                await aimed.publish(aio_pika.Message(b"{}"), HELD, mandatory=False)


async def test_a_team_is_bounded(servers: Servers) -> None:
    await applied(servers, SEARCH)
    async with AsyncExitStack() as opened:
        for _ in range(SEARCH.connections):
            await opened.enter_async_context(await aio_pika.connect(url_of(servers, SEARCH)))
        with pytest.raises(AMQPError):
            await aio_pika.connect(url_of(servers, SEARCH))


async def test_wider_topics_apply_to_an_existing_account(servers: Servers) -> None:
    await applied(servers, SEARCH)
    await applied(servers, Team("search", ("*",)))
    async with await aio_pika.connect(url_of(servers, SEARCH)) as connection:
        queue = await (await connection.channel()).declare_queue("sub.search.it", exclusive=True)
        await queue.bind(PUBLIC_EXCHANGE, "orders.#")


async def test_a_removed_team_is_disconnected_and_its_account_deleted(servers: Servers) -> None:
    await applied(servers, SEARCH, EVERYTHING)
    connection = await aio_pika.connect(url_of(servers, SEARCH))
    async with httpx.AsyncClient(base_url=servers.management_url, trust_env=False) as api:

        async def is_listed() -> bool:
            return bool((await api.get(f"/api/connections/username/{SEARCH.account}")).json())

        # The management API lists a connection with its next statistics.
        assert await eventually(is_listed)
    assert SEARCH.account in await applied(servers, EVERYTHING)
    assert await eventually(lambda: connection.is_closed or not connection.connected.is_set())
    with pytest.raises(AMQPError):
        await aio_pika.connect(url_of(servers, SEARCH))
    assert await applied(servers, EVERYTHING) == []


async def test_a_wrong_administrator_gets_an_error_without_a_password(servers: Servers) -> None:
    address = servers.management_url.rpartition("@")[2]
    with pytest.raises(ProvisioningFailed) as failed:
        await apply_teams(f"http://nobody:a-password@{address}", servers.broker_url, [], {})
    assert "a-password" not in str(failed.value)


@pytest.mark.parametrize(
    "team",
    [
        Team("Search", (HELD,)),
        Team("a.b", (HELD,)),
        Team("a_b", (HELD,)),
        Team("-", (HELD,)),
        Team("a" * 31, (HELD,)),
        Team("search", ()),
        Team("search", ("orders.delivery_pin_issued.v1",)),
        Team("search", ("payments.#",)),
        Team("search", (HELD,), connections=0),
    ],
)
def test_an_invalid_team_is_refused(team: Team) -> None:
    with pytest.raises(SubscribersRefused):
        check_team(team)


def test_the_manifests_hold_the_permissions_that_the_broker_got(tmp_path: Path) -> None:
    path = tmp_path / "subscribers.yaml"
    for folder in ("base/notifications", "components/broker", "components/server-accounts"):
        (tmp_path / "k8s" / folder).mkdir(parents=True)
    save_teams(path, [SEARCH, EVERYTHING])
    assert sorted(load_teams(path), key=lambda team: team.name) == [EVERYTHING, SEARCH]
    [topics, accounts, _] = manifests_of(tmp_path / "k8s", [SEARCH]).values()
    assert yaml.safe_load(yaml.safe_load(topics)["data"]["subscribers.yaml"]) == {"search": {"topics": [HELD]}}
    by_kind = {it["kind"]: it["spec"] for it in yaml.safe_load_all(accounts)}
    rights = rights_of_subscriber("search", [HELD])
    assert by_kind["TopicPermission"]["permissions"] == {
        "exchange": PUBLIC_EXCHANGE,
        "write": rights.topics[PUBLIC_EXCHANGE][0],
        "read": rights.topics[PUBLIC_EXCHANGE][1],
    }
    assert by_kind["User"]["limits"] == {"connections": 2, "channels": 10}
    assert by_kind["Permission"]["permissions"]["read"] == rights.read
